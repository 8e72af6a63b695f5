//! What can go wrong in this crate.

use std::path::{Path, PathBuf};

/// What can go wrong while a corpus is read or pairs are written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
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
    /// A tarball is cut off, damaged, or none at all.
    #[error("{} is damaged after {entries} entries: {source}", path.display())]
    Tarball {
        /// The tarball.
        path: PathBuf,
        /// Entries that could be read.
        entries: usize,
        /// The reader's reason.
        source: std::io::Error,
    },
    /// A file is not the JSON that its name promises.
    #[error("{}: {entry}, line {line}, column {column}: {reason}", path.display())]
    Json {
        /// The file or tarball.
        path: PathBuf,
        /// The entry in the tarball, or the file's name.
        entry: String,
        /// Line of the fault, from 1.
        line: usize,
        /// Byte of that line at which the fault was noticed, from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// A line of a text file is not UTF-8.
    #[error("{}, line {line}: not UTF-8 after byte {valid}", path.display())]
    Utf8 {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Bytes of the line that are valid.
        valid: usize,
    },
    /// A line of a text file is no record.
    #[error("{}, line {line}: {reason}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A tarball or folder has none of the files that are looked for.
    #[error("{} has no poems of the chinese-poetry package", path.display())]
    NoPoems {
        /// The tarball or folder.
        path: PathBuf,
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

impl CorpusError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn json(path: &Path, entry: &str) -> impl FnOnce(serde_json::Error) -> Self {
        let (path, entry) = (path.to_owned(), entry.to_owned());
        move |e| Self::Json { path, entry, line: e.line(), column: e.column(), reason: json_reason(&e) }
    }
}

/// What is wrong with a JSON text, without its place.
pub(crate) fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
