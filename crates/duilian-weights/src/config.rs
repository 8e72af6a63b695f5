//! Sizes of the network.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::WeightsError;

/// Sizes of a network, as files of its weights carry them.
pub trait NetworkConfig:
    Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// What a file of weights of this network is called, in its header and in errors; no two networks share one.
    const KIND: &'static str;

    /// Checks that the sizes fit together.
    ///
    /// # Errors
    /// [`WeightsError::InvalidConfig`] with the field and the reason.
    fn check(&self) -> Result<(), WeightsError>;

    /// Number of tokens.
    fn vocabulary_size(&self) -> usize;

    /// Longest line that the network reads.
    fn max_length(&self) -> usize;

    /// Probability of dropout while training.
    fn dropout(&self) -> f64;
}

/// Sizes of the aligned transformer.
///
/// Unknown fields are refused and missing ones take the values of [`ModelConfig::base`].
///
/// ```
/// use duilian_weights::ModelConfig;
///
/// let base = ModelConfig::base(8_000);
/// assert_eq!((base.d_model, base.d_ff, base.heads), (256, 1024, 4));
/// assert_eq!((base.encoder_layers, base.decoder_layers), (4, 4));
/// assert_eq!((base.max_length, base.dropout), (64, 0.1));
/// assert!(base.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// Number of tokens, special tokens and marks included.
    pub vocabulary_size: usize,
    /// Width of the hidden vectors. Default 256.
    pub d_model: usize,
    /// Width of the feed-forward layers. Default 1024.
    pub d_ff: usize,
    /// Attention heads; divides `d_model`. Default 4.
    pub heads: usize,
    /// Encoder layers. Default 4.
    pub encoder_layers: usize,
    /// Decoder layers. Default 4.
    pub decoder_layers: usize,
    /// Longest line in characters, marks included. Default 64.
    pub max_length: usize,
    /// Dropout rate while training. Default 0.1.
    pub dropout: f64,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            vocabulary_size: 8_192,
            d_model: 256,
            d_ff: 1_024,
            heads: 4,
            encoder_layers: 4,
            decoder_layers: 4,
            max_length: 64,
            dropout: 0.1,
        }
    }
}

impl ModelConfig {
    /// The size of the design: width 256, four layers on each side.
    pub fn base(vocabulary_size: usize) -> Self {
        Self { vocabulary_size, ..Self::default() }
    }

    /// Three layers on each side and no dropout: what two processor cores train in an afternoon, and what fits
    /// into a 10 MB crate at 8 bits a weight.
    ///
    /// ```
    /// let compact = duilian_weights::ModelConfig::compact(7_000);
    /// assert_eq!((compact.encoder_layers, compact.decoder_layers, compact.dropout), (3, 3, 0.0));
    /// ```
    pub fn compact(vocabulary_size: usize) -> Self {
        Self { encoder_layers: 3, decoder_layers: 3, dropout: 0.0, ..Self::base(vocabulary_size) }
    }

    /// Small enough for tests: width 32, one layer on each side.
    ///
    /// ```
    /// assert_eq!(duilian_weights::ModelConfig::tiny(100).d_model, 32);
    /// ```
    pub fn tiny(vocabulary_size: usize) -> Self {
        Self {
            d_model: 32,
            d_ff: 64,
            heads: 2,
            encoder_layers: 1,
            decoder_layers: 1,
            dropout: 0.0,
            ..Self::base(vocabulary_size)
        }
    }

    /// A preset by name: `tiny`, `compact` or `base`.
    ///
    /// # Errors
    /// [`WeightsError::UnknownPreset`] for any other name.
    pub fn preset(name: &str, vocabulary_size: usize) -> Result<Self, WeightsError> {
        match name {
            "tiny" => Ok(Self::tiny(vocabulary_size)),
            "compact" => Ok(Self::compact(vocabulary_size)),
            "base" => Ok(Self::base(vocabulary_size)),
            _ => Err(WeightsError::UnknownPreset { name: name.to_owned(), known: "tiny, compact and base" }),
        }
    }

    /// Layers of encoder and decoder together.
    pub fn layers(&self) -> usize {
        self.encoder_layers + self.decoder_layers
    }

    /// Checks that the sizes fit together.
    ///
    /// # Errors
    /// [`WeightsError::InvalidConfig`] with the field and the reason.
    pub fn validate(&self) -> Result<(), WeightsError> {
        let fail = |field: &'static str, reason: String| Err(WeightsError::InvalidConfig { field, reason });
        let sizes = [
            ("vocabulary_size", self.vocabulary_size, 65_536),
            ("d_model", self.d_model, 8_192),
            ("d_ff", self.d_ff, 65_536),
            ("heads", self.heads, 256),
            ("encoder_layers", self.encoder_layers, 128),
            ("decoder_layers", self.decoder_layers, 128),
            ("max_length", self.max_length, 4_096),
        ];
        for (field, size, limit) in sizes {
            if size == 0 || size > limit {
                return fail(field, format!("{size} is not in 1..={limit}"));
            }
        }
        if !self.d_model.is_multiple_of(self.heads) {
            return fail("heads", format!("{} does not divide d_model {}", self.heads, self.d_model));
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return fail("dropout", format!("{} is not in 0..1", self.dropout));
        }
        Ok(())
    }
}

impl NetworkConfig for ModelConfig {
    const KIND: &'static str = "weights file";

    fn check(&self) -> Result<(), WeightsError> {
        self.validate()
    }

    fn vocabulary_size(&self) -> usize {
        self.vocabulary_size
    }

    fn max_length(&self) -> usize {
        self.max_length
    }

    fn dropout(&self) -> f64 {
        self.dropout
    }
}
