//! The border between search and model.

use duilian_core::{Direction, TokenId};

/// One line to be answered, as a model sees it.
///
/// `hints[i]` is the token that the answer must have at place `i`, or `None` where it is free. Models use
/// hints to prepare for what comes; the search enforces them whatever the model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Tokens of the given line, marks included; characters outside the vocabulary are its unknown token.
    pub tokens: Vec<TokenId>,
    /// Required tokens of the answer by place; as long as `tokens`.
    pub hints: Vec<Option<TokenId>>,
    /// Which line is given.
    pub direction: Direction,
}

/// A model that scores the next token of every row of a batch, one place at a time.
///
/// The state is an argument, never a field, so that one model serves many searches at once. Its rows are
/// hypotheses: [`StepModel::start`] makes one row a source, [`StepModel::select`] copies, drops and reorders
/// them as a beam does.
pub trait StepModel {
    /// All that has been computed for the rows so far.
    type State;
    /// What can go wrong inside the model.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Number of tokens that [`StepModel::step`] scores.
    fn vocabulary_size(&self) -> usize;

    /// Longest line that the model can read, marks included.
    fn max_length(&self) -> usize;

    /// Reads the sources, which all have the same length, and returns a state with one row a source.
    ///
    /// # Errors
    /// Whatever the model cannot do, a source longer than [`StepModel::max_length`] among it.
    fn start(&self, sources: &[Source]) -> Result<Self::State, Self::Error>;

    /// Moves every row one place on. `previous` holds the token chosen for the last place of each row; it is
    /// empty at the first place. Writes the natural logarithms of the probabilities of the next tokens to
    /// `log_probs`, resized to `[rows, vocabulary_size]`, row by row.
    ///
    /// # Errors
    /// Whatever the model cannot do, a step past the end of the sources among it.
    fn step(
        &self,
        state: &mut Self::State,
        previous: &[TokenId],
        log_probs: &mut Vec<f32>,
    ) -> Result<(), Self::Error>;

    /// Replaces the rows by `state[rows[0]], state[rows[1]], …`; rows may repeat or be left out.
    ///
    /// # Errors
    /// Whatever the model cannot do.
    fn select(&self, state: &mut Self::State, rows: &[usize]) -> Result<(), Self::Error>;
}
