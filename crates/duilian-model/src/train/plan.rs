//! Which pairs make which batch: a pure function of seed and step.

use std::sync::Arc;

use duilian_core::{Direction, TokenId};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::TrainConfig;
use super::batch::{Batch, FIRST_HAN, generator};
use super::permutation::Permutation;
use crate::{ModelError, ShardSet};

/// Purposes of the streams of random numbers.
const ORDER_OF_BATCHES: u64 = 1;
const AUGMENTATION: u64 = 2;
const ORDER_OF_PAIRS: u64 = 3;

/// The order of all pairs in all epochs. Its memory does not grow with the number of pairs: what is shuffled are
/// numbers, by permutations that are computed where they are asked.
#[derive(Debug)]
pub(crate) struct BatchPlan {
    shards: Arc<ShardSet>,
    config: TrainConfig,
    buckets: Vec<Bucket>,
    batches: u64,
}

/// All pairs of one length.
#[derive(Debug)]
struct Bucket {
    length: usize,
    /// Pairs in a full batch.
    rows: u64,
    /// Number of the source, its pairs, and how often an epoch shows each.
    parts: Vec<(usize, u64, u64)>,
    /// Pairs that an epoch shows.
    shown: u64,
    /// Batches of the buckets before this one.
    batches_before: u64,
}

impl Bucket {
    /// The source and the number in it of the `index`th pair that an epoch shows, before shuffling.
    fn pair(&self, mut index: u64) -> (usize, usize) {
        for &(source, pairs, repeats) in &self.parts {
            if index < pairs * repeats {
                return (source, (index % pairs) as usize);
            }
            index -= pairs * repeats;
        }
        unreachable!("indices are below the number of pairs shown")
    }
}

impl BatchPlan {
    /// Lays out the epochs.
    ///
    /// # Errors
    /// [`ModelError::NoTrainingData`] if no pair is left.
    pub(crate) fn new(
        shards: Arc<ShardSet>,
        config: &TrainConfig,
        max_length: usize,
    ) -> Result<Self, ModelError> {
        let repeats: Vec<u64> =
            shards.sources().iter().map(|s| config.repeats.get(s).copied().unwrap_or(1) as u64).collect();
        let mut buckets = Vec::<Bucket>::new();
        let wanted = |s: &crate::Segment| s.length <= max_length && repeats[s.source] > 0;
        for segment in shards.segments().filter(wanted) {
            if buckets.last().is_none_or(|bucket| bucket.length != segment.length) {
                let rows = (config.batch_characters / segment.length).max(1) as u64;
                let length = segment.length;
                buckets.push(Bucket { length, rows, parts: Vec::new(), shown: 0, batches_before: 0 });
            }
            if let Some(bucket) = buckets.last_mut() {
                let part = (segment.source, segment.pairs as u64, repeats[segment.source]);
                bucket.parts.push(part);
                bucket.shown += part.1 * part.2;
            }
        }
        let mut batches = 0;
        for bucket in &mut buckets {
            bucket.batches_before = batches;
            batches += bucket.shown.div_ceil(bucket.rows);
        }
        if batches == 0 {
            return Err(ModelError::NoTrainingData);
        }
        Ok(Self { shards, config: config.clone(), buckets, batches })
    }

    /// Batches of an epoch; the same for every epoch.
    #[cfg(test)]
    pub(crate) fn batches_per_epoch(&self) -> u64 {
        self.batches
    }

    /// The batch with a number, counted from 0 over all epochs.
    ///
    /// # Errors
    /// [`ModelError::UnknownToken`] if a shard that was not checked on opening is damaged.
    pub(crate) fn batch(&self, number: u64) -> Result<Batch, ModelError> {
        let seed = self.config.seed;
        let (epoch, in_epoch) = (number / self.batches, number % self.batches);
        let place = Permutation::new(self.batches, seed, ORDER_OF_BATCHES, epoch).at(in_epoch);
        let bucket = &self.buckets[self.buckets.partition_point(|b| b.batches_before <= place) - 1];
        // No two lengths and epochs share an order: lines have fewer than 2^16 characters.
        let order =
            Permutation::new(bucket.shown, seed, ORDER_OF_PAIRS, (epoch << 16) + bucket.length as u64);
        let first = (place - bucket.batches_before) * bucket.rows;
        let mut random = generator(seed, AUGMENTATION, number);
        let mut batch = Batch::empty(bucket.length);
        for index in first..(first + bucket.rows).min(bucket.shown) {
            let (source, pair) = bucket.pair(order.at(index));
            let pair = self.shards.get(bucket.length, source, pair).expect("numbers come from the shards");
            let reversed = random.random_bool(self.config.reversed_share);
            let direction = if reversed { Direction::LowerToUpper } else { Direction::UpperToLower };
            let (given, asked) = if reversed { (pair.lower, pair.upper) } else { (pair.upper, pair.lower) };
            let hinted = draw_hints(&asked, self.config.hinted_share, &mut random);
            batch.push(&given, &asked, &hinted, direction);
        }
        let size = self.shards.vocabulary_size();
        let tokens = batch.given.iter().chain(&batch.asked);
        match tokens.copied().enumerate().find(|&(_, id)| usize::from(id) >= size) {
            Some((i, id)) => Err(ModelError::UnknownToken { id, place: i % batch.length + 1, size }),
            None => Ok(batch),
        }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ShardWriter;

    fn plan(config: &TrainConfig) -> BatchPlan {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut writer = ShardWriter::create(folder.path(), 200).expect("makes");
        for i in 0..50_u16 {
            let line = |first: u16| (0..=i % 3).map(|_| TokenId(first + i)).collect::<Vec<_>>();
            writer.push(&line(14), &line(64), if i < 10 { "often" } else { "once" }).expect("valid");
        }
        writer.finish().expect("writes");
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

    fn batches(plan: &BatchPlan, numbers: impl Iterator<Item = u64>) -> Vec<Batch> {
        numbers.map(|number| plan.batch(number).expect("known tokens")).collect()
    }

    #[test]
    fn a_batch_follows_from_seed_and_step() {
        let (forward, backward) = (plan(&config()), plan(&config()));
        let steps = 3 * forward.batches_per_epoch();
        let one = batches(&forward, 0..steps);
        let mut other = batches(&backward, (0..steps).rev());
        other.reverse();
        assert_eq!(one, other);
        let reseeded = plan(&TrainConfig { seed: 43, ..config() });
        assert_ne!(one, batches(&reseeded, 0..steps));
        let epoch = forward.batches_per_epoch() as usize;
        assert_ne!(one[..epoch], one[epoch..2 * epoch], "each epoch has an order of its own");
    }

    #[test]
    fn an_epoch_shows_each_pair_as_often_as_its_source_says() {
        let plan = plan(&TrainConfig { reversed_share: 0.0, ..config() });
        for epoch in 0..2 {
            let mut seen = BTreeMap::<u16, usize>::new();
            let first = epoch * plan.batches_per_epoch();
            for batch in batches(&plan, first..first + plan.batches_per_epoch()) {
                assert!(batch.given.len() <= 16 && batch.given.len() == batch.rows * batch.length);
                for row in batch.given.chunks(batch.length) {
                    *seen.entry(row[0]).or_default() += 1;
                }
            }
            assert_eq!(seen.len(), 50);
            for (first, times) in seen {
                assert_eq!(times, if first < 24 { 3 } else { 1 }, "pair {first}");
            }
        }
        let nothing = TrainConfig { repeats: [("often".into(), 0), ("once".into(), 0)].into(), ..config() };
        let shards = Arc::clone(&plan.shards);
        assert!(matches!(BatchPlan::new(shards, &nothing, 64), Err(ModelError::NoTrainingData)));
    }

    #[test]
    fn shares_are_kept_and_both_sides_turn_together() {
        let plan = plan(&TrainConfig { reversed_share: 0.3, hinted_share: 0.5, ..config() });
        let (mut reversed, mut rows) = (0, 0);
        for batch in batches(&plan, 0..50 * plan.batches_per_epoch()) {
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
        let batch = plan(&config()).batch(0).expect("known tokens");
        for parts in 1..5 {
            let pieces = batch.split(parts);
            assert!(pieces.len() <= parts);
            let joined: Vec<u16> = pieces.iter().flat_map(|p| p.given.clone()).collect();
            assert_eq!(joined, batch.given);
            assert_eq!(pieces.iter().map(|p| p.rows).sum::<usize>(), batch.rows);
        }
    }
}
