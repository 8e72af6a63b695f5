//! How good a system is on pairs of lines: loss, rules of its answers, BLEU.

use std::collections::{BTreeMap, HashMap};

use duilian_core::{Couplet, Direction, Line};
use duilian_decoder::Question;
use duilian_prosody::{Force, Rule, RuleConfig, check};
use serde::Serialize;

use crate::{Duilian, Error};

/// How often a rule is kept.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RuleRate {
    /// Mean rate over the answers to which the rule applies.
    pub rate: f64,
    /// Number of answers to which it applies.
    pub of: usize,
}

/// What a system does on pairs of upper and lower lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Number of pairs.
    pub pairs: usize,
    /// Loss of the lower lines in nats per Han character of the vocabulary.
    pub loss_forward: f64,
    /// Loss of the upper lines, given the lower ones.
    pub loss_reverse: f64,
    /// `exp(loss_forward)`.
    pub perplexity_forward: f64,
    /// BLEU-4 of the answers with the lower lines as the only references, from 0 to 100. With one reference it
    /// does not rank couplets; it is here because papers have it.
    pub bleu: f64,
    /// Number of the pairs whose loss counted: lines of equal length that are not too long.
    pub scored_pairs: usize,
    /// Upper lines without an answer.
    pub unanswered: usize,
    /// Answers that break a hard rule.
    pub broken_hard_rules: usize,
    /// Rates of the rules over the answers to upper lines. R5 stands twice: where it is hard and where soft.
    pub rules: BTreeMap<String, RuleRate>,
}

impl Evaluation {
    /// Measures a system; its own options decide how it answers.
    ///
    /// ```
    /// use duilian::{Couplet, DecodeOptions, Duilian, Evaluation};
    ///
    /// let duilian = Duilian::pretrained_with(DecodeOptions::greedy())?;
    /// let pairs = [Couplet::parse("春风入户", "明月当窗").unwrap()];
    /// let evaluation = Evaluation::measure(&duilian, &pairs)?;
    /// assert_eq!((evaluation.pairs, evaluation.unanswered, evaluation.broken_hard_rules), (1, 0, 0));
    /// assert!(evaluation.loss_forward > 0.0);
    /// # Ok::<(), duilian::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Engine`] if the model fails.
    pub fn measure(duilian: &Duilian, pairs: &[Couplet]) -> Result<Self, Error> {
        let loss = |direction| duilian.loss(pairs.iter().map(|p| p.oriented(direction)), direction);
        let (forward, reverse) = (loss(Direction::UpperToLower)?, loss(Direction::LowerToUpper)?);
        let questions: Vec<Question> =
            pairs.iter().map(|p| Question::new(p.upper().clone(), Direction::UpperToLower)).collect();
        let answers: Vec<Option<Line>> = duilian
            .answer_batch(&questions)
            .into_iter()
            .map(|result| result.ok().and_then(|answers| Some(answers.into_iter().next()?.line)))
            .collect();
        let mut sums = BTreeMap::<String, (f64, usize)>::new();
        let mut broken_hard_rules = 0;
        for (pair, answer) in pairs.iter().zip(&answers) {
            let Some(answer) = answer else { continue };
            let couplet = Couplet::new(pair.upper().clone(), answer.clone());
            let report = check(&couplet, &RuleConfig::default());
            broken_hard_rules += usize::from(!report.keeps_hard_rules());
            for finding in report.findings() {
                let Some(rate) = finding.outcome.rate() else { continue };
                let mut name = finding.rule.to_string();
                if finding.rule == Rule::EndTones && finding.force == Force::Soft {
                    name += " (soft)";
                }
                let sum = sums.entry(name).or_default();
                *sum = (sum.0 + rate, sum.1 + 1);
            }
        }
        let answered = pairs.iter().zip(&answers).filter_map(|(p, a)| Some((a.as_ref()?, p.lower())));
        Ok(Self {
            pairs: pairs.len(),
            loss_forward: forward.per_character(),
            loss_reverse: reverse.per_character(),
            perplexity_forward: forward.per_character().exp(),
            bleu: bleu(answered),
            scored_pairs: forward.pairs,
            unanswered: answers.iter().filter(|a| a.is_none()).count(),
            broken_hard_rules,
            rules: sums
                .into_iter()
                .map(|(rule, (sum, of))| (rule, RuleRate { rate: sum / of as f64, of }))
                .collect(),
        })
    }
}

impl std::fmt::Display for Evaluation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "pairs                {}", self.pairs)?;
        writeln!(f, "loss forward         {:.4} nats per character", self.loss_forward)?;
        writeln!(f, "loss reverse         {:.4} nats per character", self.loss_reverse)?;
        writeln!(f, "perplexity forward   {:.1}", self.perplexity_forward)?;
        writeln!(f, "BLEU-4               {:.2}", self.bleu)?;
        writeln!(f, "unanswered           {}", self.unanswered)?;
        writeln!(f, "break a hard rule    {}", self.broken_hard_rules)?;
        for (rule, rate) in &self.rules {
            writeln!(f, "{rule:<36} {:5.1} % of {}", 100.0 * rate.rate, rate.of)?;
        }
        Ok(())
    }
}

/// Corpus BLEU-4 over characters with one reference each (Papineni et al. 2002), from 0 to 100; 0 if no n-gram of
/// some order matches. Marks count as characters.
///
/// ```
/// use duilian::{Line, bleu};
/// let line = Line::parse("明月当窗照客衣")?;
/// assert_eq!(bleu([(&line, &line)]), 100.0);
/// assert_eq!(bleu([(&line, &Line::parse("春风入户吹人面")?)]), 0.0);
/// # Ok::<(), duilian::core::LineError>(())
/// ```
pub fn bleu<'a>(pairs: impl IntoIterator<Item = (&'a Line, &'a Line)>) -> f64 {
    let (mut matched, mut total) = ([0_usize; 4], [0_usize; 4]);
    let (mut candidate_length, mut reference_length) = (0, 0);
    for (candidate, reference) in pairs {
        candidate_length += candidate.len();
        reference_length += reference.len();
        for n in 1..=4 {
            let mut left = HashMap::<&[char], usize>::new();
            for gram in reference.chars().windows(n) {
                *left.entry(gram).or_default() += 1;
            }
            for gram in candidate.chars().windows(n) {
                total[n - 1] += 1;
                if let Some(count) = left.get_mut(gram).filter(|count| **count > 0) {
                    *count -= 1;
                    matched[n - 1] += 1;
                }
            }
        }
    }
    if matched.contains(&0) {
        return 0.0;
    }
    let precision: f64 =
        matched.iter().zip(total).map(|(&m, t)| (m as f64 / t as f64).ln()).sum::<f64>() / 4.0;
    let brevity = (1.0 - reference_length as f64 / candidate_length as f64).min(0.0);
    100.0 * (precision + brevity).exp()
}
