//! Beam search, plain and diverse.

use std::collections::HashMap;

use duilian_core::TokenId;

use super::batch::{Choice, Hypothesis, Job, log_prob, run, score_with};
use crate::plan::{Candidates, Weights};
use crate::{Answer, CancelToken, DecodeError, Draft, Plan, Source, StepModel, TokenSet};

/// A question for [`beam`].
pub(crate) struct BeamJob<'a> {
    pub(crate) plan: &'a Plan<'a>,
    /// What is filled already; the model sees it as hints.
    pub(crate) start: Draft,
    /// Hypotheses kept at each place by all groups together.
    pub(crate) width: usize,
    /// Number of groups, at least 1.
    pub(crate) groups: usize,
    /// Nats off for each hypothesis of an earlier group with the same token.
    pub(crate) penalty: f64,
    /// Answers from which the ones to be found must differ.
    pub(crate) avoid: &'a [Answer],
    /// Number of places at which they must differ.
    pub(crate) min_difference: usize,
}

/// Finds up to `width` lines for each job, those of each group best first. Without `avoid` there are as many as
/// there are lines at all, up to `width`; with it there may be none.
pub(crate) fn beam<M: StepModel>(
    model: &M,
    cancel: &CancelToken,
    jobs: &[BeamJob<'_>],
) -> Result<Vec<Vec<Answer>>, DecodeError> {
    let mut beams: Vec<Beam<'_>> = jobs.iter().map(Beam::new).collect();
    run(model, cancel, &mut beams)?;
    let answers = |beam: Beam<'_>| {
        let plan = beam.job.plan;
        let hypotheses = beam.groups.into_iter().flat_map(|group| group.hypotheses);
        hypotheses.map(|hypothesis| hypothesis.into_answer(plan)).collect()
    };
    beams.into_iter().map(answers).collect()
}

#[derive(Default)]
struct Group {
    hypotheses: Vec<Hypothesis>,
    /// Hypotheses of the last place, kept for their memory.
    spare: Vec<Hypothesis>,
    width: usize,
}

struct Beam<'a> {
    job: &'a BeamJob<'a>,
    groups: Vec<Group>,
    /// At the first place all groups have the same row.
    one_row: bool,
    scratch: Scratch,
}

/// Memory that is used again at every place.
#[derive(Default)]
struct Scratch {
    choices: Vec<Choice>,
    candidates: Candidates,
    weights: Weights,
    /// Scores with weights.
    sums: Vec<f32>,
    /// Number of hypotheses of earlier groups by token.
    taken: HashMap<TokenId, usize>,
}

impl<'a> Beam<'a> {
    fn new(job: &'a BeamJob<'a>) -> Self {
        let group = |g| Group {
            hypotheses: vec![Hypothesis::new(&job.start)],
            spare: Vec::new(),
            // The first groups are one wider where the width cannot be divided evenly.
            width: (job.width / job.groups + usize::from(g < job.width % job.groups)).max(1),
        };
        Self { job, groups: (0..job.groups).map(group).collect(), one_row: true, scratch: Scratch::default() }
    }
}

/// Takes out the tokens after which a hypothesis could no longer differ enough from an answer to avoid.
fn keep_different(job: &BeamJob<'_>, draft: &Draft, place: usize, allowed: &mut TokenSet) {
    if job.avoid.is_empty() {
        return;
    }
    let open = draft.tokens().iter().filter(|token| token.is_none()).count();
    for answer in job.avoid {
        let differs = |(token, other): &(&Option<TokenId>, &TokenId)| token.is_some_and(|t| t != **other);
        let different = draft.tokens().iter().zip(&answer.tokens).filter(differs).count();
        let after = open.saturating_sub(job.plan.multiplicity(place));
        if different + after < job.min_difference {
            allowed.remove(answer.tokens[place]);
        }
    }
}

/// The greatest value; what is no number does not count.
fn greatest(values: &[f32]) -> f32 {
    // Lanes of their own let the compiler compare many at once.
    let mut lanes = [f32::NEG_INFINITY; 16];
    let chunks = values.chunks_exact(16);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    rest.iter().chain(&lanes).fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a })
}

impl Scratch {
    /// Leaves the best choices that can be finished, best first, and returns the rank below which others need not
    /// be tried.
    fn prune(&mut self, job: &BeamJob<'_>, hypotheses: &[Hypothesis], place: usize, width: usize) -> f64 {
        self.choices.sort_unstable_by(Choice::order);
        let mut kept = 0;
        for i in 0..self.choices.len() {
            if kept == width {
                break;
            }
            let mut choice = self.choices[i];
            if choice.doubtful {
                if !job.plan.confirm(&hypotheses[choice.parent].draft, place, choice.token) {
                    continue;
                }
                choice.doubtful = false;
            }
            self.choices[kept] = choice;
            kept += 1;
        }
        self.choices.truncate(kept);
        if kept < width { f64::NEG_INFINITY } else { self.choices[kept - 1].rank }
    }

    /// Collects the best choices of a group; `scores` holds a row for each of its hypotheses, or one for all.
    fn collect(&mut self, job: &BeamJob<'_>, group: &Group, place: usize, scores: &[f32], vocabulary: usize) {
        self.choices.clear();
        let counted = job.plan.counts(place);
        let mut floor = f64::NEG_INFINITY;
        for (parent, hypothesis) in group.hypotheses.iter().enumerate() {
            let scores = &scores[parent * vocabulary..(parent + 1) * vocabulary];
            if let Some(token) = hypothesis.draft.tokens()[place] {
                let log_prob = log_prob(scores, token);
                let score =
                    if counted { score_with(hypothesis.score, log_prob, 0.0) } else { hypothesis.score };
                self.choices.push(Choice { parent, token, score, rank: score, log_prob, doubtful: false });
                continue;
            }
            job.plan.candidates(&hypothesis.draft, place, &mut self.candidates);
            keep_different(job, &hypothesis.draft, place, &mut self.candidates.tokens);
            let mut memory = std::mem::take(&mut self.weights);
            let mut sums = std::mem::take(&mut self.sums);
            let weights = job.plan.weigh(&hypothesis.draft, place, &mut memory);
            let ranked = match weights {
                Some(weights) => {
                    sums.clear();
                    sums.extend(scores.iter().zip(weights).map(|(score, weight)| score + weight));
                    &sums
                }
                None => scores,
            };
            let bits = std::mem::take(&mut self.candidates.tokens);
            for (block, &word) in bits.bits().iter().enumerate() {
                let from = block * 64;
                let Some(values) = ranked.get(from..ranked.len().min(from + 64)) else { break };
                if word == 0 {
                    continue;
                }
                if floor > f64::NEG_INFINITY {
                    // A block whose best token stays below the floor is passed over; the margin covers rounding.
                    let needed = floor - hypothesis.score;
                    if f64::from(greatest(values)) < needed - 1e-5 * (1.0 + needed.abs()) {
                        continue;
                    }
                }
                let mut rest = word;
                while rest != 0 {
                    let token = TokenId((from + rest.trailing_zeros() as usize) as u16);
                    rest &= rest - 1;
                    let log_prob = log_prob(scores, token);
                    let weight = weights.map_or(0.0, |weights| weights[token.index()]);
                    let score = score_with(hypothesis.score, log_prob, weight);
                    if score < floor {
                        continue;
                    }
                    let times =
                        if self.taken.is_empty() { 0 } else { self.taken.get(&token).copied().unwrap_or(0) };
                    let rank = score - job.penalty * times as f64;
                    if rank < floor {
                        continue;
                    }
                    let doubtful = self.candidates.doubtful.contains(token);
                    self.choices.push(Choice { parent, token, score, rank, log_prob, doubtful });
                    if self.choices.len() >= 4 * group.width.max(16) {
                        floor = self.prune(job, &group.hypotheses, place, group.width);
                    }
                }
            }
            self.candidates.tokens = bits;
            self.weights = memory;
            self.sums = sums;
        }
        self.prune(job, &group.hypotheses, place, group.width);
    }
}

impl Job for Beam<'_> {
    fn source(&self) -> Source {
        self.job.plan.source_of(&self.job.start)
    }

    fn rows(&self) -> usize {
        if self.one_row { 1 } else { self.groups.iter().map(|group| group.hypotheses.len()).sum() }
    }

    fn advance(&mut self, place: usize, scores: &[f32], parents: &mut Vec<usize>, tokens: &mut Vec<TokenId>) {
        let vocabulary = scores.len() / self.rows().max(1);
        let mut first = 0;
        self.scratch.taken.clear();
        for group in &mut self.groups {
            let rows = if self.one_row { 1 } else { group.hypotheses.len() };
            let own = &scores[first * vocabulary..(first + rows) * vocabulary];
            let is_open = group.hypotheses.iter().any(|h| h.draft.tokens()[place].is_none());
            self.scratch.collect(self.job, group, place, own, vocabulary);
            group.spare.resize_with(self.scratch.choices.len(), Hypothesis::default);
            for (next, choice) in group.spare.iter_mut().zip(&self.scratch.choices) {
                next.continue_from(&group.hypotheses[choice.parent], self.job.plan, place, choice);
                parents.push(first + choice.parent);
                tokens.push(choice.token);
                if is_open {
                    *self.scratch.taken.entry(choice.token).or_default() += 1;
                }
            }
            std::mem::swap(&mut group.hypotheses, &mut group.spare);
            first += if self.one_row { 0 } else { rows };
        }
        self.one_row = false;
    }
}
