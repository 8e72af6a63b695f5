//! What characters speak of.

use std::collections::HashMap;
use std::sync::LazyLock;

use duilian_core::is_han;
use serde::{Deserialize, Serialize};

use crate::{Outcome, length_and_marks};

/// A class of things (门) that parallel verse keeps apart: finer and softer than [`WordClass`](crate::WordClass), which alone
/// counts for R7.
///
/// The division follows the handbooks; the characters of each class stand in `data/semantic_classes.txt`, written for this
/// crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SemanticClass {
    /// 天文: sky and weather.
    Celestial,
    /// 时令: seasons and times.
    Season,
    /// 地理: land, water, places.
    Terrain,
    /// 宫室: buildings and their parts.
    Building,
    /// 器物: things that people use.
    Implement,
    /// 衣饰: clothes and ornaments.
    Clothing,
    /// 饮食: food and drink.
    Food,
    /// 文事: what is written, and with what.
    Writing,
    /// 草木花果: plants.
    Plant,
    /// 鸟兽虫鱼: animals.
    Animal,
    /// 形体: the body.
    Body,
    /// 人伦: people.
    Person,
    /// 人事: feelings and doings.
    Affair,
    /// 代名: pronouns.
    Pronoun,
    /// 干支: stems and branches.
    StemBranch,
}

impl SemanticClass {
    /// All classes.
    pub const ALL: [Self; 15] = [
        Self::Celestial,
        Self::Season,
        Self::Terrain,
        Self::Building,
        Self::Implement,
        Self::Clothing,
        Self::Food,
        Self::Writing,
        Self::Plant,
        Self::Animal,
        Self::Body,
        Self::Person,
        Self::Affair,
        Self::Pronoun,
        Self::StemBranch,
    ];

    /// Its name in the data file, and the term of the handbooks.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Celestial => ["celestial", "天文"],
            Self::Season => ["season", "时令"],
            Self::Terrain => ["terrain", "地理"],
            Self::Building => ["building", "宫室"],
            Self::Implement => ["implement", "器物"],
            Self::Clothing => ["clothing", "衣饰"],
            Self::Food => ["food", "饮食"],
            Self::Writing => ["writing", "文事"],
            Self::Plant => ["plant", "草木"],
            Self::Animal => ["animal", "鸟兽"],
            Self::Body => ["body", "形体"],
            Self::Person => ["person", "人伦"],
            Self::Affair => ["affair", "人事"],
            Self::Pronoun => ["pronoun", "代名"],
            Self::StemBranch => ["stem_branch", "干支"],
        }
    }

    /// The term of the handbooks.
    ///
    /// ```
    /// assert_eq!(duilian_prosody::SemanticClass::Terrain.term(), "地理");
    /// ```
    pub fn term(self) -> &'static str {
        self.names()[1]
    }

    /// Whether two different classes are near enough to answer each other loosely (邻对), as sky and season do.
    ///
    /// ```
    /// use duilian_prosody::SemanticClass::{Animal, Celestial, Plant, Season};
    /// assert!(Celestial.is_near(Season) && Animal.is_near(Plant) && !Animal.is_near(Season));
    /// ```
    #[must_use]
    pub fn is_near(self, other: Self) -> bool {
        const NEAR: [(SemanticClass, SemanticClass); 11] = [
            (SemanticClass::Celestial, SemanticClass::Season),
            (SemanticClass::Celestial, SemanticClass::Terrain),
            (SemanticClass::Terrain, SemanticClass::Building),
            (SemanticClass::Building, SemanticClass::Implement),
            (SemanticClass::Implement, SemanticClass::Clothing),
            (SemanticClass::Implement, SemanticClass::Writing),
            (SemanticClass::Clothing, SemanticClass::Food),
            (SemanticClass::Plant, SemanticClass::Animal),
            (SemanticClass::Body, SemanticClass::Affair),
            (SemanticClass::Person, SemanticClass::Pronoun),
            (SemanticClass::Season, SemanticClass::StemBranch),
        ];
        NEAR.contains(&(self, other)) || NEAR.contains(&(other, self))
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

static CLASSES: LazyLock<HashMap<char, u16>> = LazyLock::new(|| {
    let mut classes = HashMap::<char, u16>::new();
    for (class, characters) in rows() {
        for c in characters.chars().filter(|&c| is_han(c)) {
            *classes.entry(c).or_default() |= class.map_or(0, SemanticClass::bit);
        }
    }
    classes
});

fn rows() -> impl Iterator<Item = (Option<SemanticClass>, &'static str)> {
    let lines = include_str!("../data/semantic_classes.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(':')).map(|(name, characters)| {
        let class = SemanticClass::ALL.into_iter().find(|class| class.names()[0] == name);
        (class, characters.trim())
    })
}

/// The classes of things that a simplified character belongs to; for many there is none, for some several.
///
/// ```
/// use duilian_prosody::{SemanticClass, semantic_classes};
/// assert_eq!(semantic_classes('莺').collect::<Vec<_>>(), [SemanticClass::Animal]);
/// assert_eq!(semantic_classes('月').collect::<Vec<_>>(), [SemanticClass::Celestial, SemanticClass::Season]);
/// assert_eq!(semantic_classes('来').count(), 0);
/// ```
pub fn semantic_classes(c: char) -> impl Iterator<Item = SemanticClass> {
    let bits = CLASSES.get(&c).copied().unwrap_or_default();
    SemanticClass::ALL.into_iter().filter(move |class| bits & class.bit() != 0)
}

/// The share of places whose characters share a class of things, among those where both have one. Does not apply where
/// R1 is broken.
///
/// ```
/// use duilian_prosody::{Outcome, same_semantic_class};
/// let line = |text: &str| text.chars().collect::<Vec<_>>();
/// let rate = same_semantic_class(&line("莺啼山雨"), &line("蝶舞海风"));
/// assert_eq!(rate, Outcome::Rate { met: 3, of: 3, places: vec![] });
/// ```
pub fn same_semantic_class(given: &[char], answer: &[char]) -> Outcome {
    if length_and_marks(given, answer).is_missed() {
        return Outcome::NotApplicable;
    }
    let bits = |c: &char| CLASSES.get(c).copied().unwrap_or_default();
    let pairs = given.iter().zip(answer).map(|(g, a)| (bits(g), bits(a)));
    Outcome::rate_of(
        (1..).zip(pairs).filter(|(_, (g, a))| *g != 0 && *a != 0).map(|(place, (g, a))| (place, g & a != 0)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_file_names_every_class_once() {
        let rows: Vec<_> = rows().collect();
        assert_eq!(rows.len(), SemanticClass::ALL.len());
        for class in SemanticClass::ALL {
            assert_eq!(rows.iter().filter(|(c, _)| *c == Some(class)).count(), 1, "{class:?}");
        }
        for (class, characters) in rows {
            for (i, c) in characters.chars().enumerate() {
                assert!(is_han(c) && !characters.chars().take(i).any(|d| c == d), "{class:?}: {c}");
            }
        }
    }
}
