//! Options of the search.

use duilian_prosody::TonePattern;
use serde::{Deserialize, Serialize};

use crate::{DecodeError, DeviceOptions};

/// How answers are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SearchMethod {
    /// From left to right, keeping the best hypotheses; diverse with
    /// [`DecodeOptions::num_beam_groups`] above 1. The default.
    #[default]
    Beam,
    /// From left to right, drawing each token at random.
    Sampling,
    /// The surest place first: the model reads the line with all that is filled so far as hints, and of the places
    /// that are open the one with the most probable token is filled. A line of n different characters costs n
    /// readings.
    BestFirst,
}

/// Options of a [`Decoder`](crate::Decoder), by the names of other toolkits where these have them. The length of
/// an answer is fixed by its question, so there is no length penalty and no maximum length.
///
/// ```
/// use duilian_decoder::{DecodeOptions, DeviceOptions, SearchMethod};
///
/// let options = DecodeOptions::default();
/// assert_eq!(options.search, SearchMethod::Beam);
/// assert_eq!((options.beam_size, options.num_hypotheses, options.max_batch_size), (4, 1, 32));
/// assert_eq!((options.num_beam_groups, options.diversity_penalty, options.min_difference), (1, 0.5, None));
/// assert_eq!((options.sampling_topk, options.sampling_topp, options.sampling_temperature), (0, 1.0, 1.0));
/// assert_eq!((options.seed, options.polish_rounds, options.polish_places), (0, 0, 2));
/// assert!(options.repetition && options.no_shared_character && options.blocked_words && options.end_tone);
/// assert_eq!(options.devices, DeviceOptions::default());
/// assert!(!options.mirror && options.tone_pattern.is_none() && options.forbidden_characters.is_empty());
/// assert_eq!((options.tone_opposition_weight, options.word_class_weight), (0.0, 0.0));
/// assert!(options.theme.is_empty() && options.theme_weight == 2.0);
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
    /// How answers are searched for. Default: beam search.
    pub search: SearchMethod,
    /// Hypotheses kept at each place; 1 is greedy search. Default 4. Where more than one answer is asked for,
    /// at least twice as many hypotheses as answers are kept.
    pub beam_size: usize,
    /// Number of answers. Default 1. So many distinct answers are returned by beam search wherever so many
    /// lines exist; the other searches may find fewer.
    pub num_hypotheses: usize,
    /// Groups into which the beam is divided (diverse beam search, Vijayakumar et al. 2018): each group chooses in
    /// turn, and likes a token less if earlier groups have taken it at the same place. Default 1; at most
    /// `beam_size`.
    pub num_beam_groups: usize,
    /// Nats that a token loses in the choice of a group for each hypothesis of an earlier group that took it at the
    /// same place (Hamming diversity). Scores of answers are without it. Default 0.5, not tuned.
    pub diversity_penalty: f32,
    /// Han places at which any two answers must differ, so that an n-best list holds no near-duplicates.
    /// Default `None`: a quarter of the places that are free to differ, rounded up. Where that leaves fewer
    /// answers than asked for, the list is filled up with the least similar ones left.
    pub min_difference: Option<usize>,
    /// Most questions that are put into one batch of the model. Default 32.
    pub max_batch_size: usize,
    /// Sampling: number of most probable tokens to choose from; 0 is all. Default 0.
    pub sampling_topk: usize,
    /// Sampling: share of the probability to choose from, in (0, 1] (Holtzman et al. 2020), after
    /// `sampling_topk`. Tokens that turn out to lead nowhere are left out one by one, as they would be drawn.
    /// Default 1.
    pub sampling_topp: f32,
    /// Sampling: a token is drawn in proportion to its probability to the power of 1 / temperature: above 1
    /// flattens the distribution, below 1 sharpens it; must be positive. Default 1.
    pub sampling_temperature: f32,
    /// Sampling: seed of the random numbers. The same seed, question, options and model give the same answers,
    /// whatever else is in the batch. Default 0.
    pub seed: u64,
    /// Rounds of polishing: the least likely places of each answer are filled anew with all others as hints, and
    /// the line that comes of it is taken if its score is higher. An answer is done at the first round that brings
    /// nothing. Default 0.
    pub polish_rounds: usize,
    /// Number of places (equal characters count once) that a round of polishing fills anew. Default 2.
    pub polish_places: usize,
    /// R2: the answer repeats characters exactly where the question does. Default true.
    pub repetition: bool,
    /// R3: the answer shares no character with the question. Default true.
    pub no_shared_character: bool,
    /// R4: the answer has no blocked word. Default true. (That it has only Han characters cannot be switched
    /// off.)
    pub blocked_words: bool,
    /// R5: the last character has the tone that the question asks for. Default true.
    pub end_tone: bool,
    /// Which devices of the given line the answer must have. Default: all that surely are devices, waived where
    /// the vocabulary has no answer.
    pub devices: DeviceOptions,
    /// The answer reads the same from both ends (回文). Default false.
    pub mirror: bool,
    /// Tones of the answer, by the name of a pattern or as a string of 平仄中. Default `None`.
    pub tone_pattern: Option<TonePattern>,
    /// Characters that may not stand in the answer. Default: none.
    pub forbidden_characters: String,
    /// R6: nats that a token gets for opposing the given tone. Default 0: R6 does not steer the search.
    pub tone_opposition_weight: f32,
    /// R7: nats that a token gets for answering the given word class, or loses for a class that nothing asks for.
    /// Default 0: R7 does not steer the search.
    pub word_class_weight: f32,
    /// Words of a theme. Default: none. For characters that go with the theme see
    /// [`Theme::with_associations`](crate::Theme::with_associations).
    pub theme: String,
    /// Nats that a character of the theme gets. Default 2, not tuned.
    pub theme_weight: f32,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            search: SearchMethod::default(),
            beam_size: 4,
            num_hypotheses: 1,
            num_beam_groups: 1,
            diversity_penalty: 0.5,
            min_difference: None,
            max_batch_size: 32,
            sampling_topk: 0,
            sampling_topp: 1.0,
            sampling_temperature: 1.0,
            seed: 0,
            polish_rounds: 0,
            polish_places: 2,
            repetition: true,
            no_shared_character: true,
            blocked_words: true,
            end_tone: true,
            devices: DeviceOptions::default(),
            mirror: false,
            tone_pattern: None,
            forbidden_characters: String::new(),
            tone_opposition_weight: 0.0,
            word_class_weight: 0.0,
            theme: String::new(),
            theme_weight: 2.0,
        }
    }
}

impl DecodeOptions {
    /// Greedy search: the best token at each place, one answer.
    pub fn greedy() -> Self {
        Self { beam_size: 1, ..Self::default() }
    }

    /// Sampling with this seed and all other options at their defaults.
    pub fn sampling(seed: u64) -> Self {
        Self { search: SearchMethod::Sampling, seed, ..Self::default() }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// [`DecodeError::Option`] with the first field that makes no sense: a zero count, more groups than
    /// hypotheses, a `sampling_topp` outside (0, 1], a `sampling_temperature` that is not a positive number, a
    /// weight or penalty that is not a number.
    pub fn validate(&self) -> Result<(), DecodeError> {
        let wrong = |option, value: String, expected| Err(DecodeError::Option { option, value, expected });
        let counts = [
            ("beam_size", self.beam_size),
            ("num_hypotheses", self.num_hypotheses),
            ("num_beam_groups", self.num_beam_groups),
            ("max_batch_size", self.max_batch_size),
            ("polish_places", self.polish_places),
        ];
        if let Some((option, _)) = counts.into_iter().find(|&(_, value)| value == 0) {
            return wrong(option, "0".into(), "at least 1");
        }
        if self.num_beam_groups > self.beam_size {
            return wrong("num_beam_groups", self.num_beam_groups.to_string(), "at most beam_size");
        }
        if !(self.sampling_topp > 0.0 && self.sampling_topp <= 1.0) {
            return wrong("sampling_topp", self.sampling_topp.to_string(), "in (0, 1]");
        }
        if !(self.sampling_temperature > 0.0 && self.sampling_temperature.is_finite()) {
            return wrong("sampling_temperature", self.sampling_temperature.to_string(), "positive");
        }
        if !(self.diversity_penalty >= 0.0 && self.diversity_penalty.is_finite()) {
            return wrong("diversity_penalty", self.diversity_penalty.to_string(), "a number, not negative");
        }
        let weights = [
            ("tone_opposition_weight", self.tone_opposition_weight),
            ("word_class_weight", self.word_class_weight),
            ("theme_weight", self.theme_weight),
        ];
        match weights.into_iter().find(|(_, weight)| !weight.is_finite()) {
            Some((option, weight)) => wrong(option, weight.to_string(), "a number"),
            None => Ok(()),
        }
    }

    /// Hypotheses to keep at each place for `answers` answers.
    pub(crate) fn width(&self, answers: usize) -> usize {
        if answers > 1 { self.beam_size.max(answers.saturating_mul(2)) } else { self.beam_size }
    }
}
