//! What can go wrong in this crate.

use std::path::{Path, PathBuf};

use duilian_core::TokenId;

/// What can go wrong while a vocabulary is learnt, read, written or used.
///
/// `origin` is the file, or "the bytes" for data that came from memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The operating system refused a file operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done, such as "read".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The data is no JSON, or JSON that is cut off.
    #[error("{origin}: no JSON, or cut off (line {line}, column {column}): {reason}")]
    Damaged {
        /// The file, or "the bytes".
        origin: String,
        /// Where reading stopped: line, from 1; 0 if the data is empty.
        line: usize,
        /// Where reading stopped: column in bytes.
        column: usize,
        /// What was expected there.
        reason: String,
    },
    /// The data is JSON, but its fields are not those of a `tokenizer.json`.
    #[error("{origin}: no tokenizer.json of a character vocabulary: {reason}")]
    Foreign {
        /// The file, or "the bytes".
        origin: String,
        /// The field that is missing or of another kind.
        reason: String,
    },
    /// A part of the `tokenizer.json` would give other ids in Python than in this crate.
    #[error("{origin}: {part} is {found}, where a character vocabulary has {expected}")]
    Setting {
        /// The file, or "the bytes".
        origin: String,
        /// The part, as the file names it.
        part: &'static str,
        /// What a character vocabulary has there.
        expected: String,
        /// What the file has there.
        found: String,
    },
    /// A special token or a mark has another id than its own, or none.
    #[error("{origin}: {token:?} should have the id {id}, but has {}", found.map_or("none".to_owned(), |f| f.to_string()))]
    Reserved {
        /// The file, or "the bytes".
        origin: String,
        /// The special token or mark.
        token: String,
        /// The id it should have.
        id: u32,
        /// The id it has, if any.
        found: Option<u32>,
    },
    /// Two tokens have one id.
    #[error("{origin}: {:?} and {:?} share the id {id}", tokens[0], tokens[1])]
    SharedId {
        /// The file, or "the bytes".
        origin: String,
        /// The id.
        id: u32,
        /// The tokens, in order of code points.
        tokens: [String; 2],
    },
    /// Ids are not 0, 1, 2, … without a gap.
    #[error("{origin}: no token has the id {id}, though higher ids are in use")]
    Hole {
        /// The file, or "the bytes".
        origin: String,
        /// The first id that is missing.
        id: u32,
    },
    /// A token that is not special is no single Han character.
    #[error("{origin}: token {id} ({token:?}) is no single Chinese character")]
    NotHan {
        /// The file, or "the bytes".
        origin: String,
        /// Its id.
        id: u32,
        /// The token.
        token: String,
    },
    /// A character stands in the vocabulary twice.
    #[error("{origin}: {character:?} has the ids {} and {}", ids[0], ids[1])]
    Repeated {
        /// The file, or "the bytes".
        origin: String,
        /// The character.
        character: char,
        /// Two of its ids.
        ids: [u32; 2],
    },
    /// The vocabulary has more tokens than sixteen bits can number.
    #[error("{origin}: {size} tokens do not fit into 16 bits")]
    TooLarge {
        /// The file, or "the bytes".
        origin: String,
        /// Number of tokens.
        size: usize,
    },
    /// A token to be decoded is special and has no character.
    #[error("the special token {token} at place {place} has no character")]
    Special {
        /// Its name.
        token: &'static str,
        /// Its place, from 1.
        place: usize,
    },
    /// A token to be decoded is not in the vocabulary.
    #[error("the id {} at place {place} is out of range: there are {size} tokens", id.0)]
    OutOfRange {
        /// The id.
        id: TokenId,
        /// Its place, from 1.
        place: usize,
        /// Number of tokens in the vocabulary.
        size: usize,
    },
    /// The `tokenizers` crate does not accept the vocabulary.
    #[error("the tokenizers crate refuses the vocabulary: {reason}")]
    Pipeline {
        /// Its reason.
        reason: String,
    },
    /// A setting makes no sense.
    #[error("invalid setting {field}: {reason}")]
    InvalidConfig {
        /// Name of the field.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl TokenizerError {
    /// For `map_err` on a file operation.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
