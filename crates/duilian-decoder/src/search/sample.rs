//! Sampling with top-k, top-p and temperature.

use duilian_core::TokenId;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::batch::{Choice, Hypothesis, Job, log_prob, run, score_with};
use crate::plan::{Candidates, Weights};
use crate::{Answer, CancelToken, DecodeError, DecodeOptions, Plan, Source, StepModel};

/// A question for [`sample`].
pub(crate) struct SampleJob<'a> {
    pub(crate) plan: &'a Plan<'a>,
    /// Number of lines to draw.
    pub(crate) draws: usize,
    /// Number of the first of them; a draw depends on the seed and its number only.
    pub(crate) first_draw: usize,
}

/// Draws lines for each job, in order of the draws; a line may come more than once.
pub(crate) fn sample<M: StepModel>(
    model: &M,
    cancel: &CancelToken,
    options: &DecodeOptions,
    jobs: &[SampleJob<'_>],
) -> Result<Vec<Vec<Answer>>, DecodeError> {
    let mut samplers: Vec<Sampler<'_>> = jobs.iter().map(|job| Sampler::new(job, options)).collect();
    run(model, cancel, &mut samplers)?;
    let answers = |sampler: Sampler<'_>| {
        let plan = sampler.job.plan;
        sampler.hypotheses.into_iter().map(|hypothesis| hypothesis.into_answer(plan)).collect()
    };
    samplers.into_iter().map(answers).collect()
}

struct Sampler<'a> {
    job: &'a SampleJob<'a>,
    options: &'a DecodeOptions,
    hypotheses: Vec<Hypothesis>,
    generators: Vec<ChaCha8Rng>,
    candidates: Candidates,
    weights: Weights,
    /// What is left to draw from for one hypothesis, most probable first.
    choices: Vec<Choice>,
    probabilities: Vec<f64>,
}

impl<'a> Sampler<'a> {
    fn new(job: &'a SampleJob<'a>, options: &'a DecodeOptions) -> Self {
        let generator = |draw: usize| {
            let mut generator = ChaCha8Rng::seed_from_u64(options.seed);
            generator.set_stream((job.first_draw + draw) as u64);
            generator
        };
        Self {
            job,
            options,
            hypotheses: vec![Hypothesis::new(&job.plan.draft())],
            generators: (0..job.draws).map(generator).collect(),
            candidates: Candidates::default(),
            weights: Weights::default(),
            choices: Vec::new(),
            probabilities: Vec::new(),
        }
    }

    /// Collects the candidates for one hypothesis.
    fn prepare(&mut self, parent: usize, place: usize, scores: &[f32]) {
        let Self { job, hypotheses, candidates, weights, choices, .. } = self;
        let hypothesis = &hypotheses[parent];
        job.plan.candidates(&hypothesis.draft, place, candidates);
        let is_open = hypothesis.draft.tokens()[place].is_none();
        let weights = if is_open { job.plan.weigh(&hypothesis.draft, place, weights) } else { None };
        let counted = job.plan.counts(place);
        choices.clear();
        choices.extend(candidates.tokens.iter().map(|token| {
            let log_prob = log_prob(scores, token);
            let weight = weights.map_or(0.0, |weights| weights[token.index()]);
            let score =
                if counted { score_with(hypothesis.score, log_prob, weight) } else { hypothesis.score };
            Choice {
                parent,
                token,
                score,
                rank: score,
                log_prob,
                doubtful: candidates.doubtful.contains(token),
            }
        }));
        choices.sort_unstable_by(Choice::order);
        self.weigh_choices();
    }

    /// Probabilities, which need not sum to 1, of the choices that top-k and top-p leave.
    fn weigh_choices(&mut self) {
        let Self { options, choices, probabilities, .. } = self;
        let top = if options.sampling_topk > 0 { options.sampling_topk } else { choices.len() };
        let best = choices.first().map_or(0.0, |choice| choice.score);
        let probability = |choice: &Choice| {
            // Where the model rules out every allowed token, all are alike.
            let relative = if choice.score.to_bits() == best.to_bits() { 0.0 } else { choice.score - best };
            (relative / f64::from(options.sampling_temperature)).exp()
        };
        probabilities.clear();
        probabilities.extend(choices.iter().take(top).map(probability));
        let enough = probabilities.iter().sum::<f64>() * f64::from(options.sampling_topp);
        let mut sum = 0.0;
        let kept = probabilities.iter().take_while(|&&p| {
            let needed = sum < enough;
            sum += p;
            needed
        });
        let kept = kept.count().max(1);
        probabilities.truncate(kept);
    }

    /// Draws until a choice can be finished; those that cannot are left out, which changes nothing for the others.
    fn draw(&mut self, draw: usize, place: usize) -> Option<Choice> {
        while !self.choices.is_empty() {
            let drawn = if self.probabilities.len() < 2 { 0 } else { self.draw_index(draw) };
            let choice = self.choices[drawn];
            let draft = &self.hypotheses[choice.parent].draft;
            if !choice.doubtful || self.job.plan.confirm(draft, place, choice.token) {
                self.choices[drawn].doubtful = false;
                return Some(self.choices[drawn]);
            }
            self.choices.remove(drawn);
            self.weigh_choices();
        }
        None
    }

    fn draw_index(&mut self, draw: usize) -> usize {
        // 53 random bits fill the mantissa: a uniform number in [0, 1).
        let uniform = (self.generators[draw].next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut rest = uniform * self.probabilities.iter().sum::<f64>();
        let beyond = |probability: &f64| {
            rest -= probability;
            rest < 0.0
        };
        self.probabilities.iter().position(beyond).unwrap_or(self.probabilities.len() - 1)
    }
}

impl Job for Sampler<'_> {
    fn source(&self) -> Source {
        self.job.plan.source().clone()
    }

    fn rows(&self) -> usize {
        self.hypotheses.len()
    }

    fn advance(&mut self, place: usize, scores: &[f32], parents: &mut Vec<usize>, tokens: &mut Vec<TokenId>) {
        let vocabulary = scores.len() / self.hypotheses.len().max(1);
        let mut next = Vec::with_capacity(self.job.draws);
        // At the first place all draws come from one row.
        let one_row = self.hypotheses.len() == 1;
        for draw in 0..if one_row { self.job.draws } else { self.hypotheses.len() } {
            let parent = if one_row { 0 } else { draw };
            if draw == 0 || !one_row {
                self.prepare(parent, place, &scores[parent * vocabulary..(parent + 1) * vocabulary]);
            }
            if let Some(choice) = self.draw(draw, place) {
                let mut hypothesis = Hypothesis::default();
                hypothesis.continue_from(&self.hypotheses[parent], self.job.plan, place, &choice);
                next.push(hypothesis);
                parents.push(parent);
                tokens.push(choice.token);
            }
        }
        self.hypotheses = next;
    }
}
