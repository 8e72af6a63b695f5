//! Tone patterns: which places of a line are 平, which 仄, and which free.

use duilian_core::{Line, is_mark};
use serde::{Deserialize, Serialize};

use crate::{Outcome, ProsodyError, Tone, ToneBook, tones};

/// The tone at each place of a line, marks left out; `None` is free.
///
/// Read from a string of 平 仄 中, or ○ ● ⊙, or a name such as 五律仄起上联 (see [`RegulatedForm`]). As text it is written
/// in 平仄中.
///
/// ```
/// use duilian_core::Line;
/// use duilian_prosody::{Tone, ToneBook, TonePattern};
///
/// let pattern: TonePattern = "中仄平平仄".parse()?;
/// assert_eq!(pattern.places()[..2], [None, Some(Tone::Oblique)]);
/// assert!(pattern.matches(&Line::parse("海内存知己")?, ToneBook::default()));
/// assert!(!pattern.matches(&Line::parse("天涯若比邻")?, ToneBook::default()));
/// assert_eq!("五律仄起上联".parse::<TonePattern>()?, pattern);
/// assert_eq!("⊙●○○●".parse::<TonePattern>()?.to_string(), "中仄平平仄");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TonePattern {
    places: Vec<Option<Tone>>,
}

impl TonePattern {
    /// A pattern of these places, which may be none.
    pub fn new(places: Vec<Option<Tone>>) -> Self {
        Self { places }
    }

    /// The pattern of a line: free where its characters can be read either way.
    ///
    /// ```
    /// use duilian_core::Line;
    /// use duilian_prosody::{ToneBook, TonePattern};
    /// let pattern = TonePattern::of(&Line::parse("海内存知己")?, ToneBook::Modern);
    /// assert_eq!(pattern.to_string(), "仄仄平平仄");
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn of(line: &Line, book: ToneBook) -> Self {
        let place = |c| Tone::ALL.into_iter().find(|&tone| tones(c, book).only(tone));
        Self { places: line.han().map(place).collect() }
    }

    /// The tone at each Han character, `None` where it is free.
    pub fn places(&self) -> &[Option<Tone>] {
        &self.places
    }

    /// Whether a line has as many Han characters as the pattern has places, and each can be read with the tone there.
    pub fn matches(&self, line: &Line, book: ToneBook) -> bool {
        !self.outcome(line, book).is_missed()
    }

    /// As [`TonePattern::matches`], with the places (from 1, marks counted) that have another tone. Characters beyond
    /// the pattern miss it; those that the line lacks are one place after its end.
    ///
    /// ```
    /// use duilian_core::Line;
    /// use duilian_prosody::{Outcome, ToneBook, TonePattern};
    /// let pattern: TonePattern = "平平仄仄".parse()?;
    /// let outcome = pattern.outcome(&Line::parse("春风，明月")?, ToneBook::default());
    /// assert_eq!(outcome, Outcome::Missed { places: vec![4] });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn outcome(&self, line: &Line, book: ToneBook) -> Outcome {
        let han = (1..).zip(line.chars()).filter(|&(_, &c)| !is_mark(c));
        let mut missed: Vec<usize> = han
            .enumerate()
            .filter(|&(i, (_, &c))| match self.places.get(i) {
                Some(wanted) => wanted.is_some_and(|tone| !tones(c, book).contains(tone)),
                None => true,
            })
            .map(|(_, (place, _))| place)
            .collect();
        if line.han_len() < self.places.len() {
            missed.push(line.len() + 1);
        }
        Outcome::missed_at(missed)
    }

    /// The pattern of the line that answers one of this pattern: the other line of the couplet for the patterns of
    /// [`RegulatedForm`], the opposite tone at every place that is not free for all others.
    ///
    /// ```
    /// use duilian_prosody::TonePattern;
    /// let answer = |text: &str| text.parse::<TonePattern>().map(|pattern| pattern.answer().to_string());
    /// assert_eq!(answer("中仄平平仄")?, "平平仄仄平");
    /// assert_eq!(answer("平仄中")?, "仄平中");
    /// # Ok::<(), duilian_prosody::ProsodyError>(())
    /// ```
    #[must_use]
    pub fn answer(&self) -> Self {
        for (upper, lower) in RegulatedForm::ALL.map(|form| (form.upper(), form.lower())) {
            if *self == upper {
                return lower;
            }
            if *self == lower {
                return upper;
            }
        }
        Self { places: self.places.iter().map(|place| place.map(Tone::opposite)).collect() }
    }

    /// Reads the signs of a pattern; white space and marks are passed over.
    fn read(text: &str) -> Result<Self, ProsodyError> {
        let signs = text.chars().enumerate().filter(|&(_, c)| !c.is_whitespace() && !is_mark(c));
        let places: Result<Vec<Option<Tone>>, ProsodyError> = signs
            .map(|(i, c)| match c {
                '平' | '○' => Ok(Some(Tone::Level)),
                '仄' | '●' => Ok(Some(Tone::Oblique)),
                '中' | '⊙' => Ok(None),
                character => Err(ProsodyError::PatternSign { place: i + 1, character }),
            })
            .collect();
        places.and_then(
            |places| if places.is_empty() { Err(ProsodyError::EmptyPattern) } else { Ok(Self { places }) },
        )
    }
}

impl std::str::FromStr for TonePattern {
    type Err = ProsodyError;

    /// # Errors
    /// [`ProsodyError::PatternSign`] for the first character that is no sign, [`ProsodyError::EmptyPattern`].
    fn from_str(text: &str) -> Result<Self, ProsodyError> {
        for form in RegulatedForm::ALL {
            match text.trim().strip_prefix(form.name()) {
                Some("上联" | "上") => return Ok(form.upper()),
                Some("下联" | "下") => return Ok(form.lower()),
                _ => {}
            }
        }
        Self::read(text)
    }
}

impl TryFrom<String> for TonePattern {
    type Error = ProsodyError;

    fn try_from(text: String) -> Result<Self, ProsodyError> {
        text.parse()
    }
}

impl From<TonePattern> for String {
    fn from(pattern: TonePattern) -> Self {
        pattern.to_string()
    }
}

impl std::fmt::Display for TonePattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.places.iter().try_for_each(|place| {
            f.write_str(match place {
                Some(Tone::Level) => "平",
                Some(Tone::Oblique) => "仄",
                None => "中",
            })
        })
    }
}

/// The couplets of regulated verse: lines of five (五律) or seven (七律) characters, of which the upper one begins 仄 or
/// 平 at its second place (仄起, 平起).
///
/// Source: the usual schemes as 王力, 诗词格律 (1962), gives them, with the places that he marks as free. Not included: first
/// lines that rhyme, and lines that make good for a tone elsewhere (拗救).
///
/// ```
/// use duilian_prosody::RegulatedForm;
/// let lines: Vec<String> = RegulatedForm::ALL.iter().map(|f| format!("{} {} {}", f.name(), f.upper(), f.lower())).collect();
/// assert_eq!(lines, [
///     "五律仄起 中仄平平仄 平平仄仄平",
///     "五律平起 中平平仄仄 中仄仄平平",
///     "七律平起 中平中仄平平仄 中仄平平仄仄平",
///     "七律仄起 中仄中平平仄仄 中平中仄仄平平",
/// ]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegulatedForm {
    /// 五律仄起.
    FiveOblique,
    /// 五律平起.
    FiveLevel,
    /// 七律平起.
    SevenLevel,
    /// 七律仄起.
    SevenOblique,
}

impl RegulatedForm {
    /// All four.
    pub const ALL: [Self; 4] = [Self::FiveOblique, Self::FiveLevel, Self::SevenLevel, Self::SevenOblique];

    /// Its name; followed by 上联 or 下联 it is read as a [`TonePattern`].
    pub fn name(self) -> &'static str {
        match self {
            Self::FiveOblique => "五律仄起",
            Self::FiveLevel => "五律平起",
            Self::SevenLevel => "七律平起",
            Self::SevenOblique => "七律仄起",
        }
    }

    /// The pattern of the upper line.
    pub fn upper(self) -> TonePattern {
        self.line(0)
    }

    /// The pattern of the lower line.
    pub fn lower(self) -> TonePattern {
        self.line(1)
    }

    fn line(self, i: usize) -> TonePattern {
        let lines = match self {
            Self::FiveOblique => ["中仄平平仄", "平平仄仄平"],
            Self::FiveLevel => ["中平平仄仄", "中仄仄平平"],
            Self::SevenLevel => ["中平中仄平平仄", "中仄平平仄仄平"],
            Self::SevenOblique => ["中仄中平平仄仄", "中平中仄仄平平"],
        };
        TonePattern::read(lines[i]).expect("the four forms are written in signs")
    }
}

impl std::fmt::Display for RegulatedForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for RegulatedForm {
    type Err = ProsodyError;

    /// # Errors
    /// [`ProsodyError::UnknownForm`].
    fn from_str(name: &str) -> Result<Self, ProsodyError> {
        let known = Self::ALL.into_iter().find(|form| form.name() == name.trim());
        known.ok_or_else(|| ProsodyError::UnknownForm { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_and_written() {
        let cases = [
            ("平平仄仄平", "平平仄仄平"),
            ("○○●●○", "平平仄仄平"),
            (" 平平，仄仄。", "平平仄仄"),
            ("⊙●⊙○○●●", "中仄中平平仄仄"),
            ("七律仄起上联", "中仄中平平仄仄"),
            ("七律仄起下", "中平中仄仄平平"),
        ];
        for (text, expected) in cases {
            let pattern: TonePattern = text.parse().expect(text);
            assert_eq!(pattern.to_string(), expected);
            let json = serde_json::to_string(&pattern).expect("plain data");
            assert_eq!(serde_json::from_str::<TonePattern>(&json).expect("written by us"), pattern);
        }
        let wrong = "平a".parse::<TonePattern>();
        assert_eq!(wrong, Err(ProsodyError::PatternSign { place: 2, character: 'a' }));
        assert_eq!("，".parse::<TonePattern>(), Err(ProsodyError::EmptyPattern));
    }

    #[test]
    fn each_form_answers_itself() {
        for form in RegulatedForm::ALL {
            assert_eq!(form.to_string().parse(), Ok(form));
            assert_eq!(form.upper().answer(), form.lower());
            assert_eq!(form.lower().answer(), form.upper());
            for (upper, lower) in form.upper().places().iter().zip(form.lower().places()) {
                assert!(upper.is_none_or(|upper| lower.is_none_or(|lower| upper != lower)));
            }
        }
    }

    #[test]
    fn length_counts() {
        let pattern: TonePattern = "平仄".parse().expect("valid");
        let places = |text: &str| {
            pattern.outcome(&Line::parse(text).expect("valid"), ToneBook::default()).places().to_vec()
        };
        assert!(places("春月").is_empty());
        assert!(places("春，月").is_empty());
        assert_eq!(places("春，"), [3]);
        assert_eq!(places("春，月明"), [4]);
    }
}
