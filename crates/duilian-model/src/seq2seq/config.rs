//! Sizes of the baseline.

use serde::{Deserialize, Serialize};

use crate::{NetworkConfig, WeightsError};

/// Sizes of an [`AttentionSeq2Seq`](crate::AttentionSeq2Seq). Unknown fields are refused, missing ones take those of
/// [`Seq2SeqConfig::small`].
///
/// ```
/// use duilian_model::Seq2SeqConfig;
///
/// let config: Seq2SeqConfig = serde_json::from_str(r#"{"vocabulary_size": 500}"#)?;
/// assert_eq!(config, Seq2SeqConfig::small(500));
/// assert!(serde_json::from_str::<Seq2SeqConfig>(r#"{"width": 3}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seq2SeqConfig {
    /// Number of tokens. Default 8,000.
    pub vocabulary_size: usize,
    /// Width of embeddings and states; even. Default 256.
    pub units: usize,
    /// Layers of the encoder, the first of which reads in both directions, and of the decoder. Default 2.
    pub layers: usize,
    /// Longest line. Default 64.
    pub max_length: usize,
}

impl Default for Seq2SeqConfig {
    fn default() -> Self {
        Self::small(8_000)
    }
}

impl Seq2SeqConfig {
    /// Four layers of 1,024 units: the sizes of the couplet program that this baseline stands for, as its author gave
    /// them in 2017.
    ///
    /// ```
    /// let config = duilian_model::Seq2SeqConfig::seq2seq_2017(8_000);
    /// assert_eq!((config.layers, config.units), (4, 1_024));
    /// ```
    pub fn seq2seq_2017(vocabulary_size: usize) -> Self {
        Self { units: 1_024, layers: 4, ..Self::small(vocabulary_size) }
    }

    /// Two layers of 256 units: what two processor cores train beside the other presets.
    ///
    /// ```
    /// let config = duilian_model::Seq2SeqConfig::small(8_000);
    /// assert_eq!((config.layers, config.units, config.max_length), (2, 256, 64));
    /// ```
    pub fn small(vocabulary_size: usize) -> Self {
        Self { vocabulary_size, units: 256, layers: 2, max_length: 64 }
    }

    /// Small enough for tests: one layer of 32 units.
    ///
    /// ```
    /// assert_eq!(duilian_model::Seq2SeqConfig::tiny(100).units, 32);
    /// ```
    pub fn tiny(vocabulary_size: usize) -> Self {
        Self { units: 32, layers: 1, ..Self::small(vocabulary_size) }
    }

    /// A preset by name: `seq2seq_tiny`, `seq2seq_small` or `seq2seq_2017`.
    ///
    /// # Errors
    /// [`WeightsError::UnknownPreset`] for any other name.
    pub fn preset(name: &str, vocabulary_size: usize) -> Result<Self, WeightsError> {
        match name {
            "seq2seq_tiny" => Ok(Self::tiny(vocabulary_size)),
            "seq2seq_small" => Ok(Self::small(vocabulary_size)),
            "seq2seq_2017" => Ok(Self::seq2seq_2017(vocabulary_size)),
            _ => {
                let known = "seq2seq_tiny, seq2seq_small and seq2seq_2017";
                Err(WeightsError::UnknownPreset { name: name.to_owned(), known })
            }
        }
    }
}

impl NetworkConfig for Seq2SeqConfig {
    const KIND: &'static str = "seq2seq weights file";

    fn check(&self) -> Result<(), WeightsError> {
        let fail = |field: &'static str, reason: String| Err(WeightsError::InvalidConfig { field, reason });
        for (field, size, limit) in [
            ("vocabulary_size", self.vocabulary_size, 65_536),
            ("units", self.units, 8_192),
            ("layers", self.layers, 64),
            ("max_length", self.max_length, 4_096),
        ] {
            if size == 0 || size > limit {
                return fail(field, format!("{size} is not in 1..={limit}"));
            }
        }
        if !self.units.is_multiple_of(2) {
            return fail("units", format!("{} is odd; half of them read backwards", self.units));
        }
        Ok(())
    }

    fn vocabulary_size(&self) -> usize {
        self.vocabulary_size
    }

    fn max_length(&self) -> usize {
        self.max_length
    }

    fn dropout(&self) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert!(Seq2SeqConfig::default().check().is_ok());
        for broken in [
            Seq2SeqConfig { units: 33, ..Seq2SeqConfig::tiny(50) },
            Seq2SeqConfig { layers: 0, ..Seq2SeqConfig::tiny(50) },
            Seq2SeqConfig::tiny(0),
        ] {
            assert!(matches!(broken.check(), Err(WeightsError::InvalidConfig { .. })));
        }
        assert!(matches!(Seq2SeqConfig::preset("base", 50), Err(WeightsError::UnknownPreset { .. })));
    }
}
