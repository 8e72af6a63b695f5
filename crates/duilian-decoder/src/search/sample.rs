//! Sampling with top-k, top-p and temperature.

use duilian_core::TokenId;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::batch::{Choice, Hypothesis, Job, log_prob, run, score_with};
use crate::{Answer, DecodeError, Plan, SamplingOptions, StepModel, TokenSet};

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
    options: &SamplingOptions,
    jobs: &[SampleJob<'_>],
) -> Result<Vec<Vec<Answer>>, DecodeError> {
    let mut samplers: Vec<Sampler<'_>> = jobs.iter().map(|job| Sampler::new(job, options)).collect();
    run(model, &mut samplers)?;
    let answers = |sampler: Sampler<'_>| {
        let plan = sampler.job.plan;
        sampler.hypotheses.into_iter().map(|hypothesis| hypothesis.into_answer(plan)).collect()
    };
    samplers.into_iter().map(answers).collect()
}

struct Sampler<'a> {
    job: &'a SampleJob<'a>,
    options: &'a SamplingOptions,
    hypotheses: Vec<Hypothesis>,
    generators: Vec<ChaCha8Rng>,
    allowed: TokenSet,
    weights: Vec<f32>,
    choices: Vec<Choice>,
    probabilities: Vec<f64>,
}

impl<'a> Sampler<'a> {
    fn new(job: &'a SampleJob<'a>, options: &'a SamplingOptions) -> Self {
        let generator = |draw: usize| {
            let mut generator = ChaCha8Rng::seed_from_u64(options.seed);
            generator.set_stream((job.first_draw + draw) as u64);
            generator
        };
        Self {
            job,
            options,
            hypotheses: vec![Hypothesis::new(job.plan)],
            generators: (0..job.draws).map(generator).collect(),
            allowed: TokenSet::default(),
            weights: Vec::new(),
            choices: Vec::new(),
            probabilities: Vec::new(),
        }
    }

    /// Prepares the tokens to draw from for one hypothesis, most probable first, with their probabilities
    /// (which need not sum to 1).
    fn prepare(&mut self, parent: usize, place: usize, scores: &[f32]) {
        let Self { job, options, hypotheses, allowed, weights, choices, probabilities, .. } = self;
        let hypothesis = &hypotheses[parent];
        job.plan.allowed(&hypothesis.draft, place, allowed);
        weights.clear();
        weights.resize(scores.len(), 0.0);
        if hypothesis.draft.tokens()[place].is_none() {
            job.plan.weigh(&hypothesis.draft, place, weights);
        }
        let counted = job.plan.counts(place);
        choices.clear();
        choices.extend(allowed.iter().map(|token| {
            let log_prob = log_prob(scores, token);
            let weight = weights.get(token.index()).copied().unwrap_or_default();
            let score =
                if counted { score_with(hypothesis.score, log_prob, weight) } else { hypothesis.score };
            Choice { parent, token, score, log_prob }
        }));
        choices.sort_unstable_by(Choice::order);
        if options.top_k > 0 {
            choices.truncate(options.top_k);
        }
        let best = choices.first().map_or(0.0, |choice| choice.score);
        let probability = |choice: &Choice| {
            // Where the model rules out every allowed token, all are alike.
            let relative = if choice.score.to_bits() == best.to_bits() { 0.0 } else { choice.score - best };
            (relative / f64::from(options.temperature)).exp()
        };
        probabilities.clear();
        probabilities.extend(choices.iter().map(probability));
        let enough = probabilities.iter().sum::<f64>() * f64::from(options.top_p);
        let mut sum = 0.0;
        let kept = probabilities.iter().take_while(|&&p| {
            let needed = sum < enough;
            sum += p;
            needed
        });
        let kept = kept.count().max(1);
        choices.truncate(kept);
        probabilities.truncate(kept);
    }

    fn draw(&mut self, draw: usize) -> Option<Choice> {
        if self.choices.len() < 2 {
            return self.choices.first().copied();
        }
        // 53 random bits fill the mantissa: a uniform number in [0, 1).
        let uniform = (self.generators[draw].next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut rest = uniform * self.probabilities.iter().sum::<f64>();
        for (choice, probability) in self.choices.iter().zip(&self.probabilities) {
            rest -= probability;
            if rest < 0.0 {
                return Some(*choice);
            }
        }
        self.choices.last().copied()
    }
}

impl Job for Sampler<'_> {
    fn plan(&self) -> &Plan<'_> {
        self.job.plan
    }

    fn rows(&self) -> usize {
        self.hypotheses.len()
    }

    fn advance(&mut self, place: usize, scores: &[f32], parents: &mut Vec<usize>, tokens: &mut Vec<TokenId>) {
        let vocabulary = scores.len() / self.hypotheses.len().max(1);
        let mut next = Vec::with_capacity(self.job.draws);
        for draw in 0..self.job.draws {
            // At the first place all draws come from one row.
            let parent = if self.hypotheses.len() == 1 { 0 } else { draw };
            if draw == 0 || parent > 0 {
                self.prepare(parent, place, &scores[parent * vocabulary..(parent + 1) * vocabulary]);
            }
            if let Some(choice) = self.draw(draw) {
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
