//! What can go wrong in this crate.

use std::path::PathBuf;

/// What can go wrong while an engine is made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The weights do not fill the network.
    #[error(transparent)]
    Weights(#[from] duilian_weights::WeightsError),
    /// A line has more characters than the model can read.
    #[error("the line has {length} characters; this model reads at most {limit}")]
    TooLong {
        /// Characters of the line.
        length: usize,
        /// The model's limit.
        limit: usize,
    },
    /// A token id is not in the model's vocabulary.
    #[error("token {id} at place {place} is outside the vocabulary of {size}")]
    UnknownToken {
        /// The id.
        id: u16,
        /// Its place, from 1.
        place: usize,
        /// Size of the vocabulary.
        size: usize,
    },
    /// A batch or a call does not have the form that is asked for.
    #[error("malformed input: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// A shortlist is made for another vocabulary.
    #[error("the shortlist is of {shortlist} tokens, the model of {model}")]
    ShortlistSize {
        /// Tokens of the shortlist.
        shortlist: usize,
        /// Tokens of the model.
        model: usize,
    },
    /// A file of a shortlist is not what it should be.
    #[error("{origin} is no usable shortlist: {reason}")]
    DamagedShortlist {
        /// The file, or what [`Shortlist::from_bytes`](crate::Shortlist::from_bytes) was told.
        origin: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system refused to read a file.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl EngineError {
    pub(crate) fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed { reason: reason.into() }
    }
}
