//! Finding weights that put human lines first.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::{RerankParts, RerankWeights};

/// A question with the parts of a human answer and of others; see [`Reranker::parts`](super::Reranker::parts).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitExample {
    /// Of the human answer.
    pub human: RerankParts,
    /// Of the answers that should come after it.
    pub candidates: Vec<RerankParts>,
}

/// Options of [`fit_weights`].
///
/// ```
/// use duilian_decoder::{FitOptions, RerankWeights};
/// let options = FitOptions::default();
/// assert_eq!((options.seed, options.sweeps, options.restarts), (0, 30, 4));
/// assert_eq!((options.step, options.nonnegative), (1.0, true));
/// assert_eq!(options.start, RerankWeights::default());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitOptions {
    /// Seed of the order of coordinates, of steps and of restarts. Default 0.
    pub seed: u64,
    /// Sweeps over all coordinates at most, from each start. Default 30.
    pub sweeps: usize,
    /// Random starts beside the given one. Default 4.
    pub restarts: usize,
    /// Length of the first steps; halved after each sweep that finds nothing. Default 1.
    pub step: f64,
    /// Whether all weights stay at 0 or above. Default true.
    pub nonnegative: bool,
    /// Where the search begins. Default: the weights that are the default anyway.
    pub start: RerankWeights,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            sweeps: 30,
            restarts: 4,
            step: 1.0,
            nonnegative: true,
            start: RerankWeights::default(),
        }
    }
}

/// What [`fit_weights`] found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The best weights, scaled so that the greatest has the size 1.
    pub weights: RerankWeights,
    /// Share of the pairs of human line and candidate in which the weights put the human line above, from 0 to 1;
    /// an example counts 1, whatever the number of its candidates. Ties count half.
    pub accuracy: f64,
    /// The same with the weights of the start.
    pub accuracy_before: f64,
}

/// Searches the weights under which human lines stand above the candidates in as many pairs as possible.
///
/// Coordinate search: the weights are visited in random order; each is moved up and down by a step of random length,
/// and what raises the objective is kept; after a sweep without gain the step is halved, and the search ends when it
/// is below a thousandth of the first. The objective is [`Fit::accuracy`], which is piecewise constant, plus a
/// hundredth of its smooth counterpart, the mean of `1 / (1 + exp(-margin))`, which tells directions apart where
/// the first does not. Weights are compared at one scale: that at which the greatest is 1.
///
/// Parts that are no numbers count as -100. The same seed gives the same weights.
///
/// ```
/// use duilian_decoder::{FitExample, FitOptions, RerankParts, fit_weights};
///
/// // Human lines are told apart by the reverse direction alone.
/// let parts = |forward, reverse| RerankParts { forward, reverse, ..RerankParts::default() };
/// let examples: Vec<FitExample> = (0..20)
///     .map(|i| FitExample {
///         human: parts(-6.0, -5.0 - 0.1 * f64::from(i)),
///         candidates: vec![parts(-4.0, -5.5 - 0.1 * f64::from(i))],
///     })
///     .collect();
/// let fit = fit_weights(&examples, &FitOptions::default());
/// assert_eq!((fit.accuracy_before, fit.accuracy), (0.0, 1.0));
/// assert!(fit.weights.reverse > fit.weights.forward);
/// ```
pub fn fit_weights(examples: &[FitExample], options: &FitOptions) -> Fit {
    let examples = differences(examples);
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let start = normalised(options.start.values());
    let mut best = start;
    let mut best_objective = f64::NEG_INFINITY;
    for restart in 0..=options.restarts {
        let from = if restart == 0 {
            start
        } else {
            normalised(std::array::from_fn(|_| {
                let value = uniform(&mut random);
                if options.nonnegative { value } else { 2.0 * value - 1.0 }
            }))
        };
        let (found, objective) = climb(&examples, from, options, &mut random);
        if objective > best_objective {
            (best, best_objective) = (found, objective);
        }
    }
    Fit {
        weights: RerankWeights::from_values(best),
        accuracy: accuracy(&examples, &best),
        accuracy_before: accuracy(&examples, &start),
    }
}

const N: usize = RerankParts::NAMES.len();

/// For each example the parts of the human line less those of each candidate.
fn differences(examples: &[FitExample]) -> Vec<Vec<[f64; N]>> {
    let number = |value: f64| if value.is_finite() { value } else { -100.0 };
    let of = |example: &FitExample| {
        let human = example.human.values().map(number);
        let less = |candidate: &RerankParts| {
            let candidate = candidate.values().map(number);
            std::array::from_fn(|i| human[i] - candidate[i])
        };
        example.candidates.iter().map(less).collect::<Vec<[f64; N]>>()
    };
    examples.iter().map(of).filter(|differences| !differences.is_empty()).collect()
}

fn climb(
    examples: &[Vec<[f64; N]>],
    mut weights: [f64; N],
    options: &FitOptions,
    random: &mut ChaCha8Rng,
) -> ([f64; N], f64) {
    let mut best = objective(examples, &weights);
    let mut step = options.step.abs();
    for _ in 0..options.sweeps {
        let mut gained = false;
        for i in order(random) {
            let length = step * (0.5 + uniform(random));
            for signed in [length, -length] {
                let mut moved = weights;
                moved[i] += signed;
                if options.nonnegative {
                    moved[i] = moved[i].max(0.0);
                }
                let moved = normalised(moved);
                let reached = objective(examples, &moved);
                if reached > best {
                    (weights, best, gained) = (moved, reached, true);
                    break;
                }
            }
        }
        if !gained {
            step /= 2.0;
            if step < options.step.abs() / 1000.0 {
                break;
            }
        }
    }
    (weights, best)
}

fn margin(difference: &[f64; N], weights: &[f64; N]) -> f64 {
    difference.iter().zip(weights).map(|(a, b)| a * b).sum()
}

/// Mean over the examples of the mean over their pairs.
fn mean(examples: &[Vec<[f64; N]>], weights: &[f64; N], value: impl Fn(f64) -> f64) -> f64 {
    let of = |pairs: &Vec<[f64; N]>| {
        pairs.iter().map(|pair| value(margin(pair, weights))).sum::<f64>() / pairs.len() as f64
    };
    examples.iter().map(of).sum::<f64>() / examples.len().max(1) as f64
}

fn accuracy(examples: &[Vec<[f64; N]>], weights: &[f64; N]) -> f64 {
    let won = |margin: f64| match margin.total_cmp(&0.0) {
        _ if margin == 0.0 => 0.5,
        std::cmp::Ordering::Greater => 1.0,
        _ => 0.0,
    };
    mean(examples, weights, won)
}

fn objective(examples: &[Vec<[f64; N]>], weights: &[f64; N]) -> f64 {
    accuracy(examples, weights) + 0.01 * mean(examples, weights, |margin| 1.0 / (1.0 + (-margin).exp()))
}

/// The same direction with the greatest weight of size 1.
fn normalised(weights: [f64; N]) -> [f64; N] {
    let greatest = weights.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    if greatest > 0.0 && greatest.is_finite() { weights.map(|weight| weight / greatest) } else { weights }
}

/// All coordinates in random order (Fisher and Yates).
fn order(random: &mut ChaCha8Rng) -> [usize; N] {
    let mut order: [usize; N] = std::array::from_fn(|i| i);
    for i in (1..N).rev() {
        order.swap(i, (uniform(random) * (i + 1) as f64) as usize);
    }
    order
}

/// A number in [0, 1) of 53 random bits.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
