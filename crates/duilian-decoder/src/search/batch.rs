//! Rows of a model's batch: what searches share.

use duilian_core::TokenId;

use crate::{Answer, CancelToken, DecodeError, Draft, Plan, Source, StepModel};

/// One hypothesis: a row of the model's batch.
#[derive(Debug, Default)]
pub(super) struct Hypothesis {
    pub(super) draft: Draft,
    /// Model's log-probabilities plus weights, so far.
    pub(super) score: f64,
    pub(super) log_prob: f64,
    pub(super) place_log_probs: Vec<f32>,
}

impl Hypothesis {
    pub(super) fn new(start: &Draft) -> Self {
        Self { draft: start.clone(), ..Self::default() }
    }

    /// Becomes `parent` with `choice` at `place`, without giving up its memory.
    pub(super) fn continue_from(&mut self, parent: &Self, plan: &Plan<'_>, place: usize, choice: &Choice) {
        self.draft.clone_from(&parent.draft);
        self.place_log_probs.clone_from(&parent.place_log_probs);
        plan.fill(&mut self.draft, place, choice.token);
        self.score = choice.score;
        self.log_prob = parent.log_prob;
        if plan.counts(place) {
            self.log_prob += f64::from(choice.log_prob);
            self.place_log_probs.push(choice.log_prob);
        } else {
            self.place_log_probs.push(0.0);
        }
    }

    pub(super) fn into_answer(self, plan: &Plan<'_>) -> Result<Answer, DecodeError> {
        let tokens: Vec<TokenId> = self.draft.tokens().iter().copied().flatten().collect();
        answer(plan, tokens, self.place_log_probs, self.log_prob, self.score)
    }
}

/// An answer with the log-probability of each place.
pub(super) fn answer(
    plan: &Plan<'_>,
    tokens: Vec<TokenId>,
    place_log_probs: Vec<f32>,
    log_prob: f64,
    score: f64,
) -> Result<Answer, DecodeError> {
    let line = plan.line(&tokens)?;
    let places = (0..tokens.len()).filter(|&place| plan.counts(place)).count();
    let log_prob_per_character = log_prob / places.max(1) as f64;
    let waived = plan.waived().to_vec();
    Ok(Answer { line, tokens, log_prob, log_prob_per_character, place_log_probs, score, waived })
}

/// A token for the next place of a hypothesis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    /// The hypothesis, among those of its question.
    pub(super) parent: usize,
    pub(super) token: TokenId,
    /// Score of the hypothesis with this token.
    pub(super) score: f64,
    /// What choices are ranked by: the score less what the search takes off.
    pub(super) rank: f64,
    pub(super) log_prob: f32,
    /// Whether [`Plan::confirm`] is still to be asked.
    pub(super) doubtful: bool,
}

impl Choice {
    /// Better ones first; ties by row and token, so that the order is always the same.
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        other
            .rank
            .total_cmp(&self.rank)
            .then_with(|| self.parent.cmp(&other.parent))
            .then_with(|| self.token.cmp(&other.token))
    }
}

/// A model's log-probability as the search counts it: what is no number is no probability.
pub(crate) fn log_prob(scores: &[f32], token: TokenId) -> f32 {
    scores.get(token.index()).copied().filter(|value| !value.is_nan()).unwrap_or(f32::NEG_INFINITY)
}

/// A hypothesis' score with one more token; what is no number ranks last, but is not lost.
pub(super) fn score_with(score: f64, log_prob: f32, weight: f32) -> f64 {
    let sum = score + f64::from(log_prob) + f64::from(weight);
    if sum.is_nan() { f64::NEG_INFINITY } else { sum }
}

/// One question's part of a batch.
pub(crate) trait Job {
    /// The question as the model is to see it; lines of one batch have one length.
    fn source(&self) -> Source;

    /// Number of rows now; 1 at the beginning.
    fn rows(&self) -> usize;

    /// Moves all rows to the next place. `scores` holds the model's log-probabilities row by row; the parent
    /// and the token of each new row are to be pushed.
    fn advance(&mut self, place: usize, scores: &[f32], parents: &mut Vec<usize>, tokens: &mut Vec<TokenId>);
}

/// Takes all jobs, which have lines of one length, from the first place to the last.
pub(crate) fn run<M: StepModel, J: Job>(
    model: &M,
    cancel: &CancelToken,
    jobs: &mut [J],
) -> Result<(), DecodeError> {
    cancel.check()?;
    let sources: Vec<Source> = jobs.iter().map(Job::source).collect();
    let Some(length) = sources.first().map(|source| source.tokens.len()) else { return Ok(()) };
    let vocabulary = model.vocabulary_size();
    let mut state = model.start(&sources).map_err(DecodeError::model)?;
    let (mut scores, mut parents, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
    for place in 0..length {
        let rows: usize = jobs.iter().map(Job::rows).sum();
        if rows == 0 {
            break;
        }
        cancel.check()?;
        model.step(&mut state, &tokens, &mut scores).map_err(DecodeError::model)?;
        if scores.len() != rows * vocabulary {
            return Err(DecodeError::ScoreCount { got: scores.len(), rows, vocabulary });
        }
        parents.clear();
        tokens.clear();
        let mut offset = 0;
        for job in jobs.iter_mut() {
            let (rows, first) = (job.rows(), parents.len());
            let own = offset * vocabulary..(offset + rows) * vocabulary;
            job.advance(place, &scores[own], &mut parents, &mut tokens);
            parents[first..].iter_mut().for_each(|parent| *parent += offset);
            offset += rows;
        }
        let unchanged = parents.len() == rows && parents.iter().enumerate().all(|(i, &parent)| i == parent);
        if !unchanged && !parents.is_empty() && place + 1 < length {
            model.select(&mut state, &parents).map_err(DecodeError::model)?;
        }
    }
    Ok(())
}
