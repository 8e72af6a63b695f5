//! The aligned transformer.

use burn::module::{Initializer, Module, Param};
use burn::nn::{Linear, RmsNorm, RmsNormConfig};
use burn::tensor::{Int, Tensor, backend::Backend};

use super::attention::causal_bias;
use super::block::{Block, KeyValue};
use super::initial::draw_weights;
use super::linear::{Precision, linear, project};
use super::noise::{Noise, drop_out};
use super::trainable::Network;
use crate::train::{Batch, PreparedBatch, Target};
use crate::{ModelConfig, ModelError};

/// Encoder-decoder transformer whose decoder is aligned with the given line: the input at place `t` is
/// `emb(y[t-1]) + W memory[t] + V emb(x[t]) + position`, beside ordinary cross-attention.
///
/// The encoder reads `emb(x[t]) + H emb(hint[t]) + direction + position`; a place without a hint adds nothing.
/// Positions are counted from both ends of the line, since a line's length is known and its last places obey
/// rules of their own. The embedding serves as the output layer too (Press & Wolf 2017).
///
/// ```
/// use duilian_model::{AlignedTransformer, DefaultBackend, ModelConfig};
///
/// let model = AlignedTransformer::<DefaultBackend>::new(&ModelConfig::tiny(50), 42, &Default::default())?;
/// assert_eq!(model.width(), 32);
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
#[derive(Module, Debug)]
pub struct AlignedTransformer<B: Backend> {
    pub(crate) embedding: Param<Tensor<B, 2>>,
    pub(crate) from_start: Param<Tensor<B, 2>>,
    pub(crate) from_end: Param<Tensor<B, 2>>,
    pub(crate) direction: Param<Tensor<B, 2>>,
    pub(crate) hint: Linear<B>,
    pub(crate) encoder: Vec<Block<B>>,
    pub(crate) encoder_norm: RmsNorm<B>,
    pub(crate) align_memory: Linear<B>,
    pub(crate) align_source: Linear<B>,
    pub(crate) decoder: Vec<Block<B>>,
    pub(crate) decoder_norm: RmsNorm<B>,
    pub(crate) precision: Precision,
}

/// What the encoder makes of a batch of given lines.
#[derive(Debug, Clone)]
pub(crate) struct Memory<B: Backend> {
    /// What each place adds to the decoder's input, `[rows * length, d_model]`.
    pub(crate) aligned: Tensor<B, 2>,
    /// Keys and values of the given line for each decoder layer.
    pub(crate) layers: Vec<KeyValue<B>>,
}

/// A batch of given lines of one length, their characters already embedded.
#[derive(Debug, Clone)]
pub(crate) struct SourceBatch<B: Backend> {
    /// Number of lines.
    pub(crate) rows: usize,
    /// Characters, `[rows * length, d_model]`.
    pub(crate) given: Tensor<B, 2>,
    /// Hinted characters (any where free) and a mask with 1 where hinted, `[rows * length, d_model]` and
    /// `[rows * length, 1]`; `None` if no place is hinted.
    pub(crate) hints: Option<(Tensor<B, 2>, Tensor<B, 2>)>,
    /// 0 for upper to lower and 1 for lower to upper, `[rows]`.
    pub(crate) directions: Tensor<B, 1, Int>,
}

impl<B: Backend> AlignedTransformer<B> {
    /// A network with random weights: the same for the same sizes and seed, on any backend and whatever else the
    /// process draws.
    ///
    /// # Errors
    /// [`ModelError::Weights`] if the sizes do not fit together.
    pub fn new(config: &ModelConfig, seed: u64, device: &B::Device) -> Result<Self, ModelError> {
        Ok(draw_weights(Self::unset(config, device)?, config.d_model, config.layers(), seed))
    }

    /// A network whose weights are still to be set.
    fn unset(config: &ModelConfig, device: &B::Device) -> Result<Self, ModelError> {
        config.validate()?;
        let d = config.d_model;
        let table = |rows: usize| Initializer::Zeros.init([rows, d], device);
        let model = Self {
            embedding: table(config.vocabulary_size),
            from_start: table(config.max_length),
            from_end: table(config.max_length),
            direction: table(2),
            hint: linear(d, d, device),
            encoder: (0..config.encoder_layers).map(|_| Block::new(config, false, device)).collect(),
            encoder_norm: RmsNormConfig::new(d).init(device),
            align_memory: linear(d, d, device),
            align_source: linear(d, d, device),
            decoder: (0..config.decoder_layers).map(|_| Block::new(config, true, device)).collect(),
            decoder_norm: RmsNormConfig::new(d).init(device),
            precision: Precision::F32,
        };
        Ok(model)
    }

    /// Width of the hidden vectors.
    pub fn width(&self) -> usize {
        self.embedding.lazy_shape().dims::<2>()[1]
    }

    /// Embeds tokens with unit variance an element: `[tokens]` to `[tokens, d_model]`.
    pub(crate) fn embed(&self, tokens: Tensor<B, 1, Int>) -> Tensor<B, 2> {
        self.embedding.val().select(0, tokens) * (self.width() as f64).sqrt()
    }

    /// Position vectors of a line of this length, from both ends: `[length, d_model]`.
    pub(crate) fn positions(&self, length: usize) -> Tensor<B, 2> {
        self.from_start.val().narrow(0, 0, length) + self.from_end.val().narrow(0, 0, length).flip([0])
    }

    /// Adds the same `[length, d_model]` to each of `rows` lines in `[rows * length, d_model]`.
    fn add_to_rows(x: Tensor<B, 2>, added: Tensor<B, 2>, rows: usize) -> Tensor<B, 2> {
        let [length, d] = added.dims();
        (x.reshape([rows, length, d]) + added.unsqueeze::<3>()).reshape([rows * length, d])
    }

    /// Reads given lines.
    pub(crate) fn encode(&self, source: SourceBatch<B>, noise: Option<&Noise>) -> Memory<B> {
        let SourceBatch { rows, given, hints, directions } = source;
        let [total, d] = given.dims();
        let length = total / rows;
        let mut x = given.clone();
        if let Some((hinted, mask)) = hints {
            x = x + project(&self.hint, hinted, self.precision) * mask;
        }
        let direction = self.direction.val().select(0, directions).reshape([rows, 1, d]);
        x = (x.reshape([rows, length, d]) + direction + self.positions(length).unsqueeze::<3>())
            .reshape([total, d]);
        x = drop_out(x, noise);
        for block in &self.encoder {
            x = block.forward(x, rows, None, None, noise);
        }
        let memory = self.encoder_norm.forward(x);
        let aligned = project(&self.align_memory, memory.clone(), self.precision)
            + project(&self.align_source, given, self.precision);
        let layers = self
            .decoder
            .iter()
            .filter_map(|b| {
                let cross = b.cross.as_ref()?;
                Some(cross.project_memory(memory.clone(), rows, b.heads, self.precision))
            })
            .collect();
        Memory { aligned, layers }
    }

    /// Normalised decoder outputs for whole answers, `previous` being the embedded answers moved one place on.
    ///
    /// # Shapes
    /// - `previous`: `[rows * length, d_model]`
    /// - output: `[rows * length, d_model]`
    pub(crate) fn decode(
        &self,
        memory: &Memory<B>,
        previous: Tensor<B, 2>,
        rows: usize,
        noise: Option<&Noise>,
    ) -> Tensor<B, 2> {
        let length = previous.dims()[0] / rows;
        let x = previous + memory.aligned.clone();
        let x = Self::add_to_rows(x, self.positions(length), rows);
        let bias = causal_bias(length, &x.device());
        let mut x = drop_out(x, noise);
        for (block, layer) in self.decoder.iter().zip(&memory.layers) {
            x = block.forward(x, rows, Some(bias.clone()), Some(layer), noise);
        }
        self.decoder_norm.forward(x)
    }

    /// Hidden vectors of whole answers that are known.
    pub(crate) fn forward(&self, batch: &PreparedBatch<B>, embedded: &Tensor<B, 2>) -> Tensor<B, 2> {
        let (source, previous) = batch.inputs(embedded);
        let noise = batch.noise.as_ref();
        self.decode(&self.encode(source, noise), previous, batch.batch.rows, noise)
    }

    /// Scores of all tokens: `[n, d_model]` to `[n, vocabulary]`.
    pub(crate) fn logits(&self, hidden: Tensor<B, 2>) -> Tensor<B, 2> {
        hidden.matmul(self.embedding.val().transpose())
    }
}

impl<B: Backend> Network<B> for AlignedTransformer<B> {
    type Config = ModelConfig;

    fn drawn(config: &ModelConfig, seed: u64, device: &B::Device) -> Result<Self, ModelError> {
        Self::new(config, seed, device)
    }

    fn blank(config: &ModelConfig, device: &B::Device) -> Result<Self, ModelError> {
        Self::unset(config, device)
    }

    fn table(&self) -> &Param<Tensor<B, 2>> {
        &self.embedding
    }

    fn tokens(batch: &Batch) -> Vec<u16> {
        batch.embedded_tokens()
    }

    fn targets(batch: &Batch) -> Vec<Target> {
        batch.counted().into_iter().map(|place| Target { place, token: batch.asked[place] }).collect()
    }

    fn hidden(&self, batch: &PreparedBatch<B>, embedded: Tensor<B, 2>) -> Tensor<B, 2> {
        self.forward(batch, &embedded)
    }

    fn set_precision(&mut self, precision: Precision) {
        self.precision = precision;
        self.encoder.iter_mut().chain(&mut self.decoder).for_each(|block| block.set_precision(precision));
    }
}
