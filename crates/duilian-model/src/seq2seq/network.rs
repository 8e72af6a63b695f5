//! The network of the baseline.

use burn::module::{Initializer, Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::softmax;
use burn::tensor::{Int, Tensor, backend::Backend};
use duilian_tokenizer::CharTokenizer;

use super::lstm::{CellState, Lstm};
use super::{END, Seq2SeqConfig};
use crate::network::{draw_weights, linear};
use crate::train::{Batch, FIRST_HAN, PreparedBatch, Target};
use crate::{ModelError, Network, NetworkConfig};

/// Encoder-decoder of long short-term memories with attention: what answered couplets on the web in 2017, so that
/// newer networks can be measured against it.
///
/// The first layer of the encoder reads in both directions, half of the units each, those above it forwards (Wu et
/// al. 2016). Each layer of the decoder starts from the last state of the encoder's. Its top layer looks at the given
/// line (Luong et al. 2015, "general", without input feeding), and the answer ends with an end token: nothing tells
/// the network how long it must be. Hints are not read.
///
/// ```
/// use duilian_model::{AttentionSeq2Seq, DefaultBackend, Network, Seq2SeqConfig};
///
/// let config = Seq2SeqConfig::tiny(50);
/// let model = AttentionSeq2Seq::<DefaultBackend>::drawn(&config, 42, &Default::default())?;
/// assert_eq!(model.table().val().dims(), [50, 32]);
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
#[derive(Module, Debug)]
pub struct AttentionSeq2Seq<B: Backend> {
    pub(crate) embedding: Param<Tensor<B, 2>>,
    pub(crate) direction: Param<Tensor<B, 2>>,
    pub(crate) forwards: Lstm<B>,
    pub(crate) backwards: Lstm<B>,
    /// Layers of the encoder above the first.
    pub(crate) encoder: Vec<Lstm<B>>,
    pub(crate) decoder: Vec<Lstm<B>>,
    pub(crate) attention: Linear<B>,
    pub(crate) combine: Linear<B>,
}

/// What the encoder makes of given lines.
#[derive(Debug, Clone)]
pub(crate) struct Encoded<B: Backend> {
    /// Outputs of the top layer, `[rows, length, units]`.
    pub(crate) memory: Tensor<B, 3>,
    /// Last states by layer.
    pub(crate) states: Vec<CellState<B>>,
}

impl<B: Backend> AttentionSeq2Seq<B> {
    fn unset(config: &Seq2SeqConfig, device: &B::Device) -> Result<Self, ModelError> {
        config.check()?;
        let units = config.units;
        let layers = |count: usize| (0..count).map(|_| Lstm::new(units, units, device)).collect();
        Ok(Self {
            embedding: Initializer::Zeros.init([config.vocabulary_size, units], device),
            direction: Initializer::Zeros.init([2, units], device),
            forwards: Lstm::new(units, units / 2, device),
            backwards: Lstm::new(units, units / 2, device),
            encoder: layers(config.layers - 1),
            decoder: layers(config.layers),
            attention: linear(units, units, device),
            combine: linear(2 * units, units, device),
        })
    }

    /// Reads given lines.
    ///
    /// # Shapes
    /// - `given`: embedded characters, `[rows * length, units]`
    /// - `directions`: `[rows]`
    pub(crate) fn encode(&self, given: Tensor<B, 2>, directions: Tensor<B, 1, Int>) -> Encoded<B> {
        let rows = directions.dims()[0];
        let [places, units] = given.dims();
        let device = given.device();
        let length = places / rows;
        let direction = self.direction.val().select(0, directions).reshape([rows, 1, units]);
        let x = (given.reshape([rows, length, units]) + direction).reshape([places, units]);
        let start = || CellState::zeros(rows, units / 2, &device);
        let (ahead, ahead_end) = self.forwards.read(x.clone(), start(), false);
        let (back, back_end) = self.backwards.read(x, start(), true);
        let both = |a, b| Tensor::cat(vec![a, b], 1);
        let mut states = vec![CellState {
            hidden: both(ahead_end.hidden, back_end.hidden),
            cell: both(ahead_end.cell, back_end.cell),
        }];
        let mut x = both(ahead, back);
        for layer in &self.encoder {
            let (output, state) = layer.read(x, CellState::zeros(rows, units, &device), false);
            x = output;
            states.push(state);
        }
        Encoded { memory: x.reshape([rows, length, units]), states }
    }

    /// Looks at the given lines: outputs of the decoder's top layer, `[rows * places, units]`, to hidden vectors of
    /// the same shape.
    pub(crate) fn attend(&self, top: Tensor<B, 2>, memory: Tensor<B, 3>) -> Tensor<B, 2> {
        let [rows, _, units] = memory.dims();
        let total = top.dims()[0];
        let query = self.attention.forward(top.clone()).reshape([rows, total / rows, units]);
        let weights = softmax(query.matmul(memory.clone().transpose()), 2);
        let context = weights.matmul(memory).reshape([total, units]);
        self.combine.forward(Tensor::cat(vec![context, top], 1)).tanh()
    }
}

/// Characters of an answer before its padding.
fn answer_length(answer: &[u16]) -> usize {
    answer.iter().position(|&t| t == CharTokenizer::PAD.0).unwrap_or(answer.len())
}

impl<B: Backend> Network<B> for AttentionSeq2Seq<B> {
    type Config = Seq2SeqConfig;

    fn drawn(config: &Seq2SeqConfig, seed: u64, device: &B::Device) -> Result<Self, ModelError> {
        Ok(draw_weights(Self::unset(config, device)?, config.units, 2 * config.layers, seed))
    }

    fn blank(config: &Seq2SeqConfig, device: &B::Device) -> Result<Self, ModelError> {
        Self::unset(config, device)
    }

    fn table(&self) -> &Param<Tensor<B, 2>> {
        &self.embedding
    }

    /// Given lines, then answers behind the begin token.
    fn tokens(batch: &Batch) -> Vec<u16> {
        let mut tokens = batch.given.clone();
        for row in batch.asked.chunks(batch.length) {
            tokens.push(CharTokenizer::BOS.0);
            tokens.extend_from_slice(row);
        }
        tokens
    }

    /// Characters and marks of the answers, and their ends.
    fn targets(batch: &Batch) -> Vec<Target> {
        let mut targets = Vec::new();
        for (row, answer) in batch.asked.chunks(batch.length).enumerate() {
            let first = row * (batch.length + 1);
            let length = answer_length(answer);
            let known = |&t: &u16| t >= FIRST_HAN || (CharTokenizer::FIRST_MARK.0..FIRST_HAN).contains(&t);
            let places = answer[..length].iter().enumerate().filter(|(_, t)| known(t));
            targets.extend(places.map(|(i, &token)| Target { place: first + i, token }));
            targets.push(Target { place: first + length, token: END.0 });
        }
        targets
    }

    fn hidden(&self, batch: &PreparedBatch<B>, embedded: Tensor<B, 2>) -> Tensor<B, 2> {
        let Batch { rows, length, .. } = batch.batch;
        let given = embedded.clone().narrow(0, 0, rows * length);
        let mut x = embedded.narrow(0, rows * length, rows * (length + 1));
        let Encoded { memory, states } = self.encode(given, batch.directions.clone());
        for (layer, state) in self.decoder.iter().zip(states) {
            x = layer.read(x, state, false).0;
        }
        self.attend(x, memory)
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use duilian_core::{Direction, TokenId};

    use super::*;

    type Model = AttentionSeq2Seq<crate::DefaultBackend>;

    #[test]
    fn answers_end_where_their_padding_begins() {
        let mut batch = Batch::empty(3);
        batch.push(&[14; 3].map(TokenId), &[20, 4, 0].map(TokenId), &[false; 3], Direction::UpperToLower);
        batch.push(&[14; 3].map(TokenId), &[1, 21, 22].map(TokenId), &[false; 3], Direction::UpperToLower);
        let targets: Vec<(usize, u16)> = Model::targets(&batch).iter().map(|t| (t.place, t.token)).collect();
        // The unknown character of the second answer is not learnt.
        assert_eq!(targets, [(0, 20), (1, 4), (2, END.0), (5, 21), (6, 22), (7, END.0)]);
        assert_eq!(Model::tokens(&batch)[6..], [2, 20, 4, 0, 2, 1, 21, 22]);
    }
}
