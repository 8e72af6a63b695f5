//! Batches on the host.

use burn::tensor::{Int, Tensor, TensorData, backend::Backend};
use duilian_core::{Direction, TokenId};
use duilian_tokenizer::CharTokenizer;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::network::{Noise, SourceBatch};

/// The first Han character's id; special tokens and marks stand before it.
pub(crate) const FIRST_HAN: u16 = CharTokenizer::FIRST_HAN.0;

/// One batch on the host: lines of one length, row by row.
///
/// ```
/// use duilian_core::{Direction, TokenId};
/// use duilian_model::Batch;
///
/// let mut batch = Batch::empty(2);
/// batch.push(&[14, 15].map(TokenId), &[16, 17].map(TokenId), &[false, true], Direction::UpperToLower);
/// assert_eq!((batch.rows, batch.asked.as_slice()), (1, &[16, 17][..]));
/// assert_eq!(batch.counted(), [0], "what is hinted is not learnt");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Number of pairs.
    pub rows: usize,
    /// Tokens of each line.
    pub length: usize,
    /// Given lines, `[rows * length]`.
    pub given: Vec<u16>,
    /// Asked-for lines, `[rows * length]`.
    pub asked: Vec<u16>,
    /// Whether the token of the asked-for line is told beforehand, `[rows * length]`.
    pub hinted: Vec<bool>,
    /// Direction by row.
    pub directions: Vec<Direction>,
}

impl Batch {
    /// A batch without rows for lines of a length.
    pub fn empty(length: usize) -> Self {
        Self { rows: 0, length, given: vec![], asked: vec![], hinted: vec![], directions: vec![] }
    }

    /// Adds a pair; all three slices are [`Batch::length`] long.
    pub fn push(&mut self, given: &[TokenId], asked: &[TokenId], hinted: &[bool], direction: Direction) {
        self.rows += 1;
        self.given.extend(given.iter().map(|t| t.0));
        self.asked.extend(asked.iter().map(|t| t.0));
        self.hinted.extend_from_slice(hinted);
        self.directions.push(direction);
    }

    /// Indices into [`Batch::asked`] of the places that count for the loss: Han characters of the asked-for lines
    /// that are known and not hinted. Marks are given by the rules and cost nothing.
    pub fn counted(&self) -> Vec<usize> {
        (0..self.asked.len()).filter(|&i| self.asked[i] >= FIRST_HAN && !self.hinted[i]).collect()
    }

    /// Splits the rows into at most `parts` runs of nearly equal size, in order.
    #[must_use]
    pub fn split(&self, parts: usize) -> Vec<Self> {
        let rows = self.rows.div_ceil(parts.max(1)).max(1);
        (0..self.rows)
            .step_by(rows)
            .map(|start| {
                let end = (start + rows).min(self.rows);
                let tokens = start * self.length..end * self.length;
                Self {
                    rows: end - start,
                    length: self.length,
                    given: self.given[tokens.clone()].to_vec(),
                    asked: self.asked[tokens.clone()].to_vec(),
                    hinted: self.hinted[tokens].to_vec(),
                    directions: self.directions[start..end].to_vec(),
                }
            })
            .collect()
    }

    /// All tokens that an aligned network embeds: given lines, answers moved one place on with the begin token
    /// first, and the answers themselves for hints if there is one; each `[rows * length]`.
    pub(crate) fn embedded_tokens(&self) -> Vec<u16> {
        let mut tokens = self.given.clone();
        for row in self.asked.chunks(self.length) {
            tokens.push(CharTokenizer::BOS.0);
            tokens.extend_from_slice(&row[..row.len() - 1]);
        }
        if self.hinted.contains(&true) {
            tokens.extend_from_slice(&self.asked);
        }
        tokens
    }
}

/// A token that a network is to predict from one of its hidden vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Row of the hidden vectors.
    pub place: usize,
    /// The token.
    pub token: u16,
}

/// A batch with what a network reads of it on the device: made ahead of its use, in another thread.
#[derive(Debug, Clone)]
pub struct PreparedBatch<B: Backend> {
    /// The batch on the host.
    pub batch: Batch,
    /// Tokens that the network embeds.
    pub tokens: Tensor<B, 1, Int>,
    /// What the network is to predict.
    pub targets: Vec<Target>,
    /// [`Target::place`] of all targets; `None` if there is no target.
    pub(crate) places: Option<Tensor<B, 1, Int>>,
    /// [`Target::token`] of all targets; `None` if there is no target.
    pub(crate) wanted: Option<Tensor<B, 1, Int>>,
    /// 0 for upper to lower and 1 for lower to upper, `[rows]`.
    pub directions: Tensor<B, 1, Int>,
    /// 1 where a token is hinted, `[rows * length, 1]`; `None` if none is.
    pub hint_mask: Option<Tensor<B, 2>>,
    /// What is dropped; `None` outside of training.
    pub(crate) noise: Option<Noise>,
}

impl<B: Backend> PreparedBatch<B> {
    /// Uploads a batch with the tokens and targets of a network.
    pub fn new(batch: Batch, tokens: &[u16], targets: Vec<Target>, device: &B::Device) -> Self {
        let column = |values: &mut dyn Iterator<Item = i32>| {
            let values: Vec<i32> = values.collect();
            (!values.is_empty()).then(|| Tensor::from_ints(values.as_slice(), device))
        };
        let hint_mask = batch.hinted.contains(&true).then(|| {
            let mask: Vec<f32> = batch.hinted.iter().map(|&h| f32::from(u8::from(h))).collect();
            let shape = [mask.len(), 1];
            Tensor::from_data(TensorData::new(mask, shape), device)
        });
        let directions = batch.directions.iter().map(|&d| u16::from(d == Direction::LowerToUpper));
        Self {
            tokens: ids(tokens.iter().copied(), device),
            places: column(&mut targets.iter().map(|t| t.place as i32)),
            wanted: column(&mut targets.iter().map(|t| i32::from(t.token))),
            directions: ids(directions, device),
            hint_mask,
            noise: None,
            targets,
            batch,
        }
    }

    /// Cuts embedded tokens of an aligned network into the encoder's and the decoder's input.
    pub(crate) fn inputs(&self, embedded: &Tensor<B, 2>) -> (SourceBatch<B>, Tensor<B, 2>) {
        let total = self.batch.given.len();
        let part = |i: usize| embedded.clone().narrow(0, i * total, total);
        let hints = self.hint_mask.clone().map(|mask| (part(2), mask));
        let source =
            SourceBatch { rows: self.batch.rows, given: part(0), hints, directions: self.directions.clone() };
        (source, part(1))
    }
}

/// Uploads ids as a tensor of rank 1.
pub(crate) fn ids<B: Backend>(values: impl Iterator<Item = u16>, device: &B::Device) -> Tensor<B, 1, Int> {
    let values: Vec<i32> = values.map(i32::from).collect();
    Tensor::from_ints(values.as_slice(), device)
}

/// An independent stream of random numbers for each purpose and number.
pub(crate) fn generator(seed: u64, purpose: u64, number: u64) -> ChaCha8Rng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&purpose.to_le_bytes());
    bytes[16..24].copy_from_slice(&number.to_le_bytes());
    ChaCha8Rng::from_seed(bytes)
}
