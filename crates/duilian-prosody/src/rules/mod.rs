//! The rules of parallel verse and the report of a check.

mod config;
mod form;
mod report;
mod rule;
mod sound;

pub use config::RuleConfig;
pub use form::{clean_output, length_and_marks, repetition, shared_characters};
pub use report::{Finding, Outcome, Report};
pub use rule::{Force, Rule};
pub use sound::{end_tones, tone_opposition};

use duilian_core::{Couplet, Direction};

use crate::{BlockedWords, word_class};

/// Checks a couplet against all rules, with the embedded list of blocked words.
///
/// ```
/// use duilian_core::Couplet;
/// use duilian_prosody::{Outcome, Rule, RuleConfig, check};
///
/// let couplet = Couplet::parse("一窗明月", "半榻清风")?;
/// let report = check(&couplet, &RuleConfig::default());
/// assert!(report.keeps_hard_rules());
/// assert_eq!(report.finding(Rule::EndTones).outcome, Outcome::Met);
/// assert_eq!(report.soft_score(), 1.0);
/// # Ok::<(), duilian_core::LineError>(())
/// ```
pub fn check(couplet: &Couplet, config: &RuleConfig) -> Report {
    check_with(couplet.upper().chars(), couplet.lower().chars(), config, &BlockedWords::default())
}

/// As [`check`], for any two texts: what is neither Han nor a mark breaks R4.
///
/// ```
/// use duilian_prosody::{Rule, RuleConfig, check_text};
///
/// let report = check_text("一窗明月", "半榻wind", &RuleConfig::default());
/// assert_eq!(report.finding(Rule::LengthAndMarks).outcome.places(), [5, 6]);
/// assert_eq!(report.finding(Rule::CleanOutput).outcome.places(), [3, 4, 5, 6]);
/// ```
pub fn check_text(upper: &str, lower: &str, config: &RuleConfig) -> Report {
    let (upper, lower): (Vec<char>, Vec<char>) = (upper.chars().collect(), lower.chars().collect());
    check_with(&upper, &lower, config, &BlockedWords::default())
}

/// As [`check_text`], with any list of blocked words (which counts only if the configuration says so).
///
/// ```
/// use duilian_prosody::{BlockedWords, RuleConfig, check_with};
///
/// let words = BlockedWords::from_lines(["清风"])?;
/// let line = |text: &str| text.chars().collect::<Vec<_>>();
/// let report = check_with(&line("一窗明月"), &line("半榻清风"), &RuleConfig::default(), &words);
/// assert!(!report.keeps_hard_rules());
/// # Ok::<(), duilian_prosody::ProsodyError>(())
/// ```
pub fn check_with(upper: &[char], lower: &[char], config: &RuleConfig, blocked: &BlockedWords) -> Report {
    let (given, answer) = match config.direction {
        Direction::UpperToLower => (upper, lower),
        Direction::LowerToUpper => (lower, upper),
    };
    let (end_force, end_outcome) = end_tones(given, answer, config.direction, config.tone_book);
    let blocked = if config.blocked_words { blocked } else { &BlockedWords::none() };
    let hard = |rule, outcome| Finding { rule, force: Force::Hard, outcome };
    let soft = |rule, outcome| Finding { rule, force: Force::Soft, outcome };
    let findings = [
        hard(Rule::LengthAndMarks, length_and_marks(given, answer)),
        hard(Rule::Repetition, repetition(given, answer)),
        hard(Rule::SharedCharacters, shared_characters(given, answer)),
        hard(Rule::CleanOutput, clean_output(answer, blocked)),
        Finding { rule: Rule::EndTones, force: end_force, outcome: end_outcome },
        soft(Rule::ToneOpposition, tone_opposition(given, answer, config.tone_book)),
        soft(Rule::WordClass, word_class(given, answer)),
    ];
    Report::new(findings, config)
}
