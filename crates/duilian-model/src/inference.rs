//! The model as the decoder sees it: one place at a time, with cached keys and values.

use burn::tensor::activation::log_softmax;
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor};
use duilian_core::{Direction, LossSum, TokenId};
use duilian_decoder::{Source, StepModel};
use duilian_tokenizer::CharTokenizer;

use crate::network::{KeyValue, Memory, attend};
use crate::network::{Network, project};
use crate::train::{Batch, ids, loss_of_pairs};
use crate::{AlignedTransformer, ModelConfig, ModelError, ModelWeights, NetworkWeightsExt};

/// An [`AlignedTransformer`] with its sizes on a device, ready to answer.
///
/// ```
/// use duilian_core::{Direction, TokenId};
/// use duilian_decoder::{Source, StepModel};
/// use duilian_model::{AlignedModel, AlignedTransformer, DefaultBackend, ModelConfig, ModelWeights};
///
/// let config = ModelConfig::tiny(50);
/// let network = AlignedTransformer::<DefaultBackend>::new(&config, 42, &Default::default())?;
/// let model = AlignedModel::new(network, config, Default::default());
/// let source = Source {
///     tokens: vec![TokenId(20), TokenId(21)],
///     hints: vec![None, None],
///     direction: Direction::UpperToLower,
/// };
/// let mut state = model.start(&[source])?;
/// let mut log_probs = Vec::new();
/// model.step(&mut state, &[], &mut log_probs)?;
/// let total: f32 = log_probs.iter().map(|p| p.exp()).sum();
/// assert!((total - 1.0).abs() < 1e-4);
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct AlignedModel<B: Backend> {
    network: AlignedTransformer<B>,
    config: ModelConfig,
    device: B::Device,
}

impl<B: Backend> AlignedModel<B> {
    /// Joins a network, its sizes and its device.
    pub fn new(network: AlignedTransformer<B>, config: ModelConfig, device: B::Device) -> Self {
        Self { network, config, device }
    }

    /// Builds the network from weights.
    ///
    /// # Errors
    /// As [`NetworkWeightsExt::into_model`].
    pub fn from_weights(weights: ModelWeights, device: B::Device) -> Result<Self, ModelError> {
        let config = weights.config().clone();
        Ok(Self { network: weights.into_model(&device)?, config, device })
    }

    /// Sizes of the network.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Loss of answers that are known: pairs of given and asked-for line, as tokens.
    ///
    /// Pairs of unequal length, and pairs longer than the model reads, are left out; marks and unknown
    /// characters of the asked-for line cost nothing.
    pub fn loss(&self, pairs: &[(Vec<TokenId>, Vec<TokenId>)], direction: Direction) -> LossSum {
        let longest = self.config.max_length;
        loss_of_pairs(&self.network, pairs.iter().cloned(), direction, longest, &self.device)
    }
}

/// All that has been computed for a batch of answers: keys and values by layer, and how far they are.
#[derive(Debug, Clone)]
pub struct AlignedState<B: Backend> {
    rows: usize,
    length: usize,
    place: usize,
    /// What each place adds to the decoder's input, `[rows, length, d_model]`.
    aligned: Tensor<B, 3>,
    memory: Vec<KeyValue<B>>,
    answered: Vec<Option<KeyValue<B>>>,
}

impl<B: Backend> KeyValue<B> {
    fn select(&self, rows: &Tensor<B, 1, Int>) -> Self {
        Self {
            key: self.key.clone().select(0, rows.clone()),
            value: self.value.clone().select(0, rows.clone()),
        }
    }

    fn extend(self, next: Self) -> Self {
        Self {
            key: Tensor::cat(vec![self.key, next.key], 2),
            value: Tensor::cat(vec![self.value, next.value], 2),
        }
    }
}

impl<B: Backend> StepModel for AlignedModel<B> {
    type State = AlignedState<B>;
    type Error = ModelError;

    fn vocabulary_size(&self) -> usize {
        self.config.vocabulary_size
    }

    fn max_length(&self) -> usize {
        self.config.max_length
    }

    fn start(&self, sources: &[Source]) -> Result<AlignedState<B>, ModelError> {
        let length = check_sources(sources, self.config.max_length)?;
        let mut batch = Batch::empty(length);
        for source in sources {
            self.check(&source.tokens)?;
            let asked: Vec<TokenId> = source.hints.iter().map(|h| h.unwrap_or(CharTokenizer::PAD)).collect();
            self.check(&asked)?;
            let hinted: Vec<bool> = source.hints.iter().map(Option::is_some).collect();
            batch.push(&source.tokens, &asked, &hinted, source.direction);
        }
        let batch = AlignedTransformer::prepare(batch, &self.device);
        let embedded = self.network.embed(batch.tokens.clone());
        let (source, _) = batch.inputs(&embedded);
        let batch = batch.batch;
        let Memory { aligned, layers } = self.network.encode(source, None);
        Ok(AlignedState {
            rows: batch.rows,
            length,
            place: 0,
            aligned: aligned.reshape([batch.rows, length, self.config.d_model]),
            answered: vec![None; layers.len()],
            memory: layers,
        })
    }

    fn step(
        &self,
        state: &mut AlignedState<B>,
        previous: &[TokenId],
        log_probs: &mut Vec<f32>,
    ) -> Result<(), ModelError> {
        if state.place >= state.length {
            let reason = format!("step {} of lines of {}", state.place + 1, state.length);
            return Err(ModelError::Malformed { reason });
        }
        let begin = vec![CharTokenizer::BOS; state.rows];
        let previous = if state.place == 0 { &begin } else { previous };
        if previous.len() != state.rows {
            let reason = format!("{} tokens for {} rows", previous.len(), state.rows);
            return Err(ModelError::Malformed { reason });
        }
        self.check(previous)?;
        let (rows, d) = (state.rows, self.config.d_model);
        let net = &self.network;
        let embedded = net.embed(ids::<B>(previous.iter().map(|t| t.0), &self.device));
        let aligned = state.aligned.clone().narrow(1, state.place, 1).reshape([rows, d]);
        let position = net.positions(state.length).narrow(0, state.place, 1);
        let mut x = embedded + aligned + position;
        for ((block, memory), answered) in net.decoder.iter().zip(&state.memory).zip(&mut state.answered) {
            let (query, own) = block.project_self(x.clone(), rows);
            let all = match answered.take() {
                Some(before) => before.extend(own),
                None => own,
            };
            let attended = attend(query, all.key.clone(), all.value.clone(), None);
            *answered = Some(all);
            x = x + project(&block.self_out, attended, block.precision);
            x = block.attend_memory(x, memory, rows, None);
            x = block.feed_forward(x, None);
        }
        let scores = log_softmax(net.logits(net.decoder_norm.forward(x)), 1);
        read_scores(scores, log_probs);
        state.place += 1;
        Ok(())
    }

    fn select(&self, state: &mut AlignedState<B>, rows: &[usize]) -> Result<(), ModelError> {
        let Some(numbers) = row_numbers::<B>(rows, state.rows, &self.device)? else { return Ok(()) };
        state.aligned = state.aligned.clone().select(0, numbers.clone());
        for layer in &mut state.memory {
            *layer = layer.select(&numbers);
        }
        for layer in state.answered.iter_mut().flatten() {
            *layer = layer.select(&numbers);
        }
        state.rows = rows.len();
        Ok(())
    }
}

impl<B: Backend> AlignedModel<B> {
    fn check(&self, tokens: &[TokenId]) -> Result<(), ModelError> {
        check_tokens(tokens, self.config.vocabulary_size)
    }
}

/// Checks that sources make a batch; returns their length.
pub(crate) fn check_sources(sources: &[Source], max_length: usize) -> Result<usize, ModelError> {
    let malformed = |reason: &str| Err(ModelError::Malformed { reason: reason.to_owned() });
    let Some(first) = sources.first() else { return malformed("there is no source") };
    let length = first.tokens.len();
    if length == 0 {
        return malformed("a source is empty");
    }
    if length > max_length {
        return Err(ModelError::TooLong { length, limit: max_length });
    }
    if sources.iter().any(|s| s.tokens.len() != length || s.hints.len() != length) {
        return malformed("sources of one batch differ in length");
    }
    Ok(length)
}

/// Checks that tokens are of the vocabulary.
pub(crate) fn check_tokens(tokens: &[TokenId], size: usize) -> Result<(), ModelError> {
    match tokens.iter().position(|t| t.index() >= size) {
        Some(i) => Err(ModelError::UnknownToken { id: tokens[i].0, place: i + 1, size }),
        None => Ok(()),
    }
}

/// Copies scores to the host.
pub(crate) fn read_scores<B: Backend>(scores: Tensor<B, 2>, log_probs: &mut Vec<f32>) {
    let data = scores.into_data();
    log_probs.clear();
    match data.as_slice::<f32>() {
        Ok(values) => log_probs.extend_from_slice(values),
        Err(_) => log_probs.extend(data.iter::<f32>()),
    }
}

/// Uploads the rows to select from `count`; `None` if they are what is there already.
pub(crate) fn row_numbers<B: Backend>(
    rows: &[usize],
    count: usize,
    device: &B::Device,
) -> Result<Option<Tensor<B, 1, Int>>, ModelError> {
    if let Some(row) = rows.iter().find(|&&row| row >= count) {
        return Err(ModelError::Malformed { reason: format!("row {row} of {count} is asked for") });
    }
    if rows.len() == count && rows.iter().enumerate().all(|(i, &row)| i == row) {
        return Ok(None);
    }
    let numbers: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
    Ok(Some(Tensor::from_ints(numbers.as_slice(), device)))
}
