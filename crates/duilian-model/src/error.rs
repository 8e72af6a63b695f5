//! What can go wrong in this crate.

use std::path::{Path, PathBuf};

/// What can go wrong while models, shards and checkpoints are made, read or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Sizes or a file of weights are not what they should be.
    #[error(transparent)]
    Weights(#[from] duilian_weights::WeightsError),
    /// A setting is out of range or does not fit the others.
    #[error("invalid setting {field}: {reason}")]
    InvalidConfig {
        /// Name of the field.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system refused a file operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done, such as "read".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file is not what it should be: foreign, cut off, damaged, or of a newer version.
    #[error("{origin} is no usable {kind}: {reason}")]
    Damaged {
        /// What the file should be, such as "token shard".
        kind: &'static str,
        /// The file, or "embedded data".
        origin: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor is missing from a file or has another shape than the model's.
    #[error("{origin}: tensor {name}: {reason}")]
    Tensor {
        /// The file, or "embedded data".
        origin: String,
        /// Path of the tensor in the model.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
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
    /// There is nothing to train on.
    #[error("the training set has no pair that fits the model")]
    NoTrainingData,
    /// The loss is not a number any more.
    #[error("the loss became {loss} at step {step}; a lower learning rate may help; its batches are in {}", file.display())]
    NonFiniteLoss {
        /// The value.
        loss: f32,
        /// The optimizer step.
        step: u64,
        /// The file that has the batches.
        file: PathBuf,
    },
    /// One of several replicas failed or lost the others.
    #[error("replica {rank} failed: {reason}")]
    Replica {
        /// Its number, from 0.
        rank: usize,
        /// What burn's collective says.
        reason: String,
    },
    /// What is resumed was made with other settings or other data.
    #[error("cannot resume: {reason}")]
    CannotResume {
        /// What differs.
        reason: String,
    },
}

impl ModelError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
