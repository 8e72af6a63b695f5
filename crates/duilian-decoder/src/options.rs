//! Options of the search.

use serde::{Deserialize, Serialize};

use crate::DecodeError;

/// Options of a [`Decoder`](crate::Decoder), by the names of other toolkits. The length of an answer is
/// fixed by its question, so there is no length penalty and no maximum length.
///
/// ```
/// use duilian_decoder::DecodeOptions;
///
/// let options = DecodeOptions::default();
/// assert_eq!((options.beam_size, options.num_hypotheses, options.max_batch_size), (4, 1, 32));
/// assert_eq!(options.min_difference, None);
/// assert_eq!(options.sampling, None);
/// assert!(options.repetition && options.no_shared_character && options.blocked_words && options.end_tone);
///
/// let greedy = DecodeOptions { beam_size: 1, ..DecodeOptions::default() };
/// assert_eq!(DecodeOptions::greedy(), greedy);
/// assert!(serde_json::from_str::<DecodeOptions>(r#"{"beamsize": 2}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of its own rule
pub struct DecodeOptions {
    /// Hypotheses kept at each place; 1 is greedy search. Default 4. Where more than one answer is asked for,
    /// at least twice as many hypotheses as answers are kept.
    pub beam_size: usize,
    /// Number of answers. Default 1. So many distinct answers are returned by beam search wherever so many
    /// lines exist; sampling may find fewer.
    pub num_hypotheses: usize,
    /// Han places at which any two answers must differ, so that an n-best list holds no near-duplicates.
    /// Default `None`: a quarter of the places that are free to differ, rounded up. Where that leaves fewer
    /// answers than asked for, the list is filled up with the least similar ones left.
    pub min_difference: Option<usize>,
    /// Most questions that are put into one batch of the model. Default 32.
    pub max_batch_size: usize,
    /// Draw answers at random instead of searching for the best. Default `None`.
    pub sampling: Option<SamplingOptions>,
    /// R2: the answer repeats characters exactly where the question does. Default true.
    pub repetition: bool,
    /// R3: the answer shares no character with the question. Default true.
    pub no_shared_character: bool,
    /// R4: the answer has no blocked word. Default true. (That it has only Han characters cannot be switched
    /// off.)
    pub blocked_words: bool,
    /// R5: the last character has the tone that the question asks for. Default true.
    pub end_tone: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            beam_size: 4,
            num_hypotheses: 1,
            min_difference: None,
            max_batch_size: 32,
            sampling: None,
            repetition: true,
            no_shared_character: true,
            blocked_words: true,
            end_tone: true,
        }
    }
}

/// Options of sampling. At each place the allowed tokens are cut to the `top_k` most probable, then to the
/// most probable that make up `top_p` of what is left (Holtzman et al. 2020), and one is drawn in proportion
/// to its probability to the power of 1 / `temperature`.
///
/// ```
/// use duilian_decoder::SamplingOptions;
///
/// let options = SamplingOptions::default();
/// assert_eq!((options.top_k, options.top_p, options.temperature, options.seed), (0, 1.0, 1.0, 0));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingOptions {
    /// Number of tokens to choose from; 0 is all. Default 0.
    pub top_k: usize,
    /// Share of the probability to choose from, in (0, 1]. Default 1.
    pub top_p: f32,
    /// Above 1 flattens the distribution, below 1 sharpens it; must be positive. Default 1.
    pub temperature: f32,
    /// Seed of the random numbers: the same seed, question, options and model give the same answers, whatever
    /// else is in the batch. Default 0.
    pub seed: u64,
}

impl Default for SamplingOptions {
    fn default() -> Self {
        Self { top_k: 0, top_p: 1.0, temperature: 1.0, seed: 0 }
    }
}

impl DecodeOptions {
    /// Greedy search: the best token at each place, one answer.
    pub fn greedy() -> Self {
        Self { beam_size: 1, ..Self::default() }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// [`DecodeError::Option`] with the first field that makes no sense: a zero `beam_size`,
    /// `num_hypotheses` or `max_batch_size`, a `top_p` outside (0, 1], a `temperature` that is not a positive
    /// number.
    pub fn validate(&self) -> Result<(), DecodeError> {
        let counts = [
            ("beam_size", self.beam_size),
            ("num_hypotheses", self.num_hypotheses),
            ("max_batch_size", self.max_batch_size),
        ];
        for (option, value) in counts {
            if value == 0 {
                return Err(DecodeError::Option { option, value: "0".into(), expected: "at least 1" });
            }
        }
        if let Some(sampling) = &self.sampling {
            if !(sampling.top_p > 0.0 && sampling.top_p <= 1.0) {
                let value = sampling.top_p.to_string();
                return Err(DecodeError::Option { option: "top_p", value, expected: "in (0, 1]" });
            }
            if !(sampling.temperature > 0.0 && sampling.temperature.is_finite()) {
                let value = sampling.temperature.to_string();
                return Err(DecodeError::Option { option: "temperature", value, expected: "positive" });
            }
        }
        Ok(())
    }

    /// Hypotheses to keep at each place for `answers` answers.
    pub(crate) fn width(&self, answers: usize) -> usize {
        if answers > 1 { self.beam_size.max(answers.saturating_mul(2)) } else { self.beam_size }
    }
}
