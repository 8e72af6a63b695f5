//! What can be wrong with a word list, a tone pattern or an embedded phrase.

/// Why a list of words, a tone pattern or an embedded phrase cannot be used. Lines and places count from 1.
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
    /// A tone pattern has a character that is no sign.
    #[error("{character:?} at place {place} of a tone pattern is neither 平 仄 中 nor ○ ● ⊙")]
    PatternSign {
        /// Place of the character in the text, from 1.
        place: usize,
        /// The character.
        character: char,
    },
    /// A tone pattern has no sign.
    #[error("a tone pattern without signs")]
    EmptyPattern,
    /// A dictionary of words cannot be read (feature `words`).
    #[error("the dictionary of words: {message}")]
    Dictionary {
        /// What is wrong.
        message: String,
    },
    /// A name that no form of embedding (凤顶格, …), or no form of regulated verse (五律仄起, …), has.
    #[error("no form has the name {name}")]
    UnknownForm {
        /// The name.
        name: String,
    },
    /// A phrase to be embedded has a character that is not Han.
    #[error("{character:?} at place {place} of the embedded phrase is not a Chinese character")]
    PhraseNotHan {
        /// Place of the character in the phrase, from 1.
        place: usize,
        /// The character.
        character: char,
    },
    /// A phrase to be embedded has not one character for each line or clause.
    #[error("the embedded phrase has {found} characters, but there are {expected} places for them")]
    PhraseLength {
        /// Number of its characters.
        found: usize,
        /// Number of places.
        expected: usize,
    },
    /// A line is too short for a form of embedding.
    #[error("{form} needs {needed} characters, but the line has {found}")]
    TooShort {
        /// Name of the form.
        form: &'static str,
        /// Number of characters that the line needs.
        needed: usize,
        /// Number of characters that it has.
        found: usize,
    },
}
