//! What can be wrong with a word list.

/// Why a list of words cannot be read. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProsodyError {
    /// A word or context has a character that is not Han.
    #[error("line {line}: {character:?} at place {place} is not a Chinese character")]
    NotHan {
        /// The line of the list, from 1.
        line: usize,
        /// Place of the character in its line, from 1.
        place: usize,
        /// The character.
        character: char,
    },
    /// A line has contexts, but no word before the colon.
    #[error("line {line}: no word before the colon")]
    NoWord {
        /// The line of the list, from 1.
        line: usize,
    },
    /// A context does not contain its word, so that it could never allow it.
    #[error("line {line}: the context {context} does not contain the word {word} and something more")]
    ContextWithoutWord {
        /// The line of the list, from 1.
        line: usize,
        /// The word.
        word: String,
        /// The context.
        context: String,
    },
}
