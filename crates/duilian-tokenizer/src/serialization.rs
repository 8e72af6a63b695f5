//! Reading and writing `tokenizer.json`.

use std::io::Write;
use std::path::Path;

use duilian_core::{TokenId, is_han};
use serde_json::json;

use crate::format::{AddedToken, Entries, File, Model, PreTokenizer, VERSION};
use crate::{CharTokenizer, TokenizerError};

const MODEL: &str = "WordLevel";

impl CharTokenizer {
    /// The bytes of a `tokenizer.json`: a word-level model over single characters. Equal vocabularies give equal
    /// bytes, the same that the `tokenizers` libraries write for them.
    ///
    /// ```
    /// # use duilian_core::Line;
    /// # use duilian_tokenizer::{CharTokenizer, TrainerConfig};
    /// let tokenizer = CharTokenizer::train(&[Line::parse("春春")?], &TrainerConfig::default())?;
    /// let again = CharTokenizer::from_json(&tokenizer.to_json())?;
    /// assert_eq!(again, tokenizer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::missing_panics_doc, reason = "strings and numbers always become JSON")]
    pub fn to_json(&self) -> Vec<u8> {
        let added = |(id, &content): (usize, &&str)| AddedToken {
            id: id as u32,
            content: content.to_owned(),
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
            special: true,
        };
        let file = File {
            version: VERSION.to_owned(),
            truncation: None,
            padding: None,
            added_tokens: Self::SPECIAL.iter().enumerate().map(added).collect(),
            normalizer: None,
            pre_tokenizer: Some(PreTokenizer::characters()),
            post_processor: None,
            decoder: Some(json!({ "type": "Fuse" })),
            model: Model {
                kind: MODEL.to_owned(),
                vocab: Entries(self.tokens().zip(0..).collect()),
                unk_token: Some(Self::SPECIAL[Self::UNK.index()].to_owned()),
            },
        };
        serde_json::to_vec_pretty(&file).expect("strings and numbers always become JSON")
    }

    /// Reads a `tokenizer.json` that [`CharTokenizer::to_json`] or Python wrote from such a vocabulary. Its
    /// settings for truncation, padding and decoding are not kept, since they do not change the ids of a line.
    ///
    /// ```
    /// use duilian_tokenizer::{CharTokenizer, TokenizerError};
    /// assert!(matches!(CharTokenizer::from_json(b""), Err(TokenizerError::Damaged { .. })));
    /// assert!(matches!(CharTokenizer::from_json(b"{}"), Err(TokenizerError::Foreign { .. })));
    /// ```
    ///
    /// # Errors
    /// [`TokenizerError::Damaged`] for what is no JSON or is cut off, [`TokenizerError::Foreign`] for other JSON,
    /// [`TokenizerError::Setting`] for a `tokenizer.json` that splits or changes text in another way,
    /// [`TokenizerError::Reserved`] for special tokens and marks that are missing or have other ids,
    /// [`TokenizerError::SharedId`], [`TokenizerError::Hole`], [`TokenizerError::NotHan`],
    /// [`TokenizerError::Repeated`] and [`TokenizerError::TooLarge`] for other tokens than characters with the ids
    /// 0, 1, 2, ….
    pub fn from_json(bytes: &[u8]) -> Result<Self, TokenizerError> {
        parse(bytes, "the bytes")
    }

    /// Writes a `tokenizer.json`, first beside its place under the name with `.part` added, which then takes the
    /// place of what was there: the old file is whole until the new one is.
    ///
    /// # Errors
    /// [`TokenizerError::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TokenizerError> {
        let path = path.as_ref();
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        let write = || {
            let mut file = std::fs::File::create(&part)?;
            file.write_all(&self.to_json())?;
            file.sync_all()
        };
        write().map_err(TokenizerError::io("write", &part))?;
        std::fs::rename(&part, path).map_err(|source| {
            let _ = std::fs::remove_file(&part); // the rename's own error says more
            TokenizerError::io("write", path)(source)
        })
    }

    /// Reads a `tokenizer.json` from a file.
    ///
    /// ```no_run
    /// let tokenizer = duilian_tokenizer::CharTokenizer::load("tokenizer.json")?;
    /// # Ok::<(), duilian_tokenizer::TokenizerError>(())
    /// ```
    ///
    /// # Errors
    /// [`TokenizerError::Io`], or as [`CharTokenizer::from_json`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TokenizerError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(TokenizerError::io("read", path))?;
        parse(&bytes, &path.display().to_string())
    }
}

fn parse(bytes: &[u8], origin: &str) -> Result<CharTokenizer, TokenizerError> {
    let file: File = serde_json::from_slice(bytes).map_err(|e| {
        let (origin, reason) = (origin.to_owned(), e.to_string());
        if e.is_data() {
            TokenizerError::Foreign { origin, reason }
        } else {
            TokenizerError::Damaged { origin, line: e.line(), column: e.column(), reason }
        }
    })?;
    check_settings(&file, origin)?;
    let han = han_characters(file.model.vocab.0, origin)?;
    let tokenizer = CharTokenizer::from_characters(han.iter().copied());
    for (&character, id) in han.iter().zip(u32::from(CharTokenizer::FIRST_HAN.0)..) {
        if let Some(TokenId(last)) = tokenizer.table_id(character)
            && u32::from(last) != id
        {
            let ids = [id, u32::from(last)];
            return Err(TokenizerError::Repeated { origin: origin.to_owned(), character, ids });
        }
    }
    Ok(tokenizer)
}

/// Everything outside the vocabulary that decides about ids.
fn check_settings(file: &File, origin: &str) -> Result<(), TokenizerError> {
    let check = |part, expected: String, found: String| {
        if expected == found {
            return Ok(());
        }
        Err(TokenizerError::Setting { origin: origin.to_owned(), part, expected, found })
    };
    let absent =
        |value: &Option<serde_json::Value>| value.as_ref().map_or("null".into(), ToString::to_string);
    check("version", VERSION.to_owned(), file.version.clone())?;
    check("model.type", MODEL.to_owned(), file.model.kind.clone())?;
    let unknown = CharTokenizer::SPECIAL[CharTokenizer::UNK.index()];
    check("model.unk_token", unknown.to_owned(), file.model.unk_token.clone().unwrap_or("null".to_owned()))?;
    check("normalizer", "null".to_owned(), absent(&file.normalizer))?;
    let splits = format!("{:?}", PreTokenizer::characters());
    check("pre_tokenizer", splits, file.pre_tokenizer.as_ref().map_or("null".into(), |p| format!("{p:?}")))?;
    check("post_processor", "null".to_owned(), absent(&file.post_processor))?;
    let special = CharTokenizer::SPECIAL.iter().zip(0_u32..).map(|(t, id)| format!("{t} {id}"));
    let added = file.added_tokens.iter().map(|t| format!("{} {}", t.content, t.id));
    check("added_tokens", special.collect::<Vec<_>>().join(", "), added.collect::<Vec<_>>().join(", "))
}

/// The Han characters by id, once ids are known to be whole and special tokens and marks to be in their places.
fn han_characters(mut entries: Vec<(String, u32)>, origin: &str) -> Result<Vec<char>, TokenizerError> {
    let origin = || origin.to_owned();
    entries.sort_unstable_by(|(a, i), (b, j)| (i, a).cmp(&(j, b)));
    for (token, id) in CharTokenizer::reserved().zip(0_u32..) {
        let in_order = entries.get(id as usize).is_some_and(|(t, i)| (t, *i) == (&token, id));
        let found =
            if in_order { Some(id) } else { entries.iter().find(|(t, _)| *t == token).map(|&(_, i)| i) };
        if found != Some(id) {
            return Err(TokenizerError::Reserved { origin: origin(), token, id, found });
        }
    }
    if entries.len() > 1 << 16 {
        return Err(TokenizerError::TooLarge { origin: origin(), size: entries.len() });
    }
    for (place, ((token, id), expected)) in entries.iter().zip(0_u32..).enumerate() {
        if *id > expected {
            return Err(TokenizerError::Hole { origin: origin(), id: expected });
        }
        if *id < expected {
            let tokens = [entries[place - 1].0.clone(), token.clone()];
            return Err(TokenizerError::SharedId { origin: origin(), id: *id, tokens });
        }
    }
    let character = |(token, id): (String, u32)| {
        let mut characters = token.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) if is_han(c) => Ok(c),
            _ => Err(TokenizerError::NotHan { origin: origin(), id, token }),
        }
    };
    entries.into_iter().skip(CharTokenizer::FIRST_HAN.index()).map(character).collect()
}
