//! Modern readings, and which characters sound alike.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A modern reading: a syllable in pinyin (`v` for ü) and its tone, 1 to 4, or 5 for the neutral one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Syllable {
    text: &'static str,
    tone: u8,
}

impl Syllable {
    fn read(text: &'static str) -> Option<Self> {
        let (syllable, tone) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let tone = tone.parse().ok().filter(|tone| (1..=5).contains(tone))?;
        Some(Self { text: syllable, tone })
    }

    /// The syllable without its tone.
    ///
    /// ```
    /// use duilian_prosody::syllables;
    /// let first = syllables('绿').next().map(|syllable| (syllable.text(), syllable.tone()));
    /// assert_eq!(first, Some(("lv", 4)));
    /// ```
    pub fn text(self) -> &'static str {
        self.text
    }

    /// The tone, 1 to 5.
    pub fn tone(self) -> u8 {
        self.tone
    }
}

impl std::fmt::Display for Syllable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.text, self.tone)
    }
}

struct Table {
    /// The usual reading first, then the other living ones.
    readings: HashMap<char, Vec<Syllable>>,
    /// Characters by usual reading, then by another one.
    characters: HashMap<Syllable, Vec<char>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table =
        Table { readings: HashMap::with_capacity(21_000), characters: HashMap::with_capacity(1_500) };
    let rows = include_str!("../../data/syllables.txt").lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|row| row.split_once('\t')).filter_map(|(text, characters)| {
        let usual = characters.strip_prefix('~').is_none();
        Some((usual, Syllable::read(text)?, characters.trim_start_matches('~')))
    });
    let (usual, others): (Vec<_>, Vec<_>) = rows.partition(|&(usual, ..)| usual);
    for (_, syllable, characters) in usual.into_iter().chain(others) {
        for c in characters.chars() {
            table.readings.entry(c).or_default().push(syllable);
            table.characters.entry(syllable).or_default().push(c);
        }
    }
    table
});

/// The living modern readings of a character, the usual one first. Nothing for characters outside U+4E00 to U+9FFF.
///
/// Source: the Python package `pypinyin` 0.55.0, see `docs/rules.md`.
///
/// ```
/// use duilian_prosody::syllables;
/// let readings = |c| syllables(c).map(|syllable| syllable.to_string()).collect::<Vec<_>>();
/// assert_eq!(readings('妙'), ["miao4"]);
/// assert_eq!(readings('长'), ["zhang3", "chang2"]);
/// ```
pub fn syllables(c: char) -> impl Iterator<Item = Syllable> {
    TABLE.readings.get(&c).into_iter().flatten().copied()
}

/// The characters that can be read like `c`, tone included, `c` itself left out: those that usually are first.
///
/// ```
/// use duilian_prosody::homophones;
/// let like: Vec<char> = homophones('桐').collect();
/// assert!(like.contains(&'同') && like.contains(&'童') && !like.contains(&'桐') && !like.contains(&'痛'));
/// ```
pub fn homophones(c: char) -> impl Iterator<Item = char> {
    let mut found: Vec<char> = Vec::new();
    for d in syllables(c).filter_map(|syllable| TABLE.characters.get(&syllable)).flatten().copied() {
        if d != c && !found.contains(&d) {
            found.push(d);
        }
    }
    found.into_iter()
}

/// Whether two different characters can be read alike; with `same_tone` in tone too.
///
/// ```
/// use duilian_prosody::are_homophones;
/// assert!(are_homophones('移', '宜', true) && !are_homophones('移', '椅', true) && are_homophones('移', '椅', false));
/// assert!(!are_homophones('移', '移', false));
/// ```
pub fn are_homophones(a: char, b: char, same_tone: bool) -> bool {
    a != b && syllables(a).any(|x| syllables(b).any(|y| x.text == y.text && (!same_tone || x.tone == y.tone)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_syllable() {
        for row in include_str!("../../data/syllables.txt").lines().filter(|line| !line.starts_with('#')) {
            let syllable = row.split('\t').next().and_then(Syllable::read);
            assert!(syllable.is_some_and(|syllable| !syllable.text.is_empty()), "{row}");
        }
        assert!(TABLE.readings.len() > 20_000);
    }
}
