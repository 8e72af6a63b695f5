//! What a check found.

use serde::Serialize;

use super::{Force, Rule, RuleConfig};

/// How a couplet stands to one rule. Places count the characters of the answer, marks included, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The rule asks for nothing here.
    NotApplicable,
    /// The rule is kept.
    Met,
    /// The rule is broken.
    Missed {
        /// Where; a place may lie beyond the end of the answer if the other line is longer.
        places: Vec<usize>,
    },
    /// The rule looks at several places, each kept or not.
    Rate {
        /// Number of places that keep it.
        met: usize,
        /// Number of places that it looks at; at least 1.
        of: usize,
        /// The places that do not keep it.
        places: Vec<usize>,
    },
}

impl Outcome {
    /// Met if there are no places (from 1), missed otherwise.
    pub(crate) fn missed_at(places: Vec<usize>) -> Self {
        if places.is_empty() { Self::Met } else { Self::Missed { places } }
    }

    /// A rate over places (from 1), each with whether it keeps the rule.
    pub(crate) fn rate_of(looked_at: impl IntoIterator<Item = (usize, bool)>) -> Self {
        let (mut met, mut places) = (0, Vec::new());
        for (place, kept) in looked_at {
            if kept {
                met += 1;
            } else {
                places.push(place);
            }
        }
        match met + places.len() {
            0 => Self::NotApplicable,
            of => Self::Rate { met, of, places },
        }
    }

    /// How far the rule is kept, from 0 to 1; `None` where it does not apply.
    ///
    /// ```
    /// use duilian_prosody::Outcome;
    /// assert_eq!(Outcome::Rate { met: 1, of: 2, places: vec![4] }.rate(), Some(0.5));
    /// assert_eq!(Outcome::Missed { places: vec![1] }.rate(), Some(0.0));
    /// assert_eq!(Outcome::NotApplicable.rate(), None);
    /// ```
    pub fn rate(&self) -> Option<f64> {
        match self {
            Self::NotApplicable => None,
            Self::Met => Some(1.0),
            Self::Missed { .. } => Some(0.0),
            Self::Rate { met, of, .. } => Some(*met as f64 / *of as f64),
        }
    }

    /// Whether some place breaks the rule.
    pub fn is_missed(&self) -> bool {
        !self.places().is_empty()
    }

    /// The places that break the rule.
    pub fn places(&self) -> &[usize] {
        match self {
            Self::NotApplicable | Self::Met => &[],
            Self::Missed { places } | Self::Rate { places, .. } => places,
        }
    }
}

/// What was found of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Whether it is hard here. R5 is hard or soft as the upper line ends.
    pub force: Force,
    /// How the couplet stands to it.
    pub outcome: Outcome,
}

impl Finding {
    /// Whether the couplet breaks a hard rule here.
    pub fn breaks_hard_rule(&self) -> bool {
        self.force == Force::Hard && self.outcome.is_missed()
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.rule)?;
        match &self.outcome {
            Outcome::NotApplicable => return f.write_str("does not apply"),
            Outcome::Met => f.write_str("met")?,
            Outcome::Missed { .. } => f.write_str("missed")?,
            Outcome::Rate { met, of, .. } => write!(f, "{met} of {of}")?,
        }
        let places: Vec<String> = self.outcome.places().iter().map(ToString::to_string).collect();
        if self.outcome.is_missed() {
            write!(
                f,
                "{} at {}",
                if self.outcome.rate() == Some(0.0) { "" } else { ", missed" },
                places.join(", ")
            )?;
        }
        if self.rule == Rule::EndTones && self.force == Force::Soft {
            f.write_str(" (soft: the upper line ends 平, as a lower line by nature)")?;
        }
        Ok(())
    }
}

/// What was found of every rule.
///
/// ```
/// use duilian_core::Couplet;
/// use duilian_prosody::{Rule, RuleConfig, check};
///
/// let couplet = Couplet::parse("绿水青山好", "红花白雪红")?;
/// let report = check(&couplet, &RuleConfig::default());
/// assert!(!report.keeps_hard_rules());
/// assert_eq!(report.finding(Rule::Repetition).outcome.places(), [5]);
/// assert!(report.to_string().starts_with("R1 length and punctuation: met\nR2 repetition: missed at 5\n"));
/// # Ok::<(), duilian_core::LineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    findings: [Finding; 7],
    soft_score: f64,
}

impl Report {
    pub(crate) fn new(findings: [Finding; 7], config: &RuleConfig) -> Self {
        let soft = || {
            findings
                .iter()
                .filter(|finding| finding.force == Force::Soft)
                .filter_map(|finding| Some((config.weight(finding.rule)?, finding.outcome.rate()?)))
        };
        // Divided by the largest weight first, so that no sum can overflow.
        let largest = soft().map(|(weight, _)| weight).fold(0.0, f64::max);
        let total: f64 = soft().map(|(weight, _)| weight / largest).sum();
        let kept: f64 = soft().map(|(weight, rate)| weight / largest * rate).sum();
        Self { findings, soft_score: if largest > 0.0 { kept / total } else { 1.0 } }
    }

    /// The findings, R1 first.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What was found of one rule.
    pub fn finding(&self, rule: Rule) -> &Finding {
        &self.findings[rule as usize]
    }

    /// Whether no hard rule is broken.
    pub fn keeps_hard_rules(&self) -> bool {
        !self.findings.iter().any(Finding::breaks_hard_rule)
    }

    /// The weighted mean of the rates of the soft rules that apply, from 0 to 1; 1 if none applies.
    pub fn soft_score(&self) -> f64 {
        self.soft_score
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, finding) in self.findings.iter().enumerate() {
            write!(f, "{}{finding}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
