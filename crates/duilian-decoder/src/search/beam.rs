//! Beam search.

use duilian_core::TokenId;

use super::batch::{Choice, Hypothesis, Job, log_prob, run, score_with};
use crate::{Answer, DecodeError, Draft, Plan, StepModel, TokenSet};

/// A question for [`beam`].
pub(crate) struct BeamJob<'a> {
    pub(crate) plan: &'a Plan<'a>,
    /// Hypotheses kept at each place.
    pub(crate) width: usize,
    /// Answers from which the ones to be found must differ.
    pub(crate) avoid: &'a [Answer],
    /// Number of places at which they must differ.
    pub(crate) min_difference: usize,
}

/// Finds up to `width` lines for each job, best first. Without `avoid` there are as many as there are lines at
/// all, up to `width`; with it there may be none.
pub(crate) fn beam<M: StepModel>(model: &M, jobs: &[BeamJob<'_>]) -> Result<Vec<Vec<Answer>>, DecodeError> {
    let mut beams: Vec<Beam<'_>> = jobs.iter().map(Beam::new).collect();
    run(model, &mut beams)?;
    let answers = |beam: Beam<'_>| {
        let plan = beam.job.plan;
        beam.hypotheses.into_iter().map(|hypothesis| hypothesis.into_answer(plan)).collect()
    };
    beams.into_iter().map(answers).collect()
}

struct Beam<'a> {
    job: &'a BeamJob<'a>,
    hypotheses: Vec<Hypothesis>,
    /// Hypotheses of the last place, kept for their memory.
    spare: Vec<Hypothesis>,
    choices: Vec<Choice>,
    allowed: TokenSet,
    weights: Vec<f32>,
}

impl<'a> Beam<'a> {
    fn new(job: &'a BeamJob<'a>) -> Self {
        Self {
            job,
            hypotheses: vec![Hypothesis::new(job.plan)],
            spare: Vec::new(),
            choices: Vec::new(),
            allowed: TokenSet::default(),
            weights: Vec::new(),
        }
    }

    /// Takes out the tokens after which a hypothesis could no longer differ enough from an answer to avoid.
    fn keep_different(&mut self, draft: &Draft, place: usize) {
        let open = draft.tokens().iter().filter(|token| token.is_none()).count();
        for answer in self.job.avoid {
            let differs = |(token, other): &(&Option<TokenId>, &TokenId)| token.is_some_and(|t| t != **other);
            let different = draft.tokens().iter().zip(&answer.tokens).filter(differs).count();
            let after = open.saturating_sub(self.job.plan.multiplicity(place));
            if different + after < self.job.min_difference {
                self.allowed.remove(answer.tokens[place]);
            }
        }
    }

    /// Leaves the best choices, best first, and the score below which others need not be tried.
    fn prune(&mut self) -> f64 {
        let width = self.job.width;
        if self.choices.len() > width {
            self.choices.select_nth_unstable_by(width - 1, Choice::order);
            self.choices.truncate(width);
        }
        if self.choices.len() < width {
            return f64::NEG_INFINITY;
        }
        self.choices.iter().map(|choice| choice.score).fold(f64::INFINITY, f64::min)
    }

    fn collect_choices(&mut self, place: usize, scores: &[f32]) {
        self.choices.clear();
        let vocabulary = scores.len() / self.hypotheses.len().max(1);
        let hypotheses = std::mem::take(&mut self.hypotheses);
        let mut floor = f64::NEG_INFINITY;
        for (parent, hypothesis) in hypotheses.iter().enumerate() {
            let scores = &scores[parent * vocabulary..(parent + 1) * vocabulary];
            let counted = self.job.plan.counts(place);
            if let Some(token) = hypothesis.draft.tokens()[place] {
                let log_prob = log_prob(scores, token);
                let score =
                    if counted { score_with(hypothesis.score, log_prob, 0.0) } else { hypothesis.score };
                self.choices.push(Choice { parent, token, score, log_prob });
                continue;
            }
            self.job.plan.allowed(&hypothesis.draft, place, &mut self.allowed);
            self.keep_different(&hypothesis.draft, place);
            self.weights.clear();
            self.weights.resize(vocabulary, 0.0);
            let weighted = self.job.plan.weigh(&hypothesis.draft, place, &mut self.weights);
            let (allowed, weights) = (std::mem::take(&mut self.allowed), std::mem::take(&mut self.weights));
            let block_of = |values: &[f32], block: usize| {
                let from = 64 * block;
                largest(values.get(from..values.len().min(from + 64)).unwrap_or_default())
            };
            for (block, &word) in allowed.words().iter().enumerate() {
                // Most blocks have nothing that is good enough: one look at the best of 64 spares looking at each.
                if word == 0 {
                    continue;
                }
                let weight = if weighted { block_of(&weights, block) } else { 0.0 };
                if score_with(hypothesis.score, block_of(scores, block), weight) < floor {
                    continue;
                }
                let mut bits = word;
                while bits != 0 {
                    let token = TokenId((64 * block) as u16 + bits.trailing_zeros() as u16);
                    bits &= bits - 1;
                    let log_prob = log_prob(scores, token);
                    let weight = if weighted { weights[token.index()] } else { 0.0 };
                    let score = score_with(hypothesis.score, log_prob, weight);
                    if score >= floor {
                        self.choices.push(Choice { parent, token, score, log_prob });
                        if self.choices.len() >= 4 * self.job.width.max(16) {
                            floor = self.prune();
                        }
                    }
                }
            }
            self.weights = weights;
            self.allowed = allowed;
        }
        self.prune();
        self.choices.sort_unstable_by(Choice::order);
        self.hypotheses = hypotheses;
    }
}

/// The largest number, those that are none left out.
fn largest(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut lanes = [f32::NEG_INFINITY; 8];
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |most, &v| if v > most { v } else { most })
}

impl Job for Beam<'_> {
    fn plan(&self) -> &Plan<'_> {
        self.job.plan
    }

    fn rows(&self) -> usize {
        self.hypotheses.len()
    }

    fn advance(&mut self, place: usize, scores: &[f32], parents: &mut Vec<usize>, tokens: &mut Vec<TokenId>) {
        self.collect_choices(place, scores);
        self.spare.resize_with(self.choices.len(), Hypothesis::default);
        for (next, choice) in self.spare.iter_mut().zip(&self.choices) {
            next.continue_from(&self.hypotheses[choice.parent], self.job.plan, place, choice);
            parents.push(choice.parent);
            tokens.push(choice.token);
        }
        std::mem::swap(&mut self.hypotheses, &mut self.spare);
    }
}
