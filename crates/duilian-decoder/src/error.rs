//! Why there is no answer.

use std::sync::Arc;

use duilian_core::LineError;

/// Why a question has no answer. Places count characters of the line, marks included, from 1.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The line is longer than the model can read.
    #[error("the line has {length} characters; the model reads at most {limit}")]
    TooLong {
        /// Number of characters, marks included.
        length: usize,
        /// The largest number that the model reads.
        limit: usize,
    },
    /// A character is locked at a place that the line does not have.
    #[error("place {place} cannot be locked: the line has {length} characters")]
    LockOutOfRange {
        /// The place, from 1.
        place: usize,
        /// Number of characters, marks included.
        length: usize,
    },
    /// A character is locked where the line has a mark.
    #[error("place {place} cannot be locked to {character:?}: the line has the mark {mark:?} there")]
    LockAtMark {
        /// The character that was to stand there.
        character: char,
        /// The mark of the line.
        mark: char,
        /// The place, from 1.
        place: usize,
    },
    /// A locked character is not a Han character of the vocabulary.
    #[error("place {place} cannot be locked to {character:?}: the vocabulary has no such Chinese character")]
    LockUnknown {
        /// The character.
        character: char,
        /// The place, from 1.
        place: usize,
    },
    /// No line keeps all constraints: those named cannot hold together.
    #[error("no answer at place {place}: {} cannot hold together", constraints.join(" and "))]
    Conflict {
        /// Names of the constraints of which none can be left out of the conflict.
        constraints: Vec<String>,
        /// A place that cannot be filled, from 1.
        place: usize,
    },
    /// Whether a line can keep all constraints was not found out within
    /// [`SEARCH_LIMIT`](crate::SEARCH_LIMIT) trials.
    #[error("no line that keeps all constraints was found within {limit} trials")]
    Undecided {
        /// The number of trials.
        limit: usize,
    },
    /// An option has a value that makes no sense.
    #[error("option {option} is {value}; it must be {expected}")]
    Option {
        /// Name of the field.
        option: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// The model scores another number of tokens than the lexicon has.
    #[error("the model scores {model} tokens, but the vocabulary has {lexicon}")]
    VocabularySize {
        /// [`StepModel::vocabulary_size`](crate::StepModel::vocabulary_size).
        model: usize,
        /// [`Lexicon::size`](crate::Lexicon::size).
        lexicon: usize,
    },
    /// The model wrote another number of scores than rows times tokens.
    #[error("the model wrote {got} scores; {rows} rows of {vocabulary} tokens were asked for")]
    ScoreCount {
        /// Number of scores written.
        got: usize,
        /// Rows of the batch.
        rows: usize,
        /// Number of tokens.
        vocabulary: usize,
    },
    /// The search was stopped by its [`CancelToken`](crate::CancelToken).
    #[error("cancelled")]
    Cancelled,
    /// A line that is to be scored has another length than the question.
    #[error("a line of {got} characters cannot answer one of {expected}")]
    LineLength {
        /// Number of characters, marks included.
        got: usize,
        /// Number of characters of the question.
        expected: usize,
    },
    /// A line that is to be explained breaks a constraint.
    #[error("{character:?} at place {place} breaks a constraint of the decoder")]
    NotAllowed {
        /// The first character after which no line keeps all constraints.
        character: char,
        /// Its place, from 1.
        place: usize,
    },
    /// The model failed.
    #[error("the model failed")]
    Model(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The line that was found is not a line; a vocabulary that contradicts itself can cause this.
    #[error("the vocabulary gives no valid line")]
    Line(#[from] LineError),
}

impl DecodeError {
    /// Wraps an error of a model.
    pub(crate) fn model(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Model(Arc::new(error))
    }
}
