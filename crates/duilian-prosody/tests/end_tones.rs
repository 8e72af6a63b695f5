//! What the search asks of the end of a line (R5): never less than the report, and never less than an
//! independent check with tables of its own.

use std::collections::HashSet;

use duilian_core::Direction;
use duilian_prosody::{
    Force, Outcome, Tone, ToneBook, ToneSet, end_tone, end_tones, required_end_tone, satisfies_end_tone,
    tones,
};

/// Han characters with what the independent check counts them as.
fn checked() -> Vec<(char, ToneSet)> {
    let rows = include_str!("end_tone_classes.txt").lines().filter(|line| !line.starts_with('#'));
    rows.flat_map(|row| {
        let (class, characters) = row.split_once('\t').expect("two columns");
        let set = class.chars().fold(ToneSet::EMPTY, |set, c| {
            set.union(if c == '平' { Tone::Level } else { Tone::Oblique }.into())
        });
        characters.chars().map(move |c| (c, set))
    })
    .collect()
}

/// Whether a search may answer a line that ends `given` with one that ends `asked`.
fn may_answer(given: char, asked: char, direction: Direction) -> bool {
    let (tone, hard) = required_end_tone(given, direction);
    !hard || satisfies_end_tone(asked, tone)
}

fn upper_first(given: char, asked: char, direction: Direction) -> (char, char) {
    match direction {
        Direction::UpperToLower => (given, asked),
        Direction::LowerToUpper => (asked, given),
    }
}

#[test]
fn no_answer_breaks_r5_by_an_independent_check() {
    let checked = checked();
    assert_eq!(checked.len(), 8_000);
    // Characters of one class behave alike: one of each will do.
    let behaviour = |c| {
        Direction::ALL
            .map(|direction| required_end_tone(c, direction))
            .map(|(t, hard)| (t, hard, end_tone(c)))
    };
    let mut seen = HashSet::new();
    let classes: Vec<_> = checked.iter().filter(|&&(c, set)| seen.insert((behaviour(c), set))).collect();
    assert!(classes.len() > 8);
    for &&(given, given_set) in &classes {
        for &&(asked, asked_set) in &classes {
            for direction in Direction::ALL {
                if may_answer(given, asked, direction) {
                    let (upper, lower) = match direction {
                        Direction::UpperToLower => (given_set, asked_set),
                        Direction::LowerToUpper => (asked_set, given_set),
                    };
                    let broken = upper.only(Tone::Oblique) && !lower.contains(Tone::Level);
                    assert!(!broken, "{direction:?}: {given} answered by {asked}");
                }
            }
        }
    }
}

#[test]
fn no_answer_breaks_r5_by_the_report() {
    let han = ('\u{3400}'..='\u{4DBF}').chain('\u{4E00}'..='\u{9FFF}').chain('\u{20000}'..='\u{323AF}');
    let mut seen = HashSet::new();
    let classes: Vec<char> = han
        .filter(|&c| {
            let required = Direction::ALL.map(|direction| required_end_tone(c, direction));
            seen.insert((required, end_tone(c), tones(c, ToneBook::Either)))
        })
        .collect();
    for &given in &classes {
        for &asked in &classes {
            for direction in Direction::ALL {
                if may_answer(given, asked, direction) {
                    let (force, outcome) = end_tones(&[given], &[asked], direction, ToneBook::Either);
                    assert!(force == Force::Soft || !outcome.is_missed(), "{direction:?}: {given} {asked}");
                }
            }
        }
    }
}

#[test]
fn what_is_asked_for_exists_and_satisfies_the_report() {
    for given in "月花竹看了山\u{3FFFD}".chars() {
        for direction in Direction::ALL {
            let (tone, _) = required_end_tone(given, direction);
            for asked in "天地人竹看了".chars().filter(|&c| satisfies_end_tone(c, tone)) {
                let (upper, lower) = upper_first(given, asked, direction);
                let (_, outcome) = end_tones(&[upper], &[lower], Direction::UpperToLower, ToneBook::Either);
                assert_ne!(outcome, Outcome::Missed { places: vec![1] }, "{upper} {lower}");
            }
        }
    }
}

#[test]
fn ends_of_lines() {
    use Direction::{LowerToUpper, UpperToLower};
    let cases = [
        // given, of the lower line, of the upper line
        ('月', (Tone::Level, true), (Tone::Level, true)),
        ('看', (Tone::Level, true), (Tone::Level, true)), // first reading kàn
        ('花', (Tone::Oblique, false), (Tone::Oblique, false)),
        ('竹', (Tone::Level, false), (Tone::Level, false)), // entering tone, today zhú
        ('了', (Tone::Level, false), (Tone::Level, false)), // neutral today, 仄 in the rhyme book
        ('\u{3FFFD}', (Tone::Level, false), (Tone::Oblique, false)), // unknown: by custom
    ];
    for (given, lower, upper) in cases {
        assert_eq!(required_end_tone(given, UpperToLower), lower, "{given}");
        assert_eq!(required_end_tone(given, LowerToUpper), upper, "{given}");
    }
}
