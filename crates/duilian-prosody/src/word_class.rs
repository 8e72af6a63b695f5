//! R7: word classes that answer each other.

use std::collections::HashMap;
use std::sync::LazyLock;

use duilian_core::is_han;
use serde::{Deserialize, Serialize};

use crate::{Outcome, length_and_marks};

/// A class of words that parallel verse answers with its own (工对). The characters of each class stand in
/// `data/word_classes.txt`, written for this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WordClass {
    /// Numbers and counts: 一, 千, 双.
    Number,
    /// Colours: 红, 碧.
    Colour,
    /// Directions and places beside something: 东, 上, 间.
    Direction,
    /// Particles, negations, auxiliaries, adverbs: 之, 不, 应.
    Function,
}

impl WordClass {
    /// All classes.
    pub const ALL: [Self; 4] = [Self::Number, Self::Colour, Self::Direction, Self::Function];

    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "number" => Self::Number,
            "colour" => Self::Colour,
            "direction" => Self::Direction,
            "function" => Self::Function,
            _ => return None,
        })
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Bits of the classes of one character.
#[derive(Debug, Clone, Copy, Default)]
struct Classes {
    /// Classes that ask to be answered.
    member: u8,
    /// Classes that answer: those above and the loose ones.
    answering: u8,
}

static CLASSES: LazyLock<HashMap<char, Classes>> = LazyLock::new(|| {
    let mut classes = HashMap::<char, Classes>::new();
    for (class, is_member, characters) in rows() {
        let bit = class.map_or(0, WordClass::bit);
        for c in characters.chars().filter(|&c| is_han(c)) {
            let entry = classes.entry(c).or_default();
            entry.answering |= bit;
            entry.member |= if is_member { bit } else { 0 };
        }
    }
    classes
});

/// Rows of the data file: class, whether its characters are members, characters.
fn rows() -> impl Iterator<Item = (Option<WordClass>, bool, &'static str)> {
    let lines = include_str!("../data/word_classes.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(':')).map(|(name, characters)| {
        let member = name.strip_suffix('?').is_none();
        (WordClass::from_name(name.trim_end_matches('?')), member, characters.trim())
    })
}

fn classes(c: char) -> Classes {
    CLASSES.get(&c).copied().unwrap_or_default()
}

/// The classes that a simplified character asks to have answered.
///
/// ```
/// use duilian_prosody::{WordClass, word_classes};
/// assert_eq!(word_classes('红').collect::<Vec<_>>(), [WordClass::Colour]);
/// assert_eq!(word_classes('玉').count(), 0); // may answer a colour, but asks for none
/// ```
pub fn word_classes(c: char) -> impl Iterator<Item = WordClass> {
    let member = classes(c).member;
    WordClass::ALL.into_iter().filter(move |class| member & class.bit() != 0)
}

/// Whether a character answers a member of the class: as a member or as a loose one.
pub(crate) fn answers(c: char, class: WordClass) -> bool {
    classes(c).answering & class.bit() != 0
}

/// R7: the share of places that answer each other by class, among those where either line has a member of a
/// class. Two characters answer each other if they share a class of which at least one is a member. Does not
/// apply where R1 is broken. Word boundaries are not looked at.
///
/// ```
/// use duilian_prosody::{Outcome, word_class};
/// let line = |text: &str| text.chars().collect::<Vec<_>>();
/// let rate = word_class(&line("千山红叶落"), &line("一水玉花香"));
/// assert_eq!(rate, Outcome::Rate { met: 2, of: 2, places: vec![] });
/// ```
pub fn word_class(given: &[char], answer: &[char]) -> Outcome {
    if length_and_marks(given, answer).is_missed() {
        return Outcome::NotApplicable;
    }
    let pairs = given.iter().zip(answer).map(|(&g, &a)| (classes(g), classes(a)));
    Outcome::rate_of(
        (1..)
            .zip(pairs)
            .filter(|(_, (g, a))| g.member | a.member != 0)
            .map(|(place, (g, a))| (place, g.member & a.answering | g.answering & a.member != 0)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_file_names_every_class_and_no_other() {
        let rows: Vec<_> = rows().collect();
        for class in WordClass::ALL {
            for member in [true, false] {
                let row = rows.iter().filter(|(c, m, _)| *c == Some(class) && *m == member);
                assert_eq!(row.count(), 1, "{class:?} member: {member}");
            }
        }
        assert_eq!(rows.len(), 2 * WordClass::ALL.len());
        for (class, _, characters) in rows {
            for (i, c) in characters.chars().enumerate() {
                assert!(is_han(c) && !characters.chars().take(i).any(|d| c == d), "{class:?}: {c}");
            }
        }
    }
}
