//! What a search returns.

use duilian_core::{Line, TokenId};

/// An answer to a [`Question`](crate::Question), with the model's own log-probabilities: masks and weights
/// of constraints steer the search, but do not touch these numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The line; as long as the question, with the same marks.
    pub line: Line,
    /// The tokens fed to the model, one a place.
    pub tokens: Vec<TokenId>,
    /// Sum of the log-probabilities of the Han places, in nats.
    pub log_prob: f64,
    /// [`Self::log_prob`] divided by the number of Han places.
    pub log_prob_per_character: f64,
    /// Natural logarithm of the probability of each token; 0 at marks. Negative infinity where the model
    /// gives the token no probability at all (or none that is a number).
    pub place_log_probs: Vec<f32>,
    /// What the search ranked by: [`Self::log_prob`] plus the weights of soft constraints.
    pub score: f64,
    /// Names of the constraints that were given up because no line keeps them: see
    /// [`Plan::waived`](crate::Plan::waived).
    pub waived: Vec<String>,
}

impl Answer {
    /// Number of places at which two answers differ.
    pub(crate) fn difference(&self, other: &Self) -> usize {
        self.tokens.iter().zip(&other.tokens).filter(|(a, b)| a != b).count()
    }
}
