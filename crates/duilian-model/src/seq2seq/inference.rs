//! The baseline as the decoder sees it, and by itself.

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::Backend;
use duilian_core::{Direction, LossSum, TokenId};
use duilian_decoder::{Source, StepModel};
use duilian_tokenizer::CharTokenizer;

use super::lstm::CellState;
use super::network::Encoded;
use super::{AttentionSeq2Seq, END, Seq2SeqConfig};
use crate::train::{ids, loss_of_pairs};
use crate::{ModelError, NetworkWeights, NetworkWeightsExt};

/// An [`AttentionSeq2Seq`] with its sizes on a device, ready to answer.
///
/// ```
/// use duilian_core::{Direction, TokenId};
/// use duilian_model::{AttentionSeq2Seq, DefaultBackend, Network, Seq2SeqConfig, Seq2SeqModel};
///
/// let config = Seq2SeqConfig::tiny(50);
/// let network = AttentionSeq2Seq::<DefaultBackend>::drawn(&config, 42, &Default::default())?;
/// let model = Seq2SeqModel::new(network, config, Default::default());
/// let answer = model.generate(&[TokenId(20), TokenId(21)], Direction::UpperToLower, 10)?;
/// assert!(answer.len() <= 10, "it says by itself when it is done");
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Seq2SeqModel<B: Backend> {
    network: AttentionSeq2Seq<B>,
    config: Seq2SeqConfig,
    device: B::Device,
}

/// All that has been computed for a batch of answers.
#[derive(Debug, Clone)]
pub struct Seq2SeqState<B: Backend> {
    encoded: Encoded<B>,
    place: usize,
}

impl<B: Backend> Seq2SeqModel<B> {
    /// Joins a network, its sizes and its device.
    pub fn new(network: AttentionSeq2Seq<B>, config: Seq2SeqConfig, device: B::Device) -> Self {
        Self { network, config, device }
    }

    /// Builds the network from weights.
    ///
    /// # Errors
    /// As [`NetworkWeightsExt::into_model`].
    pub fn from_weights(
        weights: NetworkWeights<Seq2SeqConfig>,
        device: B::Device,
    ) -> Result<Self, ModelError> {
        let config = weights.config().clone();
        Ok(Self { network: weights.into_model(&device)?, config, device })
    }

    /// Sizes of the network.
    pub fn config(&self) -> &Seq2SeqConfig {
        &self.config
    }

    /// Loss of answers that are known, over their Han characters only, so that it can be compared with that of an
    /// [`AlignedModel`](crate::AlignedModel).
    pub fn loss(&self, pairs: &[(Vec<TokenId>, Vec<TokenId>)], direction: Direction) -> LossSum {
        let longest = self.config.max_length;
        loss_of_pairs(&self.network, pairs.iter().cloned(), direction, longest, &self.device)
    }

    /// Writes the most probable token at each place until the end token comes, or `limit` tokens. No rule is kept.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] for an empty line, [`ModelError::TooLong`], [`ModelError::UnknownToken`].
    pub fn generate(
        &self,
        given: &[TokenId],
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<TokenId>, ModelError> {
        let source = Source { tokens: given.to_vec(), hints: vec![None; given.len()], direction };
        let mut state = self.start(&[source])?;
        let mut answer = Vec::new();
        let mut previous = Vec::new();
        let mut scores = Vec::new();
        while answer.len() < limit {
            self.step(&mut state, &previous, &mut scores)?;
            let written = |id: usize| id != CharTokenizer::PAD.index() && id != CharTokenizer::UNK.index();
            let best = (0..scores.len()).filter(|&id| written(id));
            let best = best.max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            let token = best.and_then(|id| u16::try_from(id).ok()).map_or(END, TokenId);
            if token == END {
                break;
            }
            answer.push(token);
            previous = vec![token];
        }
        Ok(answer)
    }

    fn embed(&self, tokens: impl Iterator<Item = TokenId>) -> Tensor<B, 2> {
        let scale = (self.config.units as f64).sqrt();
        self.network.embedding.val().select(0, ids::<B>(tokens.map(|t| t.0), &self.device)) * scale
    }

    fn check(&self, tokens: &[TokenId]) -> Result<(), ModelError> {
        crate::inference::check_tokens(tokens, self.config.vocabulary_size)
    }
}

impl<B: Backend> StepModel for Seq2SeqModel<B> {
    type State = Seq2SeqState<B>;
    type Error = ModelError;

    fn vocabulary_size(&self) -> usize {
        self.config.vocabulary_size
    }

    fn max_length(&self) -> usize {
        self.config.max_length
    }

    fn start(&self, sources: &[Source]) -> Result<Seq2SeqState<B>, ModelError> {
        crate::inference::check_sources(sources, self.config.max_length)?;
        for source in sources {
            self.check(&source.tokens)?;
        }
        let given = self.embed(sources.iter().flat_map(|s| s.tokens.iter().copied()));
        let directions = sources.iter().map(|s| u16::from(s.direction == Direction::LowerToUpper));
        let encoded = self.network.encode(given, ids::<B>(directions, &self.device));
        Ok(Seq2SeqState { encoded, place: 0 })
    }

    fn step(
        &self,
        state: &mut Seq2SeqState<B>,
        previous: &[TokenId],
        log_probs: &mut Vec<f32>,
    ) -> Result<(), ModelError> {
        let rows = state.encoded.memory.dims()[0];
        let begin = vec![CharTokenizer::BOS; rows];
        let previous = if state.place == 0 { &begin } else { previous };
        if previous.len() != rows {
            let reason = format!("{} tokens for {rows} rows", previous.len());
            return Err(ModelError::Malformed { reason });
        }
        self.check(previous)?;
        let mut x = self.embed(previous.iter().copied());
        for (layer, state) in self.network.decoder.iter().zip(&mut state.encoded.states) {
            *state = layer.step(layer.project(x), state.clone());
            x = state.hidden.clone();
        }
        let hidden = self.network.attend(x, state.encoded.memory.clone());
        let scores = log_softmax(hidden.matmul(self.network.embedding.val().transpose()), 1);
        crate::inference::read_scores(scores, log_probs);
        state.place += 1;
        Ok(())
    }

    fn select(&self, state: &mut Seq2SeqState<B>, rows: &[usize]) -> Result<(), ModelError> {
        let Some(numbers) =
            crate::inference::row_numbers::<B>(rows, state.encoded.memory.dims()[0], &self.device)?
        else {
            return Ok(());
        };
        state.encoded.memory = state.encoded.memory.clone().select(0, numbers.clone());
        for cell in &mut state.encoded.states {
            let pick = |t: &Tensor<B, 2>| t.clone().select(0, numbers.clone());
            *cell = CellState { hidden: pick(&cell.hidden), cell: pick(&cell.cell) };
        }
        Ok(())
    }
}
