//! What a couplet is ranked by.

use serde::{Deserialize, Serialize};

/// The parts of a couplet's rank. All are better the greater they are.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RerankParts {
    /// log P(answer | given line) per character, in nats.
    pub forward: f64,
    /// log P(given line | answer) per character, in nats: a bland line that answers everything says little of what
    /// it answers.
    pub reverse: f64,
    /// Log-probability of the least likely character of the answer, in nats.
    pub weakest: f64,
    /// Minus the mean log-frequency of the characters of the answer, by the table of the caller: fresh characters
    /// raise it. 0 without a table.
    pub freshness: f64,
    /// Rate of R5, from 0 to 1; 1 where it does not apply.
    pub end_tone: f64,
    /// Rate of R6, from 0 to 1; 1 where it does not apply.
    pub tone_opposition: f64,
    /// Rate of R7, from 0 to 1; 1 where it does not apply.
    pub word_class: f64,
    /// Share of the devices of the given line that the answer has, weighing each by how far it has it; 1 if there
    /// are none.
    pub devices: f64,
}

impl RerankParts {
    /// Names of the parts, in the order of [`Self::values`].
    pub const NAMES: [&'static str; 8] = [
        "forward",
        "reverse",
        "weakest",
        "freshness",
        "end_tone",
        "tone_opposition",
        "word_class",
        "devices",
    ];

    /// All parts.
    pub fn values(&self) -> [f64; 8] {
        [
            self.forward,
            self.reverse,
            self.weakest,
            self.freshness,
            self.end_tone,
            self.tone_opposition,
            self.word_class,
            self.devices,
        ]
    }
}

/// Weights of [`RerankParts`]; a part with weight 0 does not count.
///
/// ```
/// use duilian_decoder::{RerankParts, RerankWeights};
///
/// let weights = RerankWeights::default();
/// assert_eq!(weights.values(), [1.0, 0.5, 0.0, 0.0, 0.5, 0.5, 0.5, 1.0]);
/// let parts = RerankParts { forward: -4.0, reverse: -6.0, ..RerankParts::default() };
/// assert_eq!(weights.total(&parts), -7.0);
/// let read: RerankWeights = serde_json::from_str(r#"{"reverse": 1.0}"#)?;
/// assert_eq!(read, RerankWeights { reverse: 1.0, ..weights });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RerankWeights {
    /// Of [`RerankParts::forward`]. Default 1. No default is tuned; [`fit_weights`](crate::fit_weights) does that.
    pub forward: f64,
    /// Of [`RerankParts::reverse`]. Default 0.5.
    pub reverse: f64,
    /// Of [`RerankParts::weakest`]. Default 0.
    pub weakest: f64,
    /// Of [`RerankParts::freshness`]. Default 0.
    pub freshness: f64,
    /// Of [`RerankParts::end_tone`]. Default 0.5.
    pub end_tone: f64,
    /// Of [`RerankParts::tone_opposition`]. Default 0.5.
    pub tone_opposition: f64,
    /// Of [`RerankParts::word_class`]. Default 0.5.
    pub word_class: f64,
    /// Of [`RerankParts::devices`]. Default 1.
    pub devices: f64,
}

impl Default for RerankWeights {
    fn default() -> Self {
        Self::from_values([1.0, 0.5, 0.0, 0.0, 0.5, 0.5, 0.5, 1.0])
    }
}

impl RerankWeights {
    /// Weights in the order of [`RerankParts::NAMES`].
    pub fn from_values(values: [f64; 8]) -> Self {
        let [forward, reverse, weakest, freshness, end_tone, tone_opposition, word_class, devices] = values;
        Self { forward, reverse, weakest, freshness, end_tone, tone_opposition, word_class, devices }
    }

    /// The weights in the order of [`RerankParts::NAMES`].
    pub fn values(&self) -> [f64; 8] {
        [
            self.forward,
            self.reverse,
            self.weakest,
            self.freshness,
            self.end_tone,
            self.tone_opposition,
            self.word_class,
            self.devices,
        ]
    }

    /// The weighted sum of parts. What has no number, such as the log-probability of what the model rules out, counts
    /// negative infinity unless its weight is 0.
    pub fn total(&self, parts: &RerankParts) -> f64 {
        let counted = self.values().into_iter().zip(parts.values()).filter(|&(weight, _)| weight != 0.0);
        let total: f64 = counted.map(|(weight, part)| weight * part).sum();
        if total.is_nan() { f64::NEG_INFINITY } else { total }
    }
}
