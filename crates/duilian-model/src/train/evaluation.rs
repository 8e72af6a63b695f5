//! Loss of a model on pairs, without smoothing.

use burn::tensor::activation::log_softmax;
use burn::tensor::backend::Backend;
use duilian_core::{Direction, LossSum, TokenId};

use super::batch::{Batch, FIRST_HAN};
use crate::{Network, ShardSet};

/// Characters in a batch of an evaluation: scores of one batch are `[characters, vocabulary]`.
const BATCH_CHARACTERS: usize = 1_024;

/// Loss over pairs of equal length, given first and asked-for second, grouped by length inside.
///
/// Pairs of unequal length, and pairs longer than the model reads, are left out. The result is the same
/// whatever the order of the pairs, up to rounding.
pub(crate) fn loss_of_pairs<B: Backend, M: Network<B>>(
    model: &M,
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
            let mut batch = Batch::empty(length);
            for (given, asked) in chunk {
                batch.push(given, asked, &vec![false; length], direction);
            }
            let part = batch_loss(model, batch, device);
            sum.nats += part.nats;
            sum.characters += part.characters;
            sum.pairs += part.pairs;
        }
    }
    sum
}

/// Loss of one batch.
fn batch_loss<B: Backend, M: Network<B>>(model: &M, batch: Batch, device: &B::Device) -> LossSum {
    let pairs = batch.rows;
    let batch = M::prepare(batch, device);
    let (Some(places), Some(wanted)) = (batch.places.clone(), batch.wanted.clone()) else {
        return LossSum::default();
    };
    let table = model.table().val();
    let scale = (table.dims()[1] as f64).sqrt();
    let embedded = table.clone().select(0, batch.tokens.clone()) * scale;
    let hidden = model.hidden(&batch, embedded).select(0, places);
    let scores = log_softmax(hidden.matmul(table.transpose()), 1);
    let picked = scores.gather(1, wanted.reshape([batch.targets.len(), 1])).into_data();
    // Networks that have to find marks and ends by themselves are not charged for them.
    let counted = picked.iter::<f64>().zip(&batch.targets).filter(|(_, t)| t.token >= FIRST_HAN);
    let (mut nats, mut characters) = (0.0, 0);
    for (log_prob, _) in counted {
        nats -= log_prob;
        characters += 1;
    }
    LossSum { nats, characters, pairs }
}

/// Loss over the first pairs of a set, every length and source in its share, up to about `limit` characters.
pub(crate) fn loss_of_shards<B: Backend, M: Network<B>>(
    model: &M,
    shards: &ShardSet,
    direction: Direction,
    max_length: usize,
    limit: usize,
    device: &B::Device,
) -> LossSum {
    let total: usize = shards.segments().map(|s| s.length * s.pairs).sum();
    let share = (limit as f64 / total.max(1) as f64).min(1.0);
    let pairs = shards.segments().flat_map(|segment| {
        let kept = ((segment.pairs as f64 * share).ceil() as usize).min(segment.pairs);
        (0..kept).filter_map(move |number| shards.get(segment.length, segment.source, number))
    });
    let oriented = pairs.map(|pair| match direction {
        Direction::UpperToLower => (pair.upper, pair.lower),
        Direction::LowerToUpper => (pair.lower, pair.upper),
    });
    loss_of_pairs(model, oriented, direction, max_length, device)
}
