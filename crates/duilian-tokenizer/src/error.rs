//! What can go wrong in this crate.

use std::path::PathBuf;

/// What can go wrong while a vocabulary is learnt, read, written or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The operating system refused a file operation.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was being done, such as "read".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The data is no `tokenizer.json`, or one that is cut off.
    #[error("{origin} is no tokenizer.json: {reason}")]
    Damaged {
        /// The file, or "memory".
        origin: String,
        /// What is wrong.
        reason: String,
    },
    /// The data is a `tokenizer.json`, but not of a character vocabulary as this crate makes it.
    #[error("{origin} is no character vocabulary: {reason}")]
    Foreign {
        /// The file, or "memory".
        origin: String,
        /// What differs.
        reason: String,
    },
    /// A token to be decoded is no character.
    #[error("token {id} at place {place} ({name}) is no character")]
    NotACharacter {
        /// The id.
        id: u16,
        /// Its place, from 1.
        place: usize,
        /// Name of the special token, or "out of range".
        name: String,
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
