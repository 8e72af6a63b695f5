//! The model as the decoder sees it: one place at a time, with cached keys and values.

use burn::tensor::activation::log_softmax;
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor};
use duilian_core::{Direction, TokenId};
use duilian_decoder::{Source, StepModel};
use duilian_tokenizer::CharTokenizer;

use crate::network::{KeyValue, Memory, attend};
use crate::train::{HostBatch, LossSum, ids, loss_of_pairs};
use crate::{AlignedTransformer, ModelConfig, ModelError, ModelWeights};

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
    /// As [`ModelWeights::into_model`].
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
        let malformed = |reason: String| Err(ModelError::Malformed { reason });
        let Some(first) = sources.first() else { return malformed("there is no source".to_owned()) };
        let length = first.tokens.len();
        if length == 0 {
            return malformed("a source is empty".to_owned());
        }
        if length > self.config.max_length {
            return Err(ModelError::TooLong { length, limit: self.config.max_length });
        }
        let mut batch = HostBatch::empty(length);
        for source in sources {
            if source.tokens.len() != length || source.hints.len() != length {
                return malformed("sources of one batch differ in length".to_owned());
            }
            self.check(&source.tokens)?;
            let asked: Vec<TokenId> = source.hints.iter().map(|h| h.unwrap_or(CharTokenizer::PAD)).collect();
            self.check(&asked)?;
            let hinted: Vec<bool> = source.hints.iter().map(Option::is_some).collect();
            batch.push(&source.tokens, &asked, &hinted, source.direction);
        }
        let embedded = self.network.embed(ids::<B>(batch.embedded_tokens().into_iter(), &self.device));
        let (source, _) = batch.inputs(&embedded, &self.device);
        let Memory { aligned, layers } = self.network.encode(source);
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
            x = block.add_branch(x, block.self_out.forward(attended));
            x = block.attend_memory(x, memory, rows);
            x = block.feed_forward(x);
        }
        let scores = log_softmax(net.logits(net.decoder_norm.forward(x)), 1);
        let data = scores.into_data();
        log_probs.clear();
        match data.as_slice::<f32>() {
            Ok(values) => log_probs.extend_from_slice(values),
            Err(_) => log_probs.extend(data.iter::<f32>()),
        }
        state.place += 1;
        Ok(())
    }

    fn select(&self, state: &mut AlignedState<B>, rows: &[usize]) -> Result<(), ModelError> {
        if let Some(row) = rows.iter().find(|&&row| row >= state.rows) {
            let reason = format!("row {row} of {} is asked for", state.rows);
            return Err(ModelError::Malformed { reason });
        }
        if rows.len() == state.rows && rows.iter().enumerate().all(|(i, &row)| i == row) {
            return Ok(());
        }
        let numbers: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
        let numbers = Tensor::<B, 1, Int>::from_ints(numbers.as_slice(), &self.device);
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
        let size = self.config.vocabulary_size;
        match tokens.iter().position(|t| t.index() >= size) {
            Some(i) => Err(ModelError::UnknownToken { id: tokens[i].0, place: i + 1, size }),
            None => Ok(()),
        }
    }
}
