//! Word boundaries, by `jieba-rs` and a dictionary that the caller brings.

use std::io::BufRead;

use duilian_core::{Couplet, Line, is_mark};
use jieba_rs::Jieba;

use crate::{Outcome, ProsodyError};

/// Cuts lines into words, to see whether those of a couplet have the same boundaries. Only with the feature `words`.
///
/// A weak sign: dictionaries of today cut verse badly. See `docs/rules.md` for how often the lines of human couplets
/// agree.
///
/// ```
/// use duilian_core::{Couplet, Line};
/// use duilian_prosody::{Outcome, WordSegmenter};
///
/// let dictionary = "春风 10 n\n明月 10 n\n得意 10 v\n马蹄 10 n\n清 5 a\n泉 5 n";
/// let segmenter = WordSegmenter::from_dictionary(dictionary.as_bytes())?;
/// assert_eq!(segmenter.starts(&Line::parse("春风得意，马蹄")?), [0, 2, 5]);
///
/// let same = segmenter.same_boundaries(&Couplet::parse("春风得意", "明月清泉")?);
/// assert_eq!(same, Outcome::Rate { met: 1, of: 2, places: vec![4] });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WordSegmenter {
    jieba: Jieba,
}

impl WordSegmenter {
    /// Reads a dictionary of jieba: a line a word, with its frequency and a tag, separated by spaces.
    ///
    /// # Errors
    /// [`ProsodyError::Dictionary`] if it cannot be read, or has a line that is no entry.
    pub fn from_dictionary(mut dictionary: impl BufRead) -> Result<Self, ProsodyError> {
        let jieba = Jieba::with_dict(&mut dictionary)
            .map_err(|error| ProsodyError::Dictionary { message: error.to_string() })?;
        Ok(Self { jieba })
    }

    /// The places (from 0, marks counted) at which a word begins.
    pub fn starts(&self, line: &Line) -> Vec<usize> {
        let text = line.to_string();
        let starts = self.jieba.cut(&text, false).into_iter().map(|word| word.start);
        starts.filter(|&place| line.chars().get(place).is_some_and(|&c| !is_mark(c))).collect()
    }

    /// The share of places at which a word begins in both lines, among those where one begins in either, beginnings of
    /// clauses left out. Does not apply to lines of different length.
    pub fn same_boundaries(&self, couplet: &Couplet) -> Outcome {
        let (upper, lower) = (couplet.upper(), couplet.lower());
        if upper.len() != lower.len() {
            return Outcome::NotApplicable;
        }
        let (a, b) = (self.starts(upper), self.starts(lower));
        let openings: Vec<usize> =
            upper.clauses().chain(lower.clauses()).map(|clause| clause.start()).collect();
        let places = (0..upper.len()).filter(|place| !openings.contains(place));
        Outcome::rate_of(
            places
                .map(|place| (place + 1, a.contains(&place), b.contains(&place)))
                .filter(|&(_, in_upper, in_lower)| in_upper || in_lower)
                .map(|(place, in_upper, in_lower)| (place, in_upper && in_lower)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_dictionary_is_an_error_and_an_empty_one_knows_no_words() {
        let error = WordSegmenter::from_dictionary("春风 many n".as_bytes()).expect_err("no frequency");
        assert!(matches!(error, ProsodyError::Dictionary { .. }), "{error}");
        let empty = WordSegmenter::from_dictionary("".as_bytes()).expect("no entry is wrong");
        let line = Line::parse("春风，得意").expect("valid");
        assert_eq!(empty.starts(&line), [0, 1, 3, 4]);
    }
}
