//! Choosing answers that are not near-duplicates.

use crate::{Answer, Plan};

/// Han places at which answers to a question must differ: what the options say, else a quarter of the places
/// that are free to differ, rounded up; at least 1.
pub(crate) fn min_difference(option: Option<usize>, plan: &Plan<'_>) -> usize {
    option.unwrap_or_else(|| plan.free_places().div_ceil(4)).max(1)
}

/// The answers found for one question, and those chosen of them.
#[derive(Debug, Clone)]
pub(crate) struct NBest {
    wanted: usize,
    min_difference: usize,
    chosen: Vec<Answer>,
    /// Found, but too similar to a chosen one.
    rest: Vec<Answer>,
}

impl NBest {
    pub(crate) fn new(wanted: usize, min_difference: usize) -> Self {
        Self { wanted, min_difference, chosen: Vec::new(), rest: Vec::new() }
    }

    pub(crate) fn chosen(&self) -> &[Answer] {
        &self.chosen
    }

    pub(crate) fn min_difference(&self) -> usize {
        self.min_difference
    }

    /// Drops answers that were not chosen.
    pub(crate) fn forget_rest(&mut self) {
        self.rest.clear();
    }

    /// Number of answers that are still to be found.
    pub(crate) fn missing(&self) -> usize {
        self.wanted - self.chosen.len()
    }

    /// Takes answers, the best first, that differ enough from all chosen ones. Returns how many were chosen.
    pub(crate) fn add(&mut self, mut answers: Vec<Answer>) -> usize {
        answers.sort_by(by_score);
        let before = self.chosen.len();
        for answer in answers {
            if self.missing() > 0 && self.differs(&answer, self.min_difference) {
                self.chosen.push(answer);
            } else {
                self.rest.push(answer);
            }
        }
        self.chosen.len() - before
    }

    fn differs(&self, answer: &Answer, least: usize) -> bool {
        self.chosen.iter().all(|chosen| chosen.difference(answer) >= least)
    }

    /// Fills up with answers that are too similar, the least similar ones first, but never with the same
    /// answer twice. Returns all, best first.
    pub(crate) fn finish(mut self) -> Vec<Answer> {
        let mut rest = std::mem::take(&mut self.rest);
        rest.sort_by(by_score);
        for least in (1..self.min_difference).rev() {
            if self.missing() == 0 {
                break;
            }
            let mut left = Vec::new();
            for answer in rest {
                if self.missing() > 0 && self.differs(&answer, least) {
                    self.chosen.push(answer);
                } else {
                    left.push(answer);
                }
            }
            rest = left;
        }
        self.chosen.sort_by(by_score);
        self.chosen
    }
}

pub(super) fn by_score(one: &Answer, other: &Answer) -> std::cmp::Ordering {
    other.score.total_cmp(&one.score).then_with(|| one.tokens.cmp(&other.tokens))
}
