//! What holds for the devices of every line.

use std::collections::HashMap;

use duilian_core::{Line, MARKS, is_han};
use duilian_prosody::{Device, DeviceKind, ToneBook, TonePattern, devices, is_split, number_value, splits};
use proptest::collection::vec;
use proptest::prelude::*;

/// Few characters, so that lines repeat some, count, spell characters out and sound alike.
fn line() -> impl Strategy<Value = Line> {
    let han = "春花一二三四九十百日月明女子好少妙江河湖海火金土木水口品同桐铜东红白上之𠮷";
    let han = prop::sample::select(han.chars().collect::<Vec<_>>());
    let mark = prop::sample::select(MARKS.to_vec());
    vec(prop_oneof![6 => han, 1 => mark], 1..24)
        .prop_filter_map("a line has a Han character", |characters| Line::from_chars(characters).ok())
}

proptest! {
    #[test]
    fn a_line_has_its_own_devices(line in line()) {
        let kinds: Vec<DeviceKind> = devices(&line).iter().map(Device::kind).collect();
        prop_assert!(kinds.is_sorted(), "{kinds:?}");
        for device in devices(&line) {
            prop_assert!(device.is_met_by(&line), "{line}: {device}");
            let places = device.places();
            prop_assert!(!places.is_empty() && places.is_sorted());
            prop_assert!(places.iter().all(|&place| line.chars().get(place).is_some_and(|&c| is_han(c))));
            for (a, b) in device.equal_places() {
                prop_assert!(a < b && line.chars()[a] == line.chars()[b], "{line}: {device}");
            }
            prop_assert_eq!(!device.equal_places().is_empty(), device.kind().follows_from_repetition());
        }
    }

    #[test]
    fn what_repeats_alike_answers_every_repetition(line in line(), shift in 1_u32..500) {
        // Other characters, but equal ones where the line has equal ones.
        let mut others = HashMap::new();
        let answer = line.chars().iter().map(|&c| {
            let next = char::from_u32(0x4E00 + shift + others.len() as u32).expect("a Han character");
            if is_han(c) { *others.entry(c).or_insert(next) } else { c }
        });
        let answer = Line::from_chars(answer.collect()).expect("the shape of a line");
        for device in devices(&line).iter().filter(|device| device.kind().follows_from_repetition()) {
            prop_assert!(device.is_met_by(&answer), "{line} {answer}: {device}");
        }
    }

    #[test]
    fn any_line_can_stand_as_an_answer(line in line(), answer in line()) {
        for device in devices(&line) {
            let outcome = device.outcome(&answer);
            prop_assert!(outcome.places().iter().all(|place| (1..=line.len()).contains(place)));
            prop_assert_eq!(device.is_met_by(&answer), !outcome.is_missed());
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_an_error(text in "[平仄中○●⊙，a ]{0,12}") {
        if let Ok(pattern) = text.parse::<TonePattern>() {
            prop_assert!(!pattern.places().is_empty());
            prop_assert_eq!(pattern.to_string().parse::<TonePattern>(), Ok(pattern.clone()));
            prop_assert_eq!(pattern.answer().answer(), pattern);
        }
    }

    #[test]
    fn a_line_matches_its_own_pattern(line in line()) {
        for book in [ToneBook::Pingshui, ToneBook::Modern, ToneBook::Either] {
            prop_assert!(TonePattern::of(&line, book).matches(&line, book));
        }
    }
}

#[test]
fn every_split_is_one() {
    for c in ('\u{4E00}'..='\u{9FFF}').step_by(7) {
        for parts in splits(c) {
            let is_number = number_value(c).is_some();
            assert!(
                parts.len() > 1 && (is_number || parts.contains(&c) || is_split(c, &parts)),
                "{c} {parts:?}"
            );
        }
    }
}
