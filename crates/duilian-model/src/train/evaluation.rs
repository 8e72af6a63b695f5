//! Loss of a model on pairs, without smoothing.

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::Backend;
use duilian_core::{Direction, TokenId};

use super::batch::{HostBatch, ids};
use crate::{AlignedTransformer, ShardSet};

/// Summed loss over counted characters.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LossSum {
    /// Sum of `-ln p` in nats.
    pub nats: f64,
    /// Han characters that were scored; marks and characters outside the vocabulary are not.
    pub characters: usize,
    /// Pairs that were scored.
    pub pairs: usize,
}

impl LossSum {
    /// Nats per character; 0 if there was none.
    pub fn per_character(&self) -> f64 {
        if self.characters == 0 { 0.0 } else { self.nats / self.characters as f64 }
    }
}

/// Characters in a batch of an evaluation: scores of one batch are `[characters, vocabulary]`.
const BATCH_CHARACTERS: usize = 1_024;

/// Loss over pairs of equal length, given first and asked-for second, grouped by length inside.
///
/// Pairs of unequal length, and pairs longer than the model reads, are left out. The result is the same
/// whatever the order of the pairs, up to rounding.
pub(crate) fn loss_of_pairs<B: Backend>(
    model: &AlignedTransformer<B>,
    pairs: impl Iterator<Item = (Vec<TokenId>, Vec<TokenId>)>,
    direction: Direction,
    max_length: usize,
    device: &B::Device,
) -> LossSum {
    let mut groups = std::collections::BTreeMap::<usize, Vec<_>>::new();
    for (given, asked) in pairs.filter(|(g, a)| g.len() == a.len() && !g.is_empty() && g.len() <= max_length)
    {
        groups.entry(given.len()).or_default().push((given, asked));
    }
    let mut sum = LossSum::default();
    for (length, pairs) in groups {
        for chunk in pairs.chunks((BATCH_CHARACTERS / length).max(1)) {
            let mut batch = HostBatch::empty(length);
            for (given, asked) in chunk {
                batch.push(given, asked, &vec![false; length], direction);
            }
            let part = batch_loss(model, &batch, device);
            sum.nats += part.nats;
            sum.characters += part.characters;
            sum.pairs += part.pairs;
        }
    }
    sum
}

/// Loss of one batch.
fn batch_loss<B: Backend>(model: &AlignedTransformer<B>, batch: &HostBatch, device: &B::Device) -> LossSum {
    let counted = batch.counted();
    if counted.is_empty() {
        return LossSum::default();
    }
    let embedded = model.embed(ids::<B>(batch.embedded_tokens().into_iter(), device));
    let (source, previous) = batch.inputs(&embedded, device);
    let hidden = model.decode(&model.encode(source), previous, batch.rows);
    let places: Vec<i32> = counted.iter().map(|&i| i as i32).collect();
    let hidden = hidden.select(0, Tensor::from_ints(places.as_slice(), device));
    let targets = ids::<B>(counted.iter().map(|&i| batch.asked[i]), device).reshape([counted.len(), 1]);
    let picked = log_softmax(model.logits(hidden), 1).gather(1, targets);
    let nats = picked.into_data().iter::<f64>().map(|v| -v).sum();
    LossSum { nats, characters: counted.len(), pairs: batch.rows }
}

/// Loss over the first pairs of a set, every length in its share, up to about `limit` characters.
pub(crate) fn loss_of_shards<B: Backend>(
    model: &AlignedTransformer<B>,
    shards: &ShardSet,
    direction: Direction,
    max_length: usize,
    limit: usize,
    device: &B::Device,
) -> LossSum {
    let total: usize = shards.lengths().map(|(length, pairs)| length * pairs).sum();
    let share = (limit as f64 / total.max(1) as f64).min(1.0);
    let pairs = shards.lengths().flat_map(|(length, pairs)| {
        let kept = (pairs as f64 * share).ceil() as usize;
        (0..kept.min(pairs)).filter_map(move |number| shards.get(length, number))
    });
    let oriented = pairs.map(|pair| match direction {
        Direction::UpperToLower => (pair.upper, pair.lower),
        Direction::LowerToUpper => (pair.lower, pair.upper),
    });
    loss_of_pairs(model, oriented, direction, max_length, device)
}
