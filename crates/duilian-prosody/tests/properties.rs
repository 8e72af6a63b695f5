//! What holds for every couplet.

use duilian_core::{Couplet, Direction, Line, MARKS, is_han, is_mark};
use duilian_prosody::{
    BlockedWords, Outcome, Rule, RuleConfig, Tone, ToneBook, check, check_text, check_with, tones,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Few characters, so that lines repeat and share some.
fn line(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<char>> {
    let han = prop::sample::select("春花秋月何时了往事知多少红白东西一二不无𠮷".chars().collect::<Vec<_>>());
    let mark = prop::sample::select(MARKS.to_vec());
    vec(prop_oneof![5 => han, 1 => mark], length)
}

fn config() -> impl Strategy<Value = RuleConfig> {
    let direction = prop::sample::select(Direction::ALL.to_vec());
    let tone_book = prop::sample::select(vec![ToneBook::Pingshui, ToneBook::Modern, ToneBook::Either]);
    (direction, tone_book, any::<bool>(), any::<[f64; 3]>()).prop_map(
        |(direction, tone_book, blocked_words, weights)| {
            let [end_tone_weight, tone_opposition_weight, word_class_weight] = weights;
            RuleConfig {
                direction,
                tone_book,
                blocked_words,
                end_tone_weight,
                tone_opposition_weight,
                word_class_weight,
            }
        },
    )
}

proptest! {
    #[test]
    fn any_two_texts_get_a_report(upper in any::<String>(), lower in any::<String>(), config in config()) {
        let report = check_text(&upper, &lower, &config);
        prop_assert_eq!(report.findings().len(), 7);
        prop_assert!((0.0..=1.0).contains(&report.soft_score()), "{}", report.soft_score());
        // What the answer lacks is missed one place after its end.
        let end = upper.chars().count().max(lower.chars().count()) + 1;
        for finding in report.findings() {
            prop_assert!(finding.outcome.places().iter().all(|place| (1..=end).contains(place)), "{}", finding);
            prop_assert!(finding.outcome.places().is_sorted());
        }
    }

    #[test]
    fn a_line_answers_itself_badly(characters in line(1..20)) {
        let Ok(line) = Line::from_chars(characters) else { return Ok(()) };
        let report = check(&Couplet::new(line.clone(), line.clone()), &RuleConfig::default());
        let han: Vec<usize> =
            (1..).zip(line.chars()).filter(|&(_, &c)| is_han(c)).map(|(place, _)| place).collect();
        prop_assert_eq!(&report.finding(Rule::LengthAndMarks).outcome, &Outcome::Met);
        prop_assert_eq!(&report.finding(Rule::Repetition).outcome, &Outcome::Met);
        prop_assert_eq!(report.finding(Rule::SharedCharacters).outcome.places(), &han);
        prop_assert!(!report.keeps_hard_rules());
    }

    #[test]
    fn the_rules_are_what_their_definitions_say(upper in line(0..12), lower in line(0..12)) {
        let report = check_with(&upper, &lower, &RuleConfig::default(), &BlockedWords::none());
        let missed = |rule| report.finding(rule).outcome.is_missed();
        let marks = |line: &[char]| line.iter().map(|&c| is_mark(c).then_some(c)).collect::<Vec<_>>();
        prop_assert_eq!(missed(Rule::LengthAndMarks), marks(&upper) != marks(&lower));

        let han = |line: &[char]| line.iter().copied().filter(|&c| !is_mark(c)).collect::<Vec<_>>();
        let (u, l) = (han(&upper), han(&lower));
        let repeats_alike = u.len() == l.len()
            && (0..u.len()).all(|i| (0..i).all(|j| (u[i] == u[j]) == (l[i] == l[j])));
        prop_assert_eq!(missed(Rule::Repetition), !repeats_alike);
        prop_assert_eq!(missed(Rule::SharedCharacters), l.iter().any(|c| u.contains(c)));
        prop_assert_eq!(missed(Rule::CleanOutput), lower.is_empty());
    }

    #[test]
    fn the_first_three_rules_do_not_care_which_line_is_given(upper in line(0..12), lower in line(0..12)) {
        let [down, up] = Direction::ALL.map(|direction| {
            check_with(&upper, &lower, &RuleConfig { direction, ..RuleConfig::default() }, &BlockedWords::none())
        });
        for rule in [Rule::LengthAndMarks, Rule::Repetition, Rule::SharedCharacters, Rule::EndTones] {
            let (down, up) = (down.finding(rule), up.finding(rule));
            prop_assert_eq!(down.outcome.is_missed(), up.outcome.is_missed());
            prop_assert_eq!(down.force, up.force);
        }
        prop_assert_eq!(&down.finding(Rule::ToneOpposition).outcome, &up.finding(Rule::ToneOpposition).outcome);
        prop_assert_eq!(&down.finding(Rule::WordClass).outcome, &up.finding(Rule::WordClass).outcome);
    }

    #[test]
    fn every_character_has_a_tone_and_either_book_is_their_union(c in any::<char>()) {
        let [pingshui, modern, either] =
            [ToneBook::Pingshui, ToneBook::Modern, ToneBook::Either].map(|book| tones(c, book));
        prop_assert!(!pingshui.is_empty() && !modern.is_empty() && !either.is_empty());
        for tone in Tone::ALL {
            prop_assert!(!either.contains(tone) || pingshui.contains(tone) || modern.contains(tone));
        }
    }

    #[test]
    fn a_blocked_word_is_found_wherever_it_stands(
        // Characters of no allowed context.
        before in vec(prop::sample::select(vec!['甲', '乙', '丙', '，']), 0..6),
        after in vec(prop::sample::select(vec!['甲', '乙', '丙', '，']), 0..6),
        word in prop::sample::select(BlockedWords::default().words().map(<[char]>::to_vec).collect::<Vec<_>>()),
    ) {
        let text = [&*before, &*word, &*after].concat();
        let found = BlockedWords::default().find(&text);
        prop_assert!(found.is_some_and(|range| range.start == before.len()));
    }

    #[test]
    fn the_entries_say_what_is_found(pieces in vec(piece(), 0..6)) {
        let words = BlockedWords::default();
        let text: Vec<char> = pieces.concat();
        let stands = |what: &[char], at: usize| text.get(at..).is_some_and(|rest| rest.starts_with(what));
        let blocked_at = |at: usize| {
            words.entries().filter(|(word, _)| stands(word, at)).any(|(_, mut contexts)| {
                !contexts.any(|(context, i)| at.checked_sub(i).is_some_and(|from| stands(context, from)))
            })
        };
        let first = (0..text.len()).find(|&at| blocked_at(at));
        prop_assert_eq!(words.find(&text).map(|range| range.start), first);
    }
}

/// A character, a blocked word, or a context in which one is allowed.
fn piece() -> impl Strategy<Value = Vec<char>> {
    let words = BlockedWords::default();
    let mut pieces: Vec<Vec<char>> = vec![vec!['春'], vec!['月'], vec!['岁'], vec!['，']];
    for (word, contexts) in words.entries() {
        let contexts: Vec<Vec<char>> = contexts.map(|(context, _)| context.to_vec()).collect();
        if !contexts.is_empty() {
            pieces.push(word.to_vec());
            pieces.extend(contexts);
        }
    }
    prop::sample::select(pieces)
}
