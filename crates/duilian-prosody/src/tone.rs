//! Level and oblique tones, and the books that tell them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// The two classes of tones that verse opposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// 平: the classical level tone, modern tones 1 and 2.
    Level,
    /// 仄: the classical rising, departing and entering tones, modern tones 3 and 4.
    Oblique,
}

impl Tone {
    /// Both classes.
    pub const ALL: [Self; 2] = [Self::Level, Self::Oblique];

    /// The other class.
    ///
    /// ```
    /// use duilian_prosody::Tone;
    /// assert_eq!(Tone::Level.opposite(), Tone::Oblique);
    /// ```
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Level => Self::Oblique,
            Self::Oblique => Self::Level,
        }
    }
}

impl std::fmt::Display for Tone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Level => "level (平)",
            Self::Oblique => "oblique (仄)",
        })
    }
}

/// A set of [`Tone`]s: what a character may count as.
///
/// ```
/// use duilian_prosody::{Tone, ToneSet};
///
/// let level = ToneSet::from(Tone::Level);
/// assert!(level.contains(Tone::Level) && level.only(Tone::Level));
/// assert_eq!(level.union(Tone::Oblique.into()), ToneSet::BOTH);
/// assert!(!ToneSet::BOTH.only(Tone::Level));
/// assert!(ToneSet::default().is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ToneSet(u8);

impl ToneSet {
    /// Neither class.
    pub const EMPTY: Self = Self(0);
    /// Both classes.
    pub const BOTH: Self = Self(0b11);

    const fn bit(tone: Tone) -> u8 {
        match tone {
            Tone::Level => 0b01,
            Tone::Oblique => 0b10,
        }
    }

    /// Whether the set has no class.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the class is in the set.
    pub fn contains(self, tone: Tone) -> bool {
        self.0 & Self::bit(tone) != 0
    }

    /// Whether the set has this class and no other.
    pub fn only(self, tone: Tone) -> bool {
        self.0 == Self::bit(tone)
    }

    /// The classes that stand in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether two characters can be read with opposite tones: one level, the other oblique.
    ///
    /// ```
    /// use duilian_prosody::{Tone, ToneSet};
    /// assert!(ToneSet::from(Tone::Level).opposes(ToneSet::BOTH));
    /// assert!(!ToneSet::from(Tone::Level).opposes(Tone::Level.into()));
    /// ```
    pub fn opposes(self, other: Self) -> bool {
        Tone::ALL.iter().any(|&tone| self.contains(tone) && other.contains(tone.opposite()))
    }

    /// Both classes if the set is empty, itself otherwise: an unknown character counts as either.
    fn or_both(self) -> Self {
        if self.is_empty() { Self::BOTH } else { self }
    }
}

impl From<Tone> for ToneSet {
    fn from(tone: Tone) -> Self {
        Self(Self::bit(tone))
    }
}

/// Which readings decide the tone of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToneBook {
    /// The classical rhyme book 平水韵; characters that it lacks by 廣韻.
    Pingshui,
    /// Modern standard readings: the first one, and others that are alive in phrases.
    Modern,
    /// What either book says. The default.
    #[default]
    Either,
}

/// The tones that a Han character may count as, simplified or traditional. A simplified character has the
/// tones of every traditional one that it stands for (后: 后 and 後). Characters that the book does not know,
/// or whose first modern reading has the neutral tone, count as both.
///
/// ```
/// use duilian_prosody::{Tone, ToneBook, tones};
///
/// assert!(tones('天', ToneBook::default()).only(Tone::Level));
/// // An entering tone, today read with tone 1.
/// assert!(tones('出', ToneBook::Pingshui).only(Tone::Oblique));
/// assert!(tones('出', ToneBook::Modern).only(Tone::Level));
/// assert_eq!(tones('出', ToneBook::Either).union(tones('出', ToneBook::Modern)), tones('出', ToneBook::Either));
/// assert_eq!(tones('国', ToneBook::Pingshui), tones('國', ToneBook::Pingshui));
/// ```
pub fn tones(c: char, book: ToneBook) -> ToneSet {
    let entry = entry(c);
    match book {
        ToneBook::Pingshui => entry.pingshui(),
        ToneBook::Modern => entry.modern(),
        ToneBook::Either => entry.pingshui().union(entry.modern()),
    }
    .or_both()
}

/// What the tables say of one character, in pairs of bits; each pair is empty if the table lacks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Entry(u8);

impl Entry {
    pub(crate) fn pingshui(self) -> ToneSet {
        ToneSet(self.0 & 0b11)
    }

    /// The living modern readings.
    pub(crate) fn modern(self) -> ToneSet {
        ToneSet(self.0 >> 2 & 0b11)
    }

    /// The first modern reading; both classes if it has the neutral tone.
    pub(crate) fn first(self) -> ToneSet {
        ToneSet(self.0 >> 4 & 0b11)
    }
}

pub(crate) fn entry(c: char) -> Entry {
    slot(c).and_then(|i| TABLE.get(i)).copied().unwrap_or_default()
}

/// Entries of U+3400-U+9FFF, then of planes 2 and 3 up to U+323AF, the last ideograph of Unicode 16.
static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let mut table = vec![Entry::default(); 0x6C00 + 0x123B0];
    let mut add = |characters: &str, bits: u8| {
        for entry in characters.chars().filter_map(slot) {
            if let Some(entry) = table.get_mut(entry) {
                entry.0 |= bits;
            }
        }
    };
    for [_, tone, characters] in rows(include_str!("../data/pingshui.txt")) {
        add(characters, class(tone));
    }
    for [first, all, characters] in rows(include_str!("../data/modern.txt")) {
        // A first reading in the neutral tone counts as both, whatever the other readings are.
        let all = class(first) | class(all);
        add(characters, all << 2 | class(first) << 4);
    }
    table
});

fn slot(c: char) -> Option<usize> {
    match c {
        '\u{3400}'..='\u{9FFF}' => Some(c as usize - 0x3400),
        '\u{20000}'..='\u{323AF}' => Some(c as usize - 0x20000 + 0x6C00),
        _ => None,
    }
}

/// Rows of three columns of a table that the generator wrote, without comments.
fn rows(text: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut columns = line.split('\t');
        Some([columns.next()?, columns.next()?, columns.next()?])
    })
}

/// Bits of the classes in a column of the tables.
fn class(column: &str) -> u8 {
    column.chars().fold(0, |bits, c| {
        bits | match c {
            '平' => ToneSet::bit(Tone::Level),
            '上' | '去' | '入' | '仄' => ToneSet::bit(Tone::Oblique),
            '轻' => ToneSet::BOTH.0,
            _ => 0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_tables_has_a_class() {
        for [_, tone, characters] in rows(include_str!("../data/pingshui.txt")) {
            assert!(class(tone) != 0 && !characters.is_empty(), "{tone} {characters}");
        }
        for [first, all, characters] in rows(include_str!("../data/modern.txt")) {
            assert!(class(first) != 0 && class(all) != 0 && !characters.is_empty(), "{first} {characters}");
        }
    }

    #[test]
    fn known_characters() {
        let level = ToneSet::from(Tone::Level);
        let oblique = ToneSet::from(Tone::Oblique);
        let cases = [
            ('东', level, level),
            ('東', level, level),
            ('月', oblique, oblique),
            ('国', oblique, level),
            ('长', ToneSet::BOTH, ToneSet::BOTH),
            ('看', ToneSet::BOTH, ToneSet::BOTH),
            ('青', level, level),
            ('真', level, level),
            ('了', oblique, ToneSet::BOTH), // first reading neutral
            ('a', ToneSet::BOTH, ToneSet::BOTH),
            ('\u{3FFFD}', ToneSet::BOTH, ToneSet::BOTH),
        ];
        for (c, pingshui, modern) in cases {
            assert_eq!(tones(c, ToneBook::Pingshui), pingshui, "{c} in 平水韵");
            assert_eq!(tones(c, ToneBook::Modern), modern, "{c} today");
        }
    }
}
