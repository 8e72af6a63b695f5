//! Model, vocabulary and search in one object.

use std::path::Path;

use duilian_core::{Direction, Line, LossSum, Vocabulary};
use duilian_corpus::normalize_line;
use duilian_decoder::{Answer, DecodeOptions, Decoder, Lexicon, Question};
use duilian_engine::{Engine, Precision, answer_parallel, loss_of_pairs};
use duilian_prosody::BlockedWords;
use duilian_tokenizer::CharTokenizer;
use duilian_weights::ModelWeights;

use crate::Error;

/// Answers lines of couplets.
///
/// Making one reads the weights, some tens of milliseconds; after that it is immutable and can be shared by
/// threads.
///
/// ```
/// use duilian::{DecodeOptions, Duilian};
///
/// let options = DecodeOptions { num_hypotheses: 3, ..DecodeOptions::default() };
/// let duilian = Duilian::pretrained_with(options)?;
/// let answers = duilian.replies("春风得意马蹄疾")?;
/// assert_eq!(answers.len(), 3);
/// assert!(answers.iter().all(|a| a.line.len() == 7));
///
/// let error = duilian.reply("hello").unwrap_err().to_string();
/// assert!(error.contains("'h'"), "{error}");
/// # Ok::<(), duilian::Error>(())
/// ```
pub struct Duilian {
    tokenizer: CharTokenizer,
    engine: Engine,
    decoder: Decoder,
}

impl Duilian {
    /// The embedded weights and vocabulary with default options.
    ///
    /// # Errors
    /// [`Error`] if the embedded data cannot be read, which a test excludes.
    pub fn pretrained() -> Result<Self, Error> {
        Self::pretrained_with(DecodeOptions::default())
    }

    /// The embedded weights and vocabulary.
    ///
    /// # Errors
    /// [`Error::Decode`] for options that make no sense.
    pub fn pretrained_with(options: DecodeOptions) -> Result<Self, Error> {
        let weights = ModelWeights::from_bytes(duilian_pretrained::WEIGHTS, "embedded weights")?;
        let tokenizer = CharTokenizer::from_json(duilian_pretrained::TOKENIZER)?;
        Self::new(&weights, tokenizer, options)
    }

    /// Weights and vocabulary from files: what a training run leaves in its folder.
    ///
    /// # Errors
    /// [`Error`] if a file is missing, damaged or foreign, or if the two do not belong together.
    pub fn from_files(weights: &Path, tokenizer: &Path, options: DecodeOptions) -> Result<Self, Error> {
        Self::new(&ModelWeights::load(weights)?, CharTokenizer::load(tokenizer)?, options)
    }

    /// Joins weights and vocabulary. Products are computed in 8 bits ([`Precision::Int8`]).
    ///
    /// # Errors
    /// [`Error::Mismatch`], [`Error::Engine`] if the weights do not fill a network, [`Error::Decode`] for options
    /// that make no sense.
    pub fn new(
        weights: &ModelWeights,
        tokenizer: CharTokenizer,
        options: DecodeOptions,
    ) -> Result<Self, Error> {
        Self::with_precision(weights, tokenizer, options, Precision::Int8)
    }

    /// Joins weights and vocabulary and says how products are computed.
    ///
    /// # Errors
    /// As [`Duilian::new`].
    pub fn with_precision(
        weights: &ModelWeights,
        tokenizer: CharTokenizer,
        options: DecodeOptions,
        precision: Precision,
    ) -> Result<Self, Error> {
        Self::check_sizes(weights.config().vocabulary_size, &tokenizer)?;
        let engine = Engine::from_weights(weights, precision)?;
        Ok(Self { decoder: decoder(&tokenizer, options)?, engine, tokenizer })
    }

    /// The same system with random weights: what an evaluation is to be compared with.
    ///
    /// # Errors
    /// As [`Duilian::new`], and [`Error::Model`] for sizes that do not fit together.
    #[cfg(feature = "flex")]
    pub fn untrained(
        config: &duilian_weights::ModelConfig,
        tokenizer: CharTokenizer,
        options: DecodeOptions,
    ) -> Result<Self, Error> {
        use duilian_model::{AlignedTransformer, DefaultBackend, DefaultDevice, NetworkWeightsExt};

        let device = DefaultDevice::default();
        let network = AlignedTransformer::<DefaultBackend>::new(config, 0, &device)?;
        let weights = ModelWeights::from_model(&network, config, "random");
        Self::with_precision(&weights, tokenizer, options, Precision::F32)
    }

    fn check_sizes(weights: usize, tokenizer: &CharTokenizer) -> Result<(), Error> {
        let vocabulary = tokenizer.size();
        if weights == vocabulary { Ok(()) } else { Err(Error::Mismatch { weights, vocabulary }) }
    }

    /// The best lower line for an upper line as people type it.
    ///
    /// # Errors
    /// [`Error::Input`] names the first character that is not Chinese and its place; [`Error::Decode`] for a line
    /// that is too long or that no line can answer.
    pub fn reply(&self, upper: &str) -> Result<Answer, Error> {
        self.best(upper, Direction::UpperToLower)
    }

    /// The best upper line for a lower line.
    ///
    /// # Errors
    /// As [`Duilian::reply`].
    pub fn reply_reverse(&self, lower: &str) -> Result<Answer, Error> {
        self.best(lower, Direction::LowerToUpper)
    }

    /// Several lower lines for an upper line, best first: [`DecodeOptions::num_hypotheses`] of them.
    ///
    /// # Errors
    /// As [`Duilian::reply`].
    pub fn replies(&self, upper: &str) -> Result<Vec<Answer>, Error> {
        self.answer(&Question::new(normalize_line(upper)?, Direction::UpperToLower))
    }

    /// Answers to a question, which may lock characters and goes either way.
    ///
    /// # Errors
    /// [`Error::Decode`].
    pub fn answer(&self, question: &Question) -> Result<Vec<Answer>, Error> {
        Ok(self.decoder.answer(&self.engine, question)?)
    }

    /// Answers to many questions at once, in their order, on all threads of the machine; one that cannot be answered
    /// leaves the others alone. The answers do not depend on the number of threads.
    pub fn answer_batch(&self, questions: &[Question]) -> Vec<Result<Vec<Answer>, Error>> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let results = answer_parallel(&self.decoder, &self.engine, questions, threads);
        results.into_iter().map(|r| r.map_err(Error::from)).collect()
    }

    /// Loss of known answers: pairs of given and asked-for line. Pairs of unequal length, and pairs longer than the
    /// model reads, are left out; marks and characters outside the vocabulary cost nothing.
    ///
    /// # Errors
    /// [`Error::Engine`] if the model fails.
    pub fn loss<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a Line, &'a Line)>,
        direction: Direction,
    ) -> Result<LossSum, Error> {
        let encode = |line| self.tokenizer.encode(line);
        let pairs: Vec<_> = pairs.into_iter().map(|(given, asked)| (encode(given), encode(asked))).collect();
        let counts = |token| token >= CharTokenizer::FIRST_HAN;
        Ok(loss_of_pairs(&self.engine, &pairs, direction, counts)?)
    }

    /// The vocabulary.
    pub fn tokenizer(&self) -> &CharTokenizer {
        &self.tokenizer
    }

    /// The engine, for searches of one's own.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The search.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    fn best(&self, text: &str, direction: Direction) -> Result<Answer, Error> {
        let question = Question::new(normalize_line(text)?, direction);
        let mut answers = self.answer(&question)?;
        Ok(answers.swap_remove(0))
    }
}

impl std::fmt::Debug for Duilian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Duilian")
            .field("model", self.engine.config())
            .field("options", self.decoder.options())
            .finish_non_exhaustive()
    }
}

fn decoder(tokenizer: &CharTokenizer, options: DecodeOptions) -> Result<Decoder, Error> {
    let lexicon = Lexicon::new(tokenizer, CharTokenizer::UNK, &BlockedWords::default());
    Ok(Decoder::new(lexicon, options)?)
}
