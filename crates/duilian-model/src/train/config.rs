//! Settings of the training loop.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ModelError, Precision};

/// Settings of a training run. Unknown fields are refused, missing ones take their defaults.
///
/// ```
/// use duilian_model::{Precision, TrainConfig};
///
/// let config = TrainConfig::default();
/// assert_eq!((config.batch_characters, config.batch_parts, config.warmup_steps), (1_024, 2, 300));
/// assert_eq!((config.label_smoothing, config.clip_norm), (0.1, 1.0));
/// assert_eq!((config.learning_rate, config.final_rate_share), (1.0e-3, 0.02));
/// assert_eq!((config.weight_decay, config.ema_decay), (0.01, 0.999));
/// assert_eq!((config.reversed_share, config.hinted_share), (0.3, 0.15));
/// assert_eq!((config.checkpoint_seconds, config.seed), (300, 42));
/// assert_eq!((config.accumulation, config.precision), (1, Precision::F32));
/// assert_eq!((config.loader_threads, config.batches_ahead), (1, 4));
/// assert_eq!((config.keep_last, config.keep_best, config.metrics_every), (1, 1, 10));
/// assert!(config.validate().is_ok());
/// assert!(serde_json::from_str::<TrainConfig>(r#"{"batchsize": 3}"#).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Seed of everything random: first weights, order of batches, directions, hints, dropout. Default 42.
    pub seed: u64,
    /// Length of the run in characters of asked-for lines; the learning rate falls to its end over it.
    /// Default 5,000,000.
    pub total_characters: u64,
    /// Characters of asked-for lines in a batch. Default 1,024.
    pub batch_characters: usize,
    /// Parts that a batch is split into; their gradients are added up. Without dropout the parts are computed
    /// side by side, each by its share of the processor's threads, which keeps two cores busier than one large
    /// product after another. The result depends on the number of parts, not on the number of threads.
    /// Default 2.
    pub batch_parts: usize,
    /// Batches whose gradients are averaged over their characters for one step. Default 1.
    pub accumulation: usize,
    /// Numbers in which products are computed. Default [`Precision::F32`].
    pub precision: Precision,
    /// Threads that make batches. The batches do not depend on it. Default 1.
    pub loader_threads: usize,
    /// Steps whose batches are made ahead, at least 2. Default 4.
    pub batches_ahead: usize,
    /// Peak learning rate of `AdamW`. Default 1e-3.
    pub learning_rate: f64,
    /// Learning rate at the end, as a share of the peak. Default 0.02.
    pub final_rate_share: f64,
    /// Steps over which the learning rate rises from 0. Default 300.
    pub warmup_steps: u64,
    /// Weight decay of matrices, decoupled (Loshchilov & Hutter 2019). Default 0.01.
    pub weight_decay: f64,
    /// Decay of the running mean of the gradient. Default 0.9.
    pub beta_1: f64,
    /// Decay of the running mean of the squared gradient. Default 0.98 (Vaswani et al. 2017).
    pub beta_2: f64,
    /// Largest Euclidean norm of the whole gradient. Default 1.0.
    pub clip_norm: f64,
    /// Share of the target's probability that is spread over the vocabulary. Default 0.1.
    pub label_smoothing: f64,
    /// Decay a step of the exponential moving average of the weights. Default 0.999.
    pub ema_decay: f64,
    /// Share of the pairs that are learnt from lower to upper line. Default 0.3.
    pub reversed_share: f64,
    /// Share of the pairs that are learnt with hints. Default 0.15.
    pub hinted_share: f64,
    /// How often an epoch shows the pairs of a source; 1 where nothing is said.
    pub repeats: BTreeMap<String, usize>,
    /// Steps between validations. Default 500.
    pub validate_every: u64,
    /// At most so many characters of each validation set count, in each direction. Default 6,000.
    pub validation_characters: usize,
    /// Seconds between checkpoints; 0 writes one at every validation only. Default 300.
    pub checkpoint_seconds: u64,
    /// Steps between checkpoints; 0 leaves them to the clock. Default 0.
    pub checkpoint_steps: u64,
    /// Checkpoints that are kept; older ones than the newest carry their step in their name. Default 1.
    pub keep_last: usize,
    /// Weights of the best validations that are kept; if more than one, they carry their step in their name, beside
    /// the best. Default 1.
    pub keep_best: usize,
    /// Steps between lines of measurements; 0 writes none. Default 10.
    pub metrics_every: u64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            seed: 42,
            total_characters: 5_000_000,
            batch_characters: 1_024,
            batch_parts: 2,
            accumulation: 1,
            precision: Precision::F32,
            loader_threads: 1,
            batches_ahead: 4,
            learning_rate: 1.0e-3,
            final_rate_share: 0.02,
            warmup_steps: 300,
            weight_decay: 0.01,
            beta_1: 0.9,
            beta_2: 0.98,
            clip_norm: 1.0,
            label_smoothing: 0.1,
            ema_decay: 0.999,
            reversed_share: 0.3,
            hinted_share: 0.15,
            repeats: BTreeMap::new(),
            validate_every: 500,
            validation_characters: 6_000,
            checkpoint_seconds: 300,
            checkpoint_steps: 0,
            keep_last: 1,
            keep_best: 1,
            metrics_every: 10,
        }
    }
}

impl TrainConfig {
    /// A run of a few minutes on two cores with [`ModelConfig::tiny`](crate::ModelConfig::tiny).
    ///
    /// ```
    /// let tiny = duilian_model::TrainConfig::tiny();
    /// assert_eq!((tiny.total_characters, tiny.batch_characters), (1_000_000, 512));
    /// ```
    pub fn tiny() -> Self {
        Self {
            total_characters: 1_000_000,
            batch_characters: 512,
            learning_rate: 4.0e-3,
            warmup_steps: 100,
            validate_every: 250,
            checkpoint_seconds: 30,
            ..Self::default()
        }
    }

    /// Takes over what may change when a run is resumed: its length, how often it is looked at and saved, and how
    /// far ahead batches are made.
    pub(crate) fn clone_schedule_from(&mut self, other: &Self) {
        self.total_characters = other.total_characters;
        self.validate_every = other.validate_every;
        self.validation_characters = other.validation_characters;
        self.checkpoint_seconds = other.checkpoint_seconds;
        self.checkpoint_steps = other.checkpoint_steps;
        self.loader_threads = other.loader_threads;
        self.batches_ahead = other.batches_ahead;
        self.keep_last = other.keep_last;
        self.keep_best = other.keep_best;
        self.metrics_every = other.metrics_every;
    }

    /// Checks that the settings make sense.
    ///
    /// # Errors
    /// [`ModelError::InvalidConfig`] with the field and the reason.
    pub fn validate(&self) -> Result<(), ModelError> {
        let fail = |field: &'static str, reason: String| Err(ModelError::InvalidConfig { field, reason });
        for (field, share) in [
            ("final_rate_share", self.final_rate_share),
            ("reversed_share", self.reversed_share),
            ("hinted_share", self.hinted_share),
        ] {
            if !(0.0..=1.0).contains(&share) {
                return fail(field, format!("{share} is not in 0..=1"));
            }
        }
        for (field, share) in [
            ("beta_1", self.beta_1),
            ("beta_2", self.beta_2),
            ("label_smoothing", self.label_smoothing),
            ("ema_decay", self.ema_decay),
        ] {
            if !(0.0..1.0).contains(&share) {
                return fail(field, format!("{share} is not in 0..1"));
            }
        }
        for (field, value) in [("learning_rate", self.learning_rate), ("clip_norm", self.clip_norm)] {
            if !(value > 0.0 && value.is_finite()) {
                return fail(field, format!("{value} is not a positive number"));
            }
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay.is_finite()) {
            return fail("weight_decay", format!("{} is negative or no number", self.weight_decay));
        }
        for (field, count) in [
            ("total_characters", self.total_characters),
            ("batch_characters", self.batch_characters as u64),
            ("batch_parts", self.batch_parts as u64),
            ("accumulation", self.accumulation as u64),
            ("loader_threads", self.loader_threads as u64),
            ("keep_last", self.keep_last as u64),
            ("keep_best", self.keep_best as u64),
            ("validate_every", self.validate_every),
            ("validation_characters", self.validation_characters as u64),
        ] {
            if count == 0 {
                return fail(field, "must be at least 1".to_owned());
            }
        }
        if self.batches_ahead < 2 {
            return fail("batches_ahead", "must be at least 2".to_owned());
        }
        Ok(())
    }

    /// Learning rate of a step: linear warm-up, then half a cosine over the characters of the run
    /// (Loshchilov & Hutter 2017), then the final rate.
    ///
    /// ```
    /// let config = duilian_model::TrainConfig::default();
    /// assert!((config.rate(0, 0) * 300.0 / config.learning_rate - 1.0).abs() < 1e-9);
    /// assert!((config.rate(9_999, 2_500_000) / config.learning_rate - 0.51).abs() < 1e-9);
    /// assert!((config.rate(9_999, 9_000_000) / config.learning_rate - 0.02).abs() < 1e-9);
    /// ```
    pub fn rate(&self, step: u64, characters: u64) -> f64 {
        let warm = if self.warmup_steps == 0 {
            1.0
        } else {
            ((step + 1) as f64 / self.warmup_steps as f64).min(1.0)
        };
        let done = (characters as f64 / self.total_characters as f64).min(1.0);
        let cosine = 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
        self.learning_rate * warm * (self.final_rate_share + (1.0 - self.final_rate_share) * cosine)
    }
}
