//! Reading and writing `tokenizer.json`.

use std::collections::HashMap;
use std::path::Path;

use duilian_core::{MARKS, is_han};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{CharTokenizer, TokenizerError};

/// The parts of a `tokenizer.json` that decide about ids.
#[derive(Deserialize)]
struct Outline {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: String,
    vocab: HashMap<String, u32>,
    unk_token: String,
}

impl CharTokenizer {
    /// The bytes of a `tokenizer.json`: a word-level model over single characters. Equal vocabularies give equal
    /// bytes.
    ///
    /// ```
    /// # use duilian_core::Line;
    /// # use duilian_tokenizer::{CharTokenizer, TrainerConfig};
    /// let tokenizer = CharTokenizer::train(&[Line::parse("春春")?], &TrainerConfig::default())?;
    /// let again = CharTokenizer::from_json(&tokenizer.to_json()?)?;
    /// assert_eq!(again, tokenizer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TokenizerError::Damaged`] if the `tokenizers` crate does not accept the vocabulary.
    pub fn to_json(&self) -> Result<Vec<u8>, TokenizerError> {
        let text = self.pipeline()?.to_string(true).map_err(|e| damaged("memory", &e))?;
        Ok(text.into_bytes())
    }

    /// Reads a `tokenizer.json` that [`CharTokenizer::to_json`] or Python wrote from such a vocabulary.
    ///
    /// # Errors
    /// [`TokenizerError::Damaged`] for what is no `tokenizer.json`, [`TokenizerError::Foreign`] for one with other
    /// special tokens, marks at other ids, tokens of several characters, holes or double ids.
    pub fn from_json(bytes: &[u8]) -> Result<Self, TokenizerError> {
        Self::parse(bytes, "the vocabulary")
    }

    /// Writes a `tokenizer.json` beside its place and renames it.
    ///
    /// # Errors
    /// [`TokenizerError::Io`], or as [`CharTokenizer::to_json`].
    pub fn save(&self, path: &Path) -> Result<(), TokenizerError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        std::fs::write(&part, self.to_json()?).map_err(io("write", &part))?;
        std::fs::rename(&part, path).map_err(io("rename", &part))
    }

    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// [`TokenizerError::Io`], or as [`CharTokenizer::from_json`].
    pub fn load(path: &Path) -> Result<Self, TokenizerError> {
        let bytes = std::fs::read(path).map_err(io("read", path))?;
        Self::parse(&bytes, &path.display().to_string())
    }

    fn parse(bytes: &[u8], origin: &str) -> Result<Self, TokenizerError> {
        let outline: Outline = serde_json::from_slice(bytes).map_err(|e| damaged(origin, &e))?;
        let foreign = |reason: String| TokenizerError::Foreign { origin: origin.to_owned(), reason };
        let Model { kind, vocab, unk_token } = outline.model;
        if kind != "WordLevel" {
            return Err(foreign(format!("its model is {kind}, not WordLevel")));
        }
        if unk_token != Self::SPECIAL[Self::UNK.index()] {
            return Err(foreign(format!("its unknown token is {unk_token:?}")));
        }
        if vocab.len() > 1 << 16 {
            return Err(foreign(format!("{} tokens do not fit into 16 bits", vocab.len())));
        }
        let mut tokens = vec![None; vocab.len()];
        for (token, &id) in &vocab {
            match tokens.get_mut(id as usize) {
                Some(place @ None) => *place = Some(token.as_str()),
                Some(Some(other)) => {
                    let (a, b) = (token.as_str().min(other), token.as_str().max(other));
                    return Err(foreign(format!("{a:?} and {b:?} share the id {id}")));
                }
                None => return Err(foreign(format!("ids have holes: {token:?} has {id}"))),
            }
        }
        let mut han = Vec::new();
        for (id, token) in tokens.iter().map(|t| t.unwrap_or_default()).enumerate() {
            let expected = match id.checked_sub(Self::SPECIAL.len()) {
                None => Some(Self::SPECIAL[id].to_owned()),
                Some(mark) => MARKS.get(mark).map(char::to_string),
            };
            let mut characters = token.chars();
            match (expected, characters.next(), characters.next()) {
                (Some(expected), ..) if token != expected => {
                    return Err(foreign(format!("token {id} is {token:?}, not {expected:?}")));
                }
                (Some(_), ..) => {}
                (None, Some(c), None) if is_han(c) => han.push(c),
                (None, ..) => {
                    return Err(foreign(format!("token {id} ({token:?}) is no single Han character")));
                }
            }
        }
        if tokens.len() < Self::FIRST_HAN.index() {
            return Err(foreign("special tokens or marks are missing".to_owned()));
        }
        Ok(Self::from_characters(han.into_iter()))
    }

    /// The pipeline of the `tokenizers` crate: every character is a word.
    pub(crate) fn build_pipeline(&self) -> Result<tokenizers::Tokenizer, TokenizerError> {
        let name = |(id, c): (usize, &Option<char>)| match c {
            Some(c) => (c.to_string(), json!(id)),
            None => (Self::SPECIAL[id].to_owned(), json!(id)),
        };
        let vocabulary: serde_json::Map<String, Value> =
            self.characters().iter().enumerate().map(name).collect();
        let special: Vec<Value> = (Self::SPECIAL.iter().enumerate())
            .map(|(id, content)| {
                json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                        "normalized": false, "special": true })
            })
            .collect();
        let file = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": special,
            "normalizer": null,
            // In a form that Rust and Oniguruma (Python) both read; it matches characters, not bytes.
            "pre_tokenizer": { "type": "Split", "pattern": { "Regex": "[\\s\\S]" }, "behavior": "Isolated",
                               "invert": false },
            "post_processor": null, "decoder": { "type": "Fuse" },
            "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": Self::SPECIAL[Self::UNK.index()] },
        });
        tokenizers::Tokenizer::from_bytes(file.to_string()).map_err(|e| damaged("memory", &e))
    }
}

fn damaged(origin: &str, error: &dyn std::fmt::Display) -> TokenizerError {
    TokenizerError::Damaged { origin: origin.to_owned(), reason: error.to_string() }
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> TokenizerError {
    let path = path.to_owned();
    move |source| TokenizerError::Io { action, path, source }
}
