//! The network's weights, packed once.

use duilian_weights::{ModelConfig, ModelWeights, StoredTensor, TensorValues};
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::kernel::{
    Codes, Level, Output, PackedF32, PackedInt8, Store, Table8, candidates_f32, candidates_int8, log_softmax,
    product_f32, product_int8, quantise, refined_log_softmax,
};

/// In which numbers products are computed. All else is in single precision.
///
/// ```
/// assert_eq!(duilian_engine::Precision::default(), duilian_engine::Precision::Int8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single precision.
    F32,
    /// Weights as signed bytes with one scale an output; what is multiplied with them in 16 bits, each row with a
    /// range of its own. Answers are those of single precision but for one in hundreds. The default.
    #[default]
    Int8,
    /// As [`Precision::Int8`], but multiplied in 8 bits: twice as fast where many rows are computed together, and no
    /// worse by loss. Of two answers that are about as good it may prefer the other one.
    Int8Fast,
}

impl Precision {
    /// Bytes of a number that is multiplied with 8-bit weights.
    fn bytes(self) -> usize {
        if self == Self::Int8Fast { 1 } else { 2 }
    }
}

/// How far below the best one scores are that are computed again without rounding, in nats.
const REACH: f32 = 1.0;

/// A matrix that rows are multiplied with.
#[derive(Debug)]
pub(crate) enum Linear {
    F32(PackedF32),
    /// With the bytes of a number that it is multiplied with.
    Int8(PackedInt8, usize),
}

impl Linear {
    /// The columns of one or more layers side by side; each is `[inputs, outputs]`.
    fn new(
        precision: Precision,
        weights: &ModelWeights,
        inputs: usize,
        layers: &[(String, usize)],
    ) -> Result<Self, EngineError> {
        let tensors = layers
            .iter()
            .map(|(name, outputs)| matrix(weights, name, inputs, *outputs))
            .collect::<Result<Vec<_>, EngineError>>()?;
        let columns: Vec<(usize, usize)> =
            layers.iter().enumerate().flat_map(|(i, (_, n))| (0..*n).map(move |c| (i, c))).collect();
        Ok(match precision {
            Precision::F32 => {
                let values: Vec<_> = tensors.iter().map(|t| t.to_f32()).collect();
                Self::F32(PackedF32::new(inputs, columns.len(), |input, output| {
                    let (layer, column) = columns[output];
                    values[layer][input * layers[layer].1 + column]
                }))
            }
            Precision::Int8 | Precision::Int8Fast => {
                let small: Vec<_> = tensors.iter().map(|t| int8(t, 1)).collect();
                Self::Int8(
                    PackedInt8::new(inputs, columns.len(), |output, bytes| {
                        let (layer, column) = columns[output];
                        let (values, scales) = parts(&small[layer]);
                        let lines = values.chunks_exact(layers[layer].1);
                        bytes.iter_mut().zip(lines).for_each(|(slot, line)| *slot = line[column]);
                        scales[column]
                    }),
                    precision.bytes(),
                )
            }
        })
    }

    /// Multiplies rows; `codes` is room for their 8-bit form.
    pub(crate) fn apply(
        &self,
        level: Level,
        x: &[f32],
        inputs: usize,
        codes: &mut Codes,
        output: Output<'_>,
    ) {
        match self {
            Self::F32(matrix) => product_f32(level, x, matrix, output),
            Self::Int8(matrix, bytes) => {
                quantise(level, x, inputs, *bytes, codes);
                product_int8(level, codes, matrix, output);
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::F32(matrix) => matrix.bytes(),
            Self::Int8(matrix, _) => matrix.bytes(),
        }
    }
}

/// The embedding, which serves as the output layer too.
#[derive(Debug)]
pub(crate) enum Embedding {
    F32 { rows: Vec<f32>, packed: PackedF32 },
    Int8 { rows: Table8, packed: PackedInt8 },
}

impl Embedding {
    fn new(precision: Precision, weights: &ModelWeights, config: &ModelConfig) -> Result<Self, EngineError> {
        let (size, d) = (config.vocabulary_size, config.d_model);
        let tensor = matrix(weights, "embedding", size, d)?;
        Ok(match precision {
            Precision::F32 => {
                let rows = tensor.to_f32().into_owned();
                let packed = PackedF32::new(d, size, |input, output| rows[output * d + input]);
                Self::F32 { rows, packed }
            }
            Precision::Int8 | Precision::Int8Fast => {
                let tensor = int8(tensor, 0);
                let (bytes, scales) = parts(&tensor);
                let rows = Table8::new(d, bytes, scales);
                let packed = PackedInt8::new(d, size, |output, column| {
                    let (bytes, scale) = rows.row(output);
                    column.copy_from_slice(bytes);
                    scale
                });
                Self::Int8 { rows, packed }
            }
        })
    }

    /// Writes the row of a token times `factor`.
    pub(crate) fn look_up(&self, token: usize, factor: f32, out: &mut [f32]) {
        match self {
            Self::F32 { rows, .. } => {
                let row = rows[token * out.len()..].iter();
                out.iter_mut().zip(row).for_each(|(out, value)| *out = value * factor);
            }
            Self::Int8 { rows, .. } => rows.look_up(token, factor, out),
        }
    }

    /// Log-probabilities of all tokens, or of some among themselves: `x` is `[rows, d]`, `out` `[rows, tokens]`.
    pub(crate) fn log_probs(
        &self,
        level: Level,
        x: &[f32],
        d: usize,
        candidates: Option<&[u16]>,
        codes: &mut Codes,
        out: &mut [f32],
    ) {
        let rows = x.len() / d;
        let tokens = out.len() / rows.max(1);
        match self {
            Self::F32 { rows: table, packed } => {
                match candidates {
                    Some(list) => candidates_f32(level, x, d, table, list, out),
                    None => {
                        let output = Output { values: &mut *out, stride: tokens, store: Store::Set };
                        product_f32(level, x, packed, output);
                    }
                }
                log_softmax(level, out, tokens);
            }
            Self::Int8 { rows: table, packed } => {
                // One byte a number will do for finding the best ones.
                quantise(level, x, d, 1, codes);
                match candidates {
                    Some(list) => candidates_int8(level, codes, (0, rows), table, list, out),
                    None => {
                        let output = Output { values: &mut *out, stride: tokens, store: Store::Set };
                        product_int8(level, codes, packed, output);
                    }
                }
                refined_log_softmax(level, x, d, table, candidates, REACH, out);
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::F32 { rows, packed } => rows.len() * size_of::<f32>() + packed.bytes(),
            Self::Int8 { rows, packed } => rows.bytes() + packed.bytes(),
        }
    }
}

/// One layer of encoder or decoder.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) self_norm: Vec<f32>,
    pub(crate) self_qkv: Linear,
    pub(crate) self_out: Linear,
    pub(crate) cross: Option<Cross>,
    pub(crate) ff_norm: Vec<f32>,
    pub(crate) ff_in: Linear,
    pub(crate) ff_out: Linear,
}

/// Attention of the answer to the given line; its keys and values are in [`Network::memory`].
#[derive(Debug)]
pub(crate) struct Cross {
    pub(crate) norm: Vec<f32>,
    pub(crate) query: Linear,
    pub(crate) out: Linear,
}

impl Block {
    fn new(
        precision: Precision,
        weights: &ModelWeights,
        path: &str,
        cross: bool,
    ) -> Result<Self, EngineError> {
        let (d, ff) = (weights.config().d_model, weights.config().d_ff);
        let norm = |name: &str| vector(weights, &format!("{path}.{name}.gamma"), d);
        let linear = |name: &str, inputs: usize, outputs: usize| {
            Linear::new(precision, weights, inputs, &[(format!("{path}.{name}.weight"), outputs)])
        };
        let cross = if cross {
            Some(Cross {
                norm: norm("cross.norm")?,
                query: linear("cross.query", d, d)?,
                out: linear("cross.out", d, d)?,
            })
        } else {
            None
        };
        Ok(Self {
            self_norm: norm("self_norm")?,
            self_qkv: linear("self_qkv", d, 3 * d)?,
            self_out: linear("self_out", d, d)?,
            cross,
            ff_norm: norm("ff_norm")?,
            ff_in: linear("ff_in", d, ff)?,
            ff_out: linear("ff_out", ff, d)?,
        })
    }

    fn bytes(&self) -> usize {
        let own = [&self.self_qkv, &self.self_out, &self.ff_in, &self.ff_out];
        let cross = self.cross.iter().flat_map(|cross| [&cross.query, &cross.out]);
        own.into_iter().chain(cross).map(Linear::bytes).sum()
    }
}

/// All weights.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) config: ModelConfig,
    pub(crate) embedding: Embedding,
    pub(crate) from_start: Vec<f32>,
    pub(crate) from_end: Vec<f32>,
    pub(crate) direction: Vec<f32>,
    pub(crate) hint: Linear,
    pub(crate) encoder: Vec<Block>,
    pub(crate) encoder_norm: Vec<f32>,
    /// What a place of the encoder's output becomes, in one product: keys and values for each decoder layer, then
    /// what is added to the decoder's input.
    pub(crate) memory: Linear,
    pub(crate) align_source: Linear,
    pub(crate) decoder: Vec<Block>,
    pub(crate) decoder_norm: Vec<f32>,
}

impl Network {
    pub(crate) fn new(weights: &ModelWeights, precision: Precision) -> Result<Self, EngineError> {
        let config = weights.config().clone();
        config.validate()?;
        let d = config.d_model;
        let linear = |layers: &[(String, usize)]| Linear::new(precision, weights, d, layers);
        let table = |name: &str, rows: usize| {
            Ok::<_, EngineError>(matrix(weights, name, rows, d)?.to_f32().into_owned())
        };
        let blocks = |name: &str, count: usize, cross: bool| {
            (0..count)
                .map(|i| Block::new(precision, weights, &format!("{name}.{i}"), cross))
                .collect::<Result<Vec<_>, EngineError>>()
        };
        let mut memory: Vec<(String, usize)> = (0..config.decoder_layers)
            .map(|i| (format!("decoder.{i}.cross.key_value.weight"), 2 * d))
            .collect();
        memory.push(("align_memory.weight".to_owned(), d));
        let network = Self {
            embedding: Embedding::new(precision, weights, &config)?,
            from_start: table("from_start", config.max_length)?,
            from_end: table("from_end", config.max_length)?,
            direction: table("direction", 2)?,
            hint: linear(&[("hint.weight".to_owned(), d)])?,
            encoder: blocks("encoder", config.encoder_layers, false)?,
            encoder_norm: vector(weights, "encoder_norm.gamma", d)?,
            memory: linear(&memory)?,
            align_source: linear(&[("align_source.weight".to_owned(), d)])?,
            decoder: blocks("decoder", config.decoder_layers, true)?,
            decoder_norm: vector(weights, "decoder_norm.gamma", d)?,
            config,
        };
        Ok(network)
    }

    /// Numbers that a place of the encoder's output becomes.
    pub(crate) fn memory_width(&self) -> usize {
        (2 * self.decoder.len() + 1) * self.config.d_model
    }

    /// Bytes of all packed matrices.
    pub(crate) fn bytes(&self) -> usize {
        let blocks = self.encoder.iter().chain(&self.decoder).map(Block::bytes).sum::<usize>();
        let others = [&self.hint, &self.memory, &self.align_source].map(Linear::bytes);
        let tables = self.from_start.len() + self.from_end.len() + self.direction.len();
        self.embedding.bytes() + blocks + others.iter().sum::<usize>() + tables * size_of::<f32>()
    }
}

fn matrix<'a>(
    weights: &'a ModelWeights,
    name: &str,
    rows: usize,
    columns: usize,
) -> Result<&'a StoredTensor, EngineError> {
    shaped(weights, name, &[rows, columns])
}

fn vector(weights: &ModelWeights, name: &str, length: usize) -> Result<Vec<f32>, EngineError> {
    Ok(shaped(weights, name, &[length])?.to_f32().into_owned())
}

fn shaped<'a>(
    weights: &'a ModelWeights,
    name: &str,
    shape: &[usize],
) -> Result<&'a StoredTensor, EngineError> {
    let tensor = weights.tensor(name)?;
    if tensor.shape() == shape {
        return Ok(tensor);
    }
    let reason = format!("has shape {:?}, the model wants {shape:?}", tensor.shape());
    Err(weights.wrong(name, &reason).into())
}

/// The tensor in 8 bits, as it is if it is stored so.
fn int8(tensor: &StoredTensor, axis: usize) -> std::borrow::Cow<'_, StoredTensor> {
    match tensor.values() {
        TensorValues::Int8 { axis: own, .. } if *own == axis => std::borrow::Cow::Borrowed(tensor),
        _ => std::borrow::Cow::Owned(tensor.to_int8(axis)),
    }
}

fn parts(tensor: &StoredTensor) -> (&[i8], &[f32]) {
    match tensor.values() {
        TensorValues::Int8 { bytes, scales, .. } => (bytes, scales),
        // `int8` has made it so; an empty matrix has no columns to ask for.
        TensorValues::F32(_) | TensorValues::F16(_) => (&[], &[]),
    }
}
