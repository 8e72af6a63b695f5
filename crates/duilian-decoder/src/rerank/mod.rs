//! Ranking answers anew by what a search from left to right does not see.

mod fit;
mod weights;

use std::collections::HashMap;

use duilian_core::{Couplet, Direction, Line};
use duilian_prosody::{Report, Rule, RuleConfig, check, device_report};
use serde::Serialize;

pub use self::fit::{Fit, FitExample, FitOptions, fit_weights};
pub use self::weights::{RerankParts, RerankWeights};
use crate::{Answer, CancelToken, DecodeError, Lexicon, LineScore, Question, StepModel, score_batch};

/// An answer with its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The answer.
    pub answer: Answer,
    /// What it is ranked by.
    pub parts: RerankParts,
    /// The weighted sum of the parts.
    pub total: f64,
}

/// Ranks answers anew. It changes only their order, so whatever held of the answers still holds.
///
/// The model must answer in both directions.
#[derive(Debug, Clone)]
pub struct Reranker {
    weights: RerankWeights,
    rules: RuleConfig,
    log_frequencies: HashMap<char, f64>,
    unseen: f64,
    batch: usize,
}

impl Reranker {
    /// A reranker without a table of frequencies, for batches of 32 questions.
    pub fn new(weights: RerankWeights) -> Self {
        let (rules, log_frequencies) = (RuleConfig::default(), HashMap::new());
        Self { weights, rules, log_frequencies, unseen: 0.0, batch: 32 }
    }

    /// Counts of characters in a corpus, for [`RerankParts::freshness`]. What the table lacks counts as seen once.
    #[must_use]
    pub fn with_frequencies(mut self, counts: impl IntoIterator<Item = (char, u64)>) -> Self {
        let counts: HashMap<char, u64> = counts.into_iter().collect();
        let all = counts.values().fold(0_u64, |sum, &count| sum.saturating_add(count)).max(1) as f64;
        self.log_frequencies =
            counts.into_iter().map(|(c, count)| (c, (count.max(1) as f64 / all).ln())).collect();
        self.unseen = if self.log_frequencies.is_empty() { 0.0 } else { -all.ln() };
        self
    }

    /// The weights.
    pub fn weights(&self) -> &RerankWeights {
        &self.weights
    }

    /// The answers with their ranks, best first; equals keep their order.
    ///
    /// # Errors
    /// As [`score`](crate::score).
    pub fn rerank<M: StepModel>(
        &self,
        model: &M,
        lexicon: &Lexicon,
        question: &Question,
        answers: Vec<Answer>,
    ) -> Result<Vec<Ranked>, DecodeError> {
        let lines: Vec<Line> = answers.iter().map(|answer| answer.line.clone()).collect();
        let mut parts = self.parts(model, lexicon, &[(question.clone(), lines)], &CancelToken::new())?;
        let rank = |(answer, parts)| Ranked { answer, parts, total: self.weights.total(&parts) };
        let mut ranked: Vec<Ranked> = answers.into_iter().zip(parts.swap_remove(0)).map(rank).collect();
        ranked.sort_by(|a, b| b.total.total_cmp(&a.total));
        Ok(ranked)
    }

    /// The parts of any lines as answers to their questions, for many questions at once.
    ///
    /// # Errors
    /// As [`score_batch`].
    pub fn parts<M: StepModel>(
        &self,
        model: &M,
        lexicon: &Lexicon,
        questions: &[(Question, Vec<Line>)],
        cancel: &CancelToken,
    ) -> Result<Vec<Vec<RerankParts>>, DecodeError> {
        let forward = score_batch(model, lexicon, questions, self.batch, cancel)?;
        let turned: Vec<(Question, Vec<Line>)> = questions
            .iter()
            .flat_map(|(question, lines)| {
                lines.iter().map(|line| {
                    let reverse = Question::new(line.clone(), question.direction().reversed());
                    (reverse, vec![question.line().clone()])
                })
            })
            .collect();
        let mut reverse = score_batch(model, lexicon, &turned, self.batch, cancel)?.into_iter().flatten();
        let mut all = Vec::with_capacity(questions.len());
        for ((question, lines), forward) in questions.iter().zip(forward) {
            let parts = lines.iter().zip(forward).zip(&mut reverse);
            all.push(parts.map(|((line, f), r)| self.part(question, line, &f, &r)).collect());
        }
        Ok(all)
    }

    fn part(
        &self,
        question: &Question,
        line: &Line,
        forward: &LineScore,
        reverse: &LineScore,
    ) -> RerankParts {
        let direction = question.direction();
        let given = question.line().clone();
        let couplet = match direction {
            Direction::UpperToLower => Couplet::new(given, line.clone()),
            Direction::LowerToUpper => Couplet::new(line.clone(), given),
        };
        let report: Report = check(&couplet, &RuleConfig { direction, ..self.rules.clone() });
        let rate = |rule| report.finding(rule).outcome.rate().unwrap_or(1.0);
        let devices: Vec<f64> = device_report(&couplet, direction)
            .into_iter()
            .filter_map(|finding| finding.outcome.rate())
            .collect();
        let frequency = |c: char| self.log_frequencies.get(&c).copied().unwrap_or(self.unseen);
        let freshness = if self.log_frequencies.is_empty() {
            0.0
        } else {
            -line.han().map(frequency).sum::<f64>() / line.han_len() as f64
        };
        RerankParts {
            forward: forward.log_prob_per_character,
            reverse: reverse.log_prob_per_character,
            weakest: f64::from(forward.weakest()),
            freshness,
            end_tone: rate(Rule::EndTones),
            tone_opposition: rate(Rule::ToneOpposition),
            word_class: rate(Rule::WordClass),
            devices: if devices.is_empty() {
                1.0
            } else {
                devices.iter().sum::<f64>() / devices.len() as f64
            },
        }
    }
}

/// A part or weight by name, for printing.
impl Serialize for Ranked {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Ranked", 3)?;
        fields.serialize_field("answer", &self.answer.line.to_string())?;
        fields.serialize_field("parts", &self.parts)?;
        fields.serialize_field("total", &self.total)?;
        fields.end()
    }
}
