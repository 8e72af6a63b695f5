//! Why a text is not a line.

/// Why a text cannot be read as a [`Line`](crate::Line) or a [`Couplet`](crate::Couplet).
///
/// Places count characters from 1, as a person would.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// There is no character at all.
    #[error("the line is empty")]
    Empty,
    /// There are marks, but no Han character.
    #[error("the line has no Chinese character")]
    NoHan,
    /// A character is neither a Han character nor one of the [`MARKS`](crate::MARKS).
    #[error("character {place} ({character:?}) is neither a Chinese character nor a known punctuation mark")]
    Unsupported {
        /// The character.
        character: char,
        /// Its place in the line, from 1.
        place: usize,
    },
    /// The line has more characters than a caller allows.
    #[error("the line has {length} characters; at most {limit} can be handled")]
    TooLong {
        /// Number of characters, marks included.
        length: usize,
        /// The largest number that is allowed.
        limit: usize,
    },
}
