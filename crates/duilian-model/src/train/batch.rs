//! Which pairs make which batch: a pure function of seed and step.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{Int, Tensor, TensorData, backend::Backend};
use duilian_core::{Direction, TokenId};
use duilian_tokenizer::CharTokenizer;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::TrainConfig;
use crate::network::SourceBatch;
use crate::{ModelError, ShardSet};

/// The first Han character's id; special tokens and marks stand before it.
const FIRST_HAN: u16 = CharTokenizer::FIRST_HAN.0;

/// One batch on the host: lines of one length, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostBatch {
    pub(crate) rows: usize,
    pub(crate) length: usize,
    /// Given lines, `[rows * length]`.
    pub(crate) given: Vec<u16>,
    /// Asked-for lines, `[rows * length]`.
    pub(crate) asked: Vec<u16>,
    /// 1 where the token of the asked-for line is hinted, `[rows * length]`.
    pub(crate) hinted: Vec<bool>,
    /// Direction by row.
    pub(crate) directions: Vec<Direction>,
}

impl HostBatch {
    /// Indices of the places that count for the loss: Han characters of the asked-for lines that are known and
    /// not hinted. Marks are given by the rules and cost nothing.
    pub(crate) fn counted(&self) -> Vec<usize> {
        (0..self.asked.len()).filter(|&i| self.asked[i] >= FIRST_HAN && !self.hinted[i]).collect()
    }

    /// Splits the rows into at most `parts` runs of nearly equal size, in order.
    pub(crate) fn split(&self, parts: usize) -> Vec<Self> {
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

    /// All tokens that are embedded: given lines, answers moved one place on with the begin token first, and the
    /// answers themselves for hints if there is one; each `[rows * length]`.
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

    /// Cuts embedded [`HostBatch::embedded_tokens`] into the encoder's and the decoder's input.
    pub(crate) fn inputs<B: Backend>(
        &self,
        embedded: &Tensor<B, 2>,
        device: &B::Device,
    ) -> (SourceBatch<B>, Tensor<B, 2>) {
        let total = self.given.len();
        let part = |i: usize| embedded.clone().narrow(0, i * total, total);
        let hints = self.hinted.contains(&true).then(|| {
            let mask: Vec<f32> = self.hinted.iter().map(|&h| f32::from(u8::from(h))).collect();
            (part(2), Tensor::from_data(TensorData::new(mask, [total, 1]), device))
        });
        let directions = self.directions.iter().map(|&d| u16::from(d == Direction::LowerToUpper));
        let directions = ids::<B>(directions, device);
        (SourceBatch { rows: self.rows, given: part(0), hints, directions }, part(1))
    }
}

/// Uploads ids as a tensor of rank 1.
pub(crate) fn ids<B: Backend>(values: impl Iterator<Item = u16>, device: &B::Device) -> Tensor<B, 1, Int> {
    let values: Vec<i32> = values.map(i32::from).collect();
    Tensor::from_ints(values.as_slice(), device)
}

/// The plan of all epochs over a set of shards.
#[derive(Debug)]
pub(crate) struct BatchPlan {
    shards: Arc<ShardSet>,
    config: TrainConfig,
    /// Pair numbers by length, each as often as its source is to be seen in an epoch.
    numbers: BTreeMap<usize, Vec<u32>>,
    /// The epoch that is laid out, and its batches.
    epoch: u64,
    batches: Vec<(usize, Vec<u32>)>,
}

impl BatchPlan {
    /// Lays out the first epoch.
    ///
    /// # Errors
    /// [`ModelError::NoTrainingData`] if no pair is left.
    pub(crate) fn new(
        shards: Arc<ShardSet>,
        config: &TrainConfig,
        max_length: usize,
    ) -> Result<Self, ModelError> {
        let repeats: Vec<usize> =
            shards.sources().iter().map(|s| config.repeats.get(s).copied().unwrap_or(1)).collect();
        let mut numbers = BTreeMap::new();
        for (length, pairs) in shards.lengths().filter(|&(length, _)| length <= max_length) {
            let mut list = Vec::new();
            for number in 0..pairs {
                let source = shards.source(length, number).map_or(0, usize::from);
                list.extend(std::iter::repeat_n(number as u32, repeats[source]));
            }
            if !list.is_empty() {
                numbers.insert(length, list);
            }
        }
        if numbers.is_empty() {
            return Err(ModelError::NoTrainingData);
        }
        let mut plan = Self { shards, config: config.clone(), numbers, epoch: 0, batches: Vec::new() };
        plan.lay_out(0);
        Ok(plan)
    }

    /// Batches of an epoch; the same for every epoch.
    pub(crate) fn batches_per_epoch(&self) -> u64 {
        self.batches.len() as u64
    }

    fn lay_out(&mut self, epoch: u64) {
        let mut random = generator(self.config.seed, 1, epoch);
        let mut batches = Vec::new();
        for (&length, numbers) in &self.numbers {
            let mut numbers = numbers.clone();
            numbers.shuffle(&mut random);
            let rows = (self.config.batch_characters / length).max(1);
            batches.extend(numbers.chunks(rows).map(|chunk| (length, chunk.to_vec())));
        }
        batches.shuffle(&mut random);
        self.epoch = epoch;
        self.batches = batches;
    }

    /// The batch of a step, counted from 0 over all epochs.
    pub(crate) fn batch(&mut self, step: u64) -> HostBatch {
        let epoch = step / self.batches_per_epoch();
        if epoch != self.epoch {
            self.lay_out(epoch);
        }
        let (length, numbers) = &self.batches[(step % self.batches_per_epoch()) as usize];
        let mut random = generator(self.config.seed, 2, step);
        let mut batch = HostBatch::empty(*length);
        for &number in numbers {
            let pair = self.shards.get(*length, number as usize).expect("numbers come from the shards");
            let reversed = random.random_bool(self.config.reversed_share);
            let direction = if reversed { Direction::LowerToUpper } else { Direction::UpperToLower };
            let (given, asked) = if reversed { (pair.lower, pair.upper) } else { (pair.upper, pair.lower) };
            let hinted = draw_hints(&asked, self.config.hinted_share, &mut random);
            batch.push(&given, &asked, &hinted, direction);
        }
        batch
    }
}

impl HostBatch {
    pub(crate) fn empty(length: usize) -> Self {
        Self { rows: 0, length, given: vec![], asked: vec![], hinted: vec![], directions: vec![] }
    }

    pub(crate) fn push(
        &mut self,
        given: &[TokenId],
        asked: &[TokenId],
        hinted: &[bool],
        direction: Direction,
    ) {
        self.rows += 1;
        self.given.extend(given.iter().map(|t| t.0));
        self.asked.extend(asked.iter().map(|t| t.0));
        self.hinted.extend_from_slice(hinted);
        self.directions.push(direction);
    }
}

/// Draws hinted places for a share of the pairs: each Han place with a chance that is itself drawn between
/// none and all, so that few and many hints both occur.
fn draw_hints(asked: &[TokenId], share: f64, random: &mut ChaCha8Rng) -> Vec<bool> {
    if !random.random_bool(share) {
        return vec![false; asked.len()];
    }
    let chance: f64 = random.random();
    asked.iter().map(|t| t.0 >= FIRST_HAN && random.random_bool(chance)).collect()
}

/// An independent stream of random numbers for each purpose and number.
pub(crate) fn generator(seed: u64, purpose: u64, number: u64) -> ChaCha8Rng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&purpose.to_le_bytes());
    bytes[16..24].copy_from_slice(&number.to_le_bytes());
    ChaCha8Rng::from_seed(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ShardWriter;

    fn plan(config: &TrainConfig) -> BatchPlan {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut writer = ShardWriter::new(200);
        for i in 0..50_u16 {
            let line = |first: u16| (0..=i % 3).map(|_| TokenId(first + i)).collect::<Vec<_>>();
            writer.push(&line(14), &line(64), if i < 10 { "often" } else { "once" }).expect("valid");
        }
        writer.finish(folder.path()).expect("writes");
        let shards = Arc::new(ShardSet::open(folder.path()).expect("opens"));
        BatchPlan::new(shards, config, 64).expect("has pairs")
    }

    fn config() -> TrainConfig {
        TrainConfig {
            batch_characters: 16,
            repeats: [("often".to_owned(), 3)].into(),
            ..TrainConfig::default()
        }
    }

    #[test]
    fn a_batch_follows_from_seed_and_step() {
        let (mut forward, mut backward) = (plan(&config()), plan(&config()));
        let steps = 3 * forward.batches_per_epoch();
        let one: Vec<HostBatch> = (0..steps).map(|s| forward.batch(s)).collect();
        let mut other: Vec<HostBatch> = (0..steps).rev().map(|s| backward.batch(s)).collect();
        other.reverse();
        assert_eq!(one, other);
        let mut reseeded = plan(&TrainConfig { seed: 43, ..config() });
        assert_ne!(one, (0..steps).map(|s| reseeded.batch(s)).collect::<Vec<_>>());
    }

    #[test]
    fn an_epoch_shows_each_pair_as_often_as_its_source_says() {
        let mut plan = plan(&TrainConfig { reversed_share: 0.0, ..config() });
        let mut seen = BTreeMap::<u16, usize>::new();
        for step in 0..plan.batches_per_epoch() {
            let batch = plan.batch(step);
            assert!(batch.given.len() <= 16 && batch.given.len() == batch.rows * batch.length);
            for row in batch.given.chunks(batch.length) {
                *seen.entry(row[0]).or_default() += 1;
            }
        }
        for (first, times) in seen {
            assert_eq!(times, if first < 24 { 3 } else { 1 }, "pair {first}");
        }
    }

    #[test]
    fn shares_are_kept_and_both_sides_turn_together() {
        let mut plan = plan(&TrainConfig { reversed_share: 0.3, hinted_share: 0.5, ..config() });
        let (mut reversed, mut rows) = (0, 0);
        for step in 0..50 * plan.batches_per_epoch() {
            let batch = plan.batch(step);
            rows += batch.rows;
            for (row, direction) in batch.given.chunks(batch.length).zip(&batch.directions) {
                let from_lower = row[0] >= 64;
                assert_eq!(from_lower, *direction == Direction::LowerToUpper);
                reversed += usize::from(from_lower);
            }
        }
        let share = reversed as f64 / rows as f64;
        assert!((share - 0.3).abs() < 0.03, "{share}");
    }

    #[test]
    fn splitting_keeps_rows_in_order() {
        let batch = plan(&config()).batch(0);
        for parts in 1..5 {
            let pieces = batch.split(parts);
            assert!(pieces.len() <= parts);
            let joined: Vec<u16> = pieces.iter().flat_map(|p| p.given.clone()).collect();
            assert_eq!(joined, batch.given);
            assert_eq!(pieces.iter().map(|p| p.rows).sum::<usize>(), batch.rows);
        }
    }
}
