//! Why an answer is what it is.

use duilian_core::{Couplet, Direction, TokenId};
use duilian_prosody::{DeviceFinding, Report, RuleConfig, check, device_report};
use serde::Serialize;

use crate::plan::Candidates;
use crate::search::{Job, log_prob, run};
use crate::{Answer, CancelToken, DecodeError, Decoder, Draft, Plan, Question, Source, StepModel};

/// Why an answer is what it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The answer.
    pub answer: String,
    /// Its Han places in order.
    pub places: Vec<PlaceExplanation>,
    /// Which rules the couplet keeps.
    pub report: Report,
    /// The devices of the given line, and whether the answer has them.
    pub devices: Vec<DeviceFinding>,
    /// Names of the constraints that were given up because no line keeps them.
    pub waived: Vec<String>,
}

/// What else might stand at a place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlaceExplanation {
    /// The place in the line, marks counted, from 1.
    pub place: usize,
    /// The character of the answer.
    pub character: char,
    /// Natural logarithm of its probability, given the characters before it.
    pub log_prob: f32,
    /// Whether it had no choice: it is locked, repeats an earlier one, or nothing else is allowed.
    pub fixed: bool,
    /// The most probable characters that keep all constraints here, the best first, given the characters before
    /// it; that of the answer may be among them. Only that one where it had no choice.
    pub alternatives: Vec<Alternative>,
}

/// A character with its probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Alternative {
    /// The character.
    pub character: char,
    /// Natural logarithm of its probability.
    pub log_prob: f32,
}

impl Decoder {
    /// Explains an answer of this decoder to the question, with up to `alternatives` characters for each place.
    /// The model reads the line once.
    ///
    /// # Errors
    /// As [`Decoder::answer`]; [`DecodeError::LineLength`] or [`DecodeError::NotAllowed`] if the answer is none that
    /// this decoder gives.
    pub fn explain<M: StepModel>(
        &self,
        model: &M,
        question: &Question,
        answer: &Answer,
        alternatives: usize,
    ) -> Result<Explanation, DecodeError> {
        let plan = self.plan_for(model, question)?;
        let (got, expected) = (answer.tokens.len(), question.line().len());
        if got != expected || answer.line.len() != expected {
            return Err(DecodeError::LineLength { got, expected });
        }
        let mut draft = plan.draft();
        for (place, &token) in answer.tokens.iter().enumerate() {
            let fits = match draft.tokens()[place] {
                Some(filled) => filled == token,
                None => plan.choose(&mut draft, place, token),
            };
            if !fits {
                return Err(DecodeError::NotAllowed {
                    character: answer.line.chars()[place],
                    place: place + 1,
                });
            }
        }
        let mut reading =
            Reading { plan: &plan, answer, alternatives, draft: plan.draft(), places: Vec::new() };
        run(model, &CancelToken::new(), std::slice::from_mut(&mut reading))?;
        let places = reading.places;
        let (given, line) = (question.line().clone(), answer.line.clone());
        let couplet = match question.direction() {
            Direction::UpperToLower => Couplet::new(given, line),
            Direction::LowerToUpper => Couplet::new(line, given),
        };
        let config = RuleConfig { direction: question.direction(), ..RuleConfig::default() };
        Ok(Explanation {
            answer: answer.line.to_string(),
            places,
            report: check(&couplet, &config),
            devices: device_report(&couplet, question.direction()),
            waived: plan.waived().to_vec(),
        })
    }
}

/// Reads an answer, looking at each place at what else is allowed.
struct Reading<'a> {
    plan: &'a Plan<'a>,
    answer: &'a Answer,
    alternatives: usize,
    draft: Draft,
    places: Vec<PlaceExplanation>,
}

impl Job for Reading<'_> {
    fn source(&self) -> Source {
        self.plan.source().clone()
    }

    fn rows(&self) -> usize {
        1
    }

    fn advance(&mut self, place: usize, scores: &[f32], parents: &mut Vec<usize>, tokens: &mut Vec<TokenId>) {
        let token = self.answer.tokens[place];
        if self.plan.counts(place) {
            let alternatives = self.best(place, scores);
            self.places.push(PlaceExplanation {
                place: place + 1,
                character: self.answer.line.chars()[place],
                log_prob: log_prob(scores, token),
                fixed: self.draft.tokens()[place].is_some(),
                alternatives,
            });
        }
        if self.draft.tokens()[place].is_none() {
            self.plan.fill(&mut self.draft, place, token);
        }
        parents.push(0);
        tokens.push(token);
    }
}

impl Reading<'_> {
    fn best(&self, place: usize, scores: &[f32]) -> Vec<Alternative> {
        let mut candidates = Candidates::default();
        self.plan.candidates(&self.draft, place, &mut candidates);
        let mut ranked: Vec<(f32, TokenId)> =
            candidates.tokens.iter().map(|token| (log_prob(scores, token), token)).collect();
        ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
        let allowed = ranked.into_iter().filter(|&(_, token)| {
            !candidates.doubtful.contains(token) || self.plan.confirm(&self.draft, place, token)
        });
        let alternative = |(log_prob, token)| {
            Some(Alternative { character: self.plan.lexicon().character(token)?, log_prob })
        };
        allowed.filter_map(alternative).take(self.alternatives).collect()
    }
}
