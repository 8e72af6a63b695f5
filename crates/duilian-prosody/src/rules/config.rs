//! Options of the rules.

use duilian_core::Direction;
use serde::{Deserialize, Serialize};

use crate::{Rule, ToneBook};

/// Options of [`check`](crate::check).
///
/// ```
/// use duilian_core::Direction;
/// use duilian_prosody::{RuleConfig, ToneBook};
///
/// let config = RuleConfig::default();
/// assert_eq!(config.direction, Direction::UpperToLower);
/// assert_eq!(config.tone_book, ToneBook::Either);
/// assert!(config.blocked_words);
/// assert_eq!((config.end_tone_weight, config.tone_opposition_weight, config.word_class_weight), (1.0, 1.0, 1.0));
///
/// let modern: RuleConfig = serde_json::from_str(r#"{"tone_book": "modern"}"#)?;
/// assert_eq!(modern, RuleConfig { tone_book: ToneBook::Modern, ..RuleConfig::default() });
/// assert!(serde_json::from_str::<RuleConfig>(r#"{"tonebook": "modern"}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleConfig {
    /// Which line is the answer: R4 looks at it alone, and all places are counted in it. Default: the lower.
    pub direction: Direction,
    /// Which readings decide tones, in R5 and R6. Default: either book. Lines searched with
    /// [`required_end_tone`](crate::required_end_tone) keep a hard R5 by either book, not by each alone.
    pub tone_book: ToneBook,
    /// R4: whether blocked words count. Default true.
    pub blocked_words: bool,
    /// Weight of R5 in [`Report::soft_score`](crate::Report::soft_score) where it is soft. Default 1, not tuned.
    /// A weight that is not positive and finite leaves its rule out.
    pub end_tone_weight: f64,
    /// Weight of R6 in the soft score. Default 1, not tuned.
    pub tone_opposition_weight: f64,
    /// Weight of R7 in the soft score. Default 1, not tuned.
    pub word_class_weight: f64,
}

impl Default for RuleConfig {
    fn default() -> Self {
        Self {
            direction: Direction::UpperToLower,
            tone_book: ToneBook::Either,
            blocked_words: true,
            end_tone_weight: 1.0,
            tone_opposition_weight: 1.0,
            word_class_weight: 1.0,
        }
    }
}

impl RuleConfig {
    /// The weight of a rule in the soft score; `None` if it does not count.
    pub(crate) fn weight(&self, rule: Rule) -> Option<f64> {
        let weight = match rule {
            Rule::EndTones => self.end_tone_weight,
            Rule::ToneOpposition => self.tone_opposition_weight,
            Rule::WordClass => self.word_class_weight,
            Rule::LengthAndMarks | Rule::Repetition | Rule::SharedCharacters | Rule::CleanOutput => 0.0,
        };
        (weight.is_finite() && weight > 0.0).then_some(weight)
    }
}
