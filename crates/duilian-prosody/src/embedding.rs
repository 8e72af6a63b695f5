//! Forms of embedding (嵌字): where the characters of a phrase stand in a couplet, by name.

use duilian_core::{Clause, Line, is_han};
use serde::{Deserialize, Serialize};

use crate::ProsodyError;

/// A form of embedding. In a couplet the upper line has one character and the lower line the next, both at the place
/// that the form names; [`EmbeddingForm::Acrostic`] embeds one character in every clause.
///
/// The names are the traditional ones of 嵌名联 (诗钟); 格 may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmbeddingForm {
    /// 藏头: the first character of every clause.
    Acrostic,
    /// 凤顶格 (鹤顶格): the first character of the line.
    PhoenixCrown,
    /// 燕颔格: the second character.
    SwallowChin,
    /// 鸢肩格: the third character.
    KiteShoulder,
    /// 蜂腰格: the fourth character.
    WaspWaist,
    /// 鹤膝格: the fifth character.
    CraneKnee,
    /// 凫胫格: the sixth character.
    DuckShin,
    /// 雁足格: the last character of the line; the seventh of seven.
    GooseFoot,
    /// 魁斗格: the first character of the upper line and the last one of the lower line.
    DipperEnds,
    /// 蝉联格: the last character of the upper line and the first one of the lower line.
    CicadaLink,
}

/// Characters that a line must have: place (from 0, marks counted) and character.
pub type Locks = Vec<(usize, char)>;

/// Where in a clause or line a character stands.
#[derive(Clone, Copy)]
enum Spot {
    /// At this index of the line's Han characters.
    At(usize),
    Last,
}

impl EmbeddingForm {
    /// All forms.
    pub const ALL: [Self; 10] = [
        Self::Acrostic,
        Self::PhoenixCrown,
        Self::SwallowChin,
        Self::KiteShoulder,
        Self::WaspWaist,
        Self::CraneKnee,
        Self::DuckShin,
        Self::GooseFoot,
        Self::DipperEnds,
        Self::CicadaLink,
    ];

    /// Its traditional name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acrostic => "藏头",
            Self::PhoenixCrown => "凤顶格",
            Self::SwallowChin => "燕颔格",
            Self::KiteShoulder => "鸢肩格",
            Self::WaspWaist => "蜂腰格",
            Self::CraneKnee => "鹤膝格",
            Self::DuckShin => "凫胫格",
            Self::GooseFoot => "雁足格",
            Self::DipperEnds => "魁斗格",
            Self::CicadaLink => "蝉联格",
        }
    }

    /// Spots in the upper and the lower line; none for the acrostic, which looks at clauses.
    fn spots(self) -> Option<[Spot; 2]> {
        let both = |index| Some([Spot::At(index); 2]);
        match self {
            Self::Acrostic => None,
            Self::PhoenixCrown => both(0),
            Self::SwallowChin => both(1),
            Self::KiteShoulder => both(2),
            Self::WaspWaist => both(3),
            Self::CraneKnee => both(4),
            Self::DuckShin => both(5),
            Self::GooseFoot => Some([Spot::Last; 2]),
            Self::DipperEnds => Some([Spot::At(0), Spot::Last]),
            Self::CicadaLink => Some([Spot::Last, Spot::At(0)]),
        }
    }

    /// The characters that the upper and the lower line of a couplet of this shape must have, so that the phrase is
    /// embedded. Only the places of marks count in `shape`, which usually is the given line: both lines have them
    /// at the same places.
    ///
    /// The phrase has two characters, one for each line; of an acrostic, one for each clause of the upper line and then
    /// one for each clause of the lower line.
    ///
    /// ```
    /// use duilian_core::Line;
    /// use duilian_prosody::EmbeddingForm;
    ///
    /// let form: EmbeddingForm = "鹤膝格".parse()?;
    /// let [upper, lower] = form.locks("明月", &Line::parse("一二三四五六七")?)?;
    /// assert_eq!((upper, lower), (vec![(4, '明')], vec![(4, '月')]));
    ///
    /// let [upper, lower] = EmbeddingForm::Acrostic.locks("春夏秋冬", &Line::parse("甲乙，丙丁")?)?;
    /// assert_eq!((upper, lower), (vec![(0, '春'), (3, '夏')], vec![(0, '秋'), (3, '冬')]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ProsodyError::PhraseNotHan`], [`ProsodyError::PhraseLength`], or [`ProsodyError::TooShort`] if the line has no
    /// such place.
    pub fn locks(self, phrase: &str, shape: &Line) -> Result<[Locks; 2], ProsodyError> {
        let characters: Vec<char> = phrase.chars().collect();
        let half = match self {
            Self::Acrostic => shape.clauses().count(),
            _ => 1,
        };
        if characters.len() != 2 * half {
            return Err(ProsodyError::PhraseLength { found: characters.len(), expected: 2 * half });
        }
        let (upper, lower) = characters.split_at(half);
        Ok([self.line(upper, 0, shape, 0)?, self.line(lower, half, shape, 1)?])
    }

    /// The characters that one line of this shape must have: an answer of which the whole phrase is wanted, whatever
    /// the given line has. Of an acrostic the phrase has one character for each clause, of the other forms one;
    /// 魁斗格 and 蝉联格 count as for a lower line.
    ///
    /// ```
    /// use duilian_core::Line;
    /// use duilian_prosody::EmbeddingForm;
    /// let locks = EmbeddingForm::Acrostic.line_locks("平安", &Line::parse("甲乙，丙丁")?)?;
    /// assert_eq!(locks, [(0, '平'), (3, '安')]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`EmbeddingForm::locks`].
    pub fn line_locks(self, phrase: &str, shape: &Line) -> Result<Locks, ProsodyError> {
        let characters: Vec<char> = phrase.chars().collect();
        self.line(&characters, 0, shape, 1)
    }

    /// `before`: number of characters of the phrase before these. `which`: 0 for an upper line, 1 for a lower one.
    fn line(
        self,
        characters: &[char],
        before: usize,
        shape: &Line,
        which: usize,
    ) -> Result<Locks, ProsodyError> {
        if let Some(i) = characters.iter().position(|&c| !is_han(c)) {
            return Err(ProsodyError::PhraseNotHan { place: before + i + 1, character: characters[i] });
        }
        let places: Vec<usize> = match self.spots() {
            None => shape.clauses().map(|clause: Clause<'_>| clause.start()).collect(),
            Some(spots) => {
                let han: Vec<usize> =
                    (0..shape.len()).filter(|&place| is_han(shape.chars()[place])).collect();
                let index = match spots[which] {
                    Spot::At(index) => index,
                    Spot::Last => han.len() - 1, // a line has a Han character
                };
                let place = han.get(index).ok_or_else(|| ProsodyError::TooShort {
                    form: self.name(),
                    needed: index + 1,
                    found: han.len(),
                })?;
                vec![*place]
            }
        };
        if characters.len() != places.len() {
            return Err(ProsodyError::PhraseLength { found: characters.len(), expected: places.len() });
        }
        Ok(places.into_iter().zip(characters.iter().copied()).collect())
    }
}

impl std::fmt::Display for EmbeddingForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for EmbeddingForm {
    type Err = ProsodyError;

    /// # Errors
    /// [`ProsodyError::UnknownForm`].
    fn from_str(name: &str) -> Result<Self, ProsodyError> {
        let wanted = name.trim().trim_end_matches('格');
        if matches!(wanted, "鹤顶" | "冠首") {
            return Ok(Self::PhoenixCrown);
        }
        let known = Self::ALL.into_iter().find(|form| form.name().trim_end_matches('格') == wanted);
        known.ok_or_else(|| ProsodyError::UnknownForm { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_its_place() {
        let shape = Line::parse("一二三四，五六七").expect("valid");
        let cases = [
            ("凤顶格", 0, 0),
            ("鹤顶格", 0, 0),
            ("燕颔", 1, 1),
            ("鸢肩格", 2, 2),
            ("蜂腰格", 3, 3),
            ("鹤膝格", 5, 5),
            ("凫胫格", 6, 6),
            ("雁足格", 7, 7),
            ("魁斗格", 0, 7),
            ("蝉联格", 7, 0),
        ];
        for (name, upper, lower) in cases {
            let form: EmbeddingForm = name.parse().expect(name);
            let locks = form.locks("明月", &shape).expect(name);
            assert_eq!(locks, [vec![(upper, '明')], vec![(lower, '月')]], "{name}");
        }
    }

    #[test]
    fn what_cannot_be_embedded_is_named() {
        let shape = Line::parse("春来，花开").expect("valid");
        let error = |form: EmbeddingForm, phrase: &str| form.locks(phrase, &shape).expect_err("wrong");
        assert_eq!(
            error(EmbeddingForm::CraneKnee, "明月"),
            ProsodyError::TooShort { form: "鹤膝格", needed: 5, found: 4 }
        );
        assert_eq!(
            error(EmbeddingForm::PhoenixCrown, "明月光"),
            ProsodyError::PhraseLength { found: 3, expected: 2 }
        );
        assert_eq!(
            error(EmbeddingForm::Acrostic, "明月"),
            ProsodyError::PhraseLength { found: 2, expected: 4 }
        );
        assert_eq!(
            error(EmbeddingForm::PhoenixCrown, "明a"),
            ProsodyError::PhraseNotHan { place: 2, character: 'a' }
        );
        assert!(matches!("龙门格".parse::<EmbeddingForm>(), Err(ProsodyError::UnknownForm { .. })));
    }
}
