//! What can go wrong in this crate.

use std::path::{Path, PathBuf};

/// What can go wrong while sizes are checked and files of weights are made or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// A preset of this name does not exist.
    #[error("there is no preset {name:?}; presets are {known}")]
    UnknownPreset {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: &'static str,
    },
    /// A size is out of range or does not fit the others.
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
        /// What the file should be, such as "weights file".
        kind: &'static str,
        /// The file, or "embedded data".
        origin: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor is missing or is not what it should be.
    #[error("{origin}: tensor {name}: {reason}")]
    Tensor {
        /// The file, or "embedded data".
        origin: String,
        /// Path of the tensor in the network.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Shape and number of values of a tensor do not fit together.
    #[error("{values} values do not fill the shape {shape:?}")]
    Shape {
        /// The shape.
        shape: Vec<usize>,
        /// Number of values.
        values: usize,
    },
}

impl WeightsError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
