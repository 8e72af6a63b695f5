//! Couplets with what each rule says of them.

use duilian_core::Direction;
use duilian_prosody::{Finding, Force, Outcome, Rule, RuleConfig, check_text};

/// A finding in the notation of `cases.tsv`.
fn short(finding: &Finding) -> String {
    let places: Vec<String> = finding.outcome.places().iter().map(ToString::to_string).collect();
    let places = places.join(",");
    let verdict = match &finding.outcome {
        Outcome::NotApplicable => return "-".into(),
        Outcome::Rate { met, of, .. } if met == of => return format!("{met}/{of}"),
        Outcome::Rate { met, of, .. } => return format!("{met}/{of}@{places}"),
        Outcome::Met => "ok".to_string(),
        Outcome::Missed { .. } => format!("x{places}"),
    };
    if finding.force == Force::Soft { format!("({verdict})") } else { verdict }
}

#[test]
fn each_rule_says_what_the_cases_say() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for (number, line) in (1..).zip(include_str!("cases.tsv").lines()) {
        if line.starts_with('#') {
            continue;
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [direction, upper, lower, expected @ ..] = columns.as_slice() else { panic!("line {number}") };
        let direction = match *direction {
            "lower" => Direction::UpperToLower,
            "upper" => Direction::LowerToUpper,
            other => panic!("line {number}: {other}"),
        };
        let report = check_text(upper, lower, &RuleConfig { direction, ..RuleConfig::default() });
        let found: Vec<String> = report.findings().iter().map(short).collect();
        if found != expected {
            wrong.push(format!(
                "line {number}: {upper} {lower}\n  expected {expected:?}\n  found    {found:?}"
            ));
        }
        let hard = found.iter().any(|verdict| verdict.starts_with('x'));
        assert_eq!(report.keeps_hard_rules(), !hard, "line {number}");
        cases += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases > 40);
}

#[test]
fn findings_stand_in_the_order_of_the_rules() {
    let report = check_text("一窗明月", "半榻清风", &RuleConfig::default());
    let rules: Vec<Rule> = report.findings().iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, Rule::ALL);
    for (rule, i) in Rule::ALL.into_iter().zip(1..) {
        assert_eq!(report.finding(rule).rule, rule);
        assert_eq!(rule.code(), format!("R{i}"));
    }
}

#[test]
fn weights_decide_the_soft_score() {
    // R6: 1 of 2, R7: 1 of 1, R5 soft and missed.
    let score = |end_tone_weight, tone_opposition_weight, word_class_weight| {
        let config = RuleConfig {
            end_tone_weight,
            tone_opposition_weight,
            word_class_weight,
            ..RuleConfig::default()
        };
        format!("{:.3}", check_text("叶落千山", "花开万家", &config).soft_score())
    };
    assert_eq!(score(1.0, 1.0, 1.0), "0.500");
    assert_eq!(score(0.0, 1.0, 1.0), "0.750");
    assert_eq!(score(1.0, 0.0, 3.0), "0.750");
    assert_eq!(score(1.0, f64::NAN, -1.0), "0.000");
    assert_eq!(score(0.0, 0.0, 0.0), "1.000");
    assert_eq!(score(0.0, f64::MAX, f64::MAX), "0.750");
}

#[test]
fn a_report_is_readable_text_and_json() {
    let report = check_text("叶落千山", "花开万家", &RuleConfig::default());
    let text = "R1 length and punctuation: met\n\
        R2 repetition: met\n\
        R3 no shared character: met\n\
        R4 clean output: met\n\
        R5 end tones: missed at 4 (soft: the upper line ends 平, as a lower line by nature)\n\
        R6 tone opposition: 1 of 2, missed at 4\n\
        R7 word class: 1 of 1";
    assert_eq!(report.to_string(), text);
    let json = serde_json::to_value(&report).expect("a report is plain data");
    assert_eq!(json["findings"][4]["rule"], "end_tones");
    assert_eq!(json["findings"][4]["force"], "soft");
    assert_eq!(json["findings"][4]["outcome"]["missed"]["places"], serde_json::json!([4]));
    assert_eq!(json["findings"][5]["outcome"]["rate"]["of"], 2);
    assert_eq!(json["soft_score"], 0.5);
}
