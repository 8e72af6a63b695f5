//! The fields of a `tokenizer.json`, as the `tokenizers` libraries write them.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde::{Deserialize as De, Serialize as Ser};
use serde_json::Value;

/// The only version of the format so far.
pub(crate) const VERSION: &str = "1.0";

/// A whole file. Fields in the order in which the libraries write them.
#[derive(Debug, Ser, De)]
pub(crate) struct File {
    pub(crate) version: String,
    pub(crate) truncation: Option<Value>,
    pub(crate) padding: Option<Value>,
    pub(crate) added_tokens: Vec<AddedToken>,
    pub(crate) normalizer: Option<Value>,
    pub(crate) pre_tokenizer: Option<PreTokenizer>,
    pub(crate) post_processor: Option<Value>,
    pub(crate) decoder: Option<Value>,
    pub(crate) model: Model,
}

#[derive(Debug, Ser, De)]
#[expect(clippy::struct_excessive_bools, reason = "the format has them")]
pub(crate) struct AddedToken {
    pub(crate) id: u32,
    pub(crate) content: String,
    pub(crate) single_word: bool,
    pub(crate) lstrip: bool,
    pub(crate) rstrip: bool,
    pub(crate) normalized: bool,
    pub(crate) special: bool,
}

#[derive(Debug, PartialEq, Eq, Ser, De)]
#[serde(tag = "type")]
pub(crate) enum PreTokenizer {
    Split { pattern: Pattern, behavior: String, invert: bool },
}

impl PreTokenizer {
    /// Every character is a word.
    pub(crate) fn characters() -> Self {
        // In a form that Rust and Oniguruma (Python) both read; it matches characters, not bytes.
        let pattern = Pattern::Regex("[\\s\\S]".to_owned());
        Self::Split { pattern, behavior: "Isolated".to_owned(), invert: false }
    }
}

#[derive(Debug, PartialEq, Eq, Ser, De)]
pub(crate) enum Pattern {
    String(String),
    Regex(String),
}

#[derive(Debug, Ser, De)]
pub(crate) struct Model {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) vocab: Entries,
    pub(crate) unk_token: Option<String>,
}

/// Tokens and ids in the order of the file. A map would hide tokens that come twice.
#[derive(Debug)]
pub(crate) struct Entries(pub(crate) Vec<(String, u32)>);

impl Serialize for Entries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(token, id)| (token, id)))
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Entries;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map of tokens to ids")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}
