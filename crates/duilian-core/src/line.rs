//! One line of a couplet.

use crate::{LineError, is_han, is_mark};

/// One line of a couplet: Han characters and [`MARKS`](crate::MARKS), at least one of them Han.
///
/// A `Line` says nothing of what its characters mean; normalising what people type (half-width marks,
/// traditional characters, spaces) is the task of `duilian-corpus`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    characters: Vec<char>,
}

impl Line {
    /// Reads a line from text that is already normalised.
    ///
    /// ```
    /// use duilian_core::{Line, LineError};
    /// assert_eq!(Line::parse("一二三四五")?.len(), 5);
    /// assert_eq!(Line::parse("一a"), Err(LineError::Unsupported { character: 'a', place: 2 }));
    /// # Ok::<(), LineError>(())
    /// ```
    ///
    /// # Errors
    /// [`LineError::Empty`], [`LineError::NoHan`], or [`LineError::Unsupported`] for the first character that
    /// is neither Han nor a mark.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        Self::from_chars(text.chars().collect())
    }

    /// Reads a line from characters; see [`Line::parse`].
    ///
    /// # Errors
    /// As [`Line::parse`].
    pub fn from_chars(characters: Vec<char>) -> Result<Self, LineError> {
        if characters.is_empty() {
            return Err(LineError::Empty);
        }
        if let Some(i) = characters.iter().position(|&c| !is_han(c) && !is_mark(c)) {
            return Err(LineError::Unsupported { character: characters[i], place: i + 1 });
        }
        if !characters.iter().any(|&c| is_han(c)) {
            return Err(LineError::NoHan);
        }
        Ok(Self { characters })
    }

    /// All characters, marks included.
    pub fn chars(&self) -> &[char] {
        &self.characters
    }

    /// Number of characters, marks included; never 0.
    #[allow(clippy::len_without_is_empty)] // a line cannot be empty
    pub fn len(&self) -> usize {
        self.characters.len()
    }

    /// The Han characters in order, marks left out.
    ///
    /// ```
    /// let line = duilian_core::Line::parse("春来，花开")?;
    /// assert_eq!(line.han().collect::<String>(), "春来花开");
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn han(&self) -> impl Iterator<Item = char> + '_ {
        self.characters.iter().copied().filter(|&c| is_han(c))
    }

    /// Number of Han characters; at least 1.
    pub fn han_len(&self) -> usize {
        self.han().count()
    }

    /// For each Han character the index, among the Han characters, of its first occurrence.
    /// Two lines repeat alike (R2) exactly if these patterns are equal.
    ///
    /// ```
    /// let line = duilian_core::Line::parse("人人为我，我为人人")?;
    /// assert_eq!(line.repetition(), [0, 0, 2, 3, 3, 2, 0, 0]);
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn repetition(&self) -> Vec<usize> {
        let han: Vec<char> = self.han().collect();
        let mut first = std::collections::HashMap::with_capacity(han.len());
        han.iter().enumerate().map(|(i, &c)| *first.entry(c).or_insert(i)).collect()
    }

    /// The clauses between marks, in order; runs of marks make no empty clauses.
    ///
    /// ```
    /// let line = duilian_core::Line::parse("风声，雨声，读书声")?;
    /// let clauses: Vec<_> = line.clauses().map(|c| (c.start(), c.chars().len())).collect();
    /// assert_eq!(clauses, [(0, 2), (3, 2), (6, 3)]);
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn clauses(&self) -> impl Iterator<Item = Clause<'_>> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at + self.characters[at..].iter().position(|&c| is_han(c))?;
            let length =
                self.characters[start..].iter().position(|&c| is_mark(c)).unwrap_or(self.len() - start);
            at = start + length;
            Some(Clause { characters: &self.characters[start..at], start })
        })
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.characters.iter().try_for_each(|&c| std::fmt::Write::write_char(f, c))
    }
}

impl std::str::FromStr for Line {
    type Err = LineError;

    fn from_str(text: &str) -> Result<Self, LineError> {
        Self::parse(text)
    }
}

/// A run of Han characters between marks, borrowed from its [`Line`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clause<'a> {
    characters: &'a [char],
    start: usize,
}

impl<'a> Clause<'a> {
    /// The characters; never empty.
    pub fn chars(&self) -> &'a [char] {
        self.characters
    }

    /// Index of the first character in the line, marks counted, from 0.
    pub fn start(&self) -> usize {
        self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_alone_are_no_line() {
        assert_eq!(Line::parse("，。"), Err(LineError::NoHan));
        assert_eq!(Line::parse(""), Err(LineError::Empty));
    }

    #[test]
    fn clauses_skip_runs_of_marks() {
        let line = Line::parse("……春，，来。").expect("valid");
        let texts: Vec<String> = line.clauses().map(|c| c.chars().iter().collect()).collect();
        assert_eq!(texts, ["春", "来"]);
        assert_eq!(line.clauses().last().map(|c| c.start()), Some(5));
    }

    #[test]
    fn rare_characters_of_plane_two_count_once() {
        let line = Line::parse("𠮷野家").expect("valid");
        assert_eq!(line.han_len(), 3);
        assert_eq!(line.to_string(), "𠮷野家");
    }
}
