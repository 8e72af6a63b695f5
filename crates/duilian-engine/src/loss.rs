//! Loss of answers that are known.

use std::collections::BTreeMap;

use duilian_core::{Direction, LossSum, TokenId};
use duilian_decoder::{Source, StepModel};

/// Pairs whose scores are computed together.
const BATCH: usize = 64;

/// Loss of known answers under any model: pairs of given and asked-for line, of whose answer the tokens that `counts`
/// picks are scored, each after the true ones before it.
///
/// Pairs of unequal length and pairs longer than the model reads are left out.
///
/// ```
/// use duilian_core::{Direction, TokenId};
/// use duilian_engine::{Engine, Precision, loss_of_pairs};
/// use duilian_weights::ModelWeights;
///
/// let weights = ModelWeights::from_bytes(duilian_pretrained::WEIGHTS, "embedded weights")?;
/// let engine = Engine::from_weights(&weights, Precision::Int8)?;
/// let pair = (vec![TokenId(20), TokenId(21)], vec![TokenId(30), TokenId(31)]);
/// let loss = loss_of_pairs(&engine, &[pair], Direction::UpperToLower, |token| token.0 >= 14)?;
/// assert_eq!((loss.pairs, loss.characters), (1, 2));
/// assert!(loss.per_character() > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Whatever the model cannot do.
pub fn loss_of_pairs<M: StepModel>(
    model: &M,
    pairs: &[(Vec<TokenId>, Vec<TokenId>)],
    direction: Direction,
    counts: impl Fn(TokenId) -> bool,
) -> Result<LossSum, M::Error> {
    let mut groups = BTreeMap::<usize, Vec<&(Vec<TokenId>, Vec<TokenId>)>>::new();
    let readable = 1..=model.max_length();
    for pair in pairs.iter().filter(|(g, a)| g.len() == a.len() && readable.contains(&g.len())) {
        groups.entry(pair.0.len()).or_default().push(pair);
    }
    let (mut loss, mut log_probs) = (LossSum::default(), Vec::new());
    let size = model.vocabulary_size();
    for (length, pairs) in groups {
        for batch in pairs.chunks(BATCH) {
            let sources: Vec<Source> = batch
                .iter()
                .map(|(given, _)| Source { tokens: given.clone(), hints: vec![None; length], direction })
                .collect();
            let mut state = model.start(&sources)?;
            let mut previous = Vec::new();
            for place in 0..length {
                model.step(&mut state, &previous, &mut log_probs)?;
                previous = batch.iter().map(|(_, asked)| asked[place]).collect();
                let scored = previous.iter().zip(log_probs.chunks_exact(size));
                for (token, log_probs) in scored.filter(|(token, _)| counts(**token)) {
                    loss.nats -= log_probs.get(token.index()).map_or(0.0, |&p| f64::from(p));
                    loss.characters += 1;
                }
            }
            loss.pairs += batch.len();
        }
    }
    Ok(loss)
}
