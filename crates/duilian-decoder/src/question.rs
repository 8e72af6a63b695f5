//! A line to be answered.

use duilian_core::{Direction, Line, is_han, is_mark};

use crate::DecodeError;

/// A line to be answered, with the characters that the answer must have at some places.
///
/// Repetition is read off the characters, not off their tokens: two different characters outside the
/// vocabulary stay different.
///
/// ```
/// use duilian_core::{Direction, Line};
/// use duilian_decoder::Question;
///
/// let line = Line::parse("人人为我，我为人人")?;
/// let question = Question::new(line, Direction::UpperToLower).with_lock(2, '爱')?;
/// assert_eq!(question.lock(2), Some('爱'));
/// assert_eq!(question.first_places(), [0, 0, 2, 3, 4, 3, 2, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    line: Line,
    direction: Direction,
    locks: Vec<Option<char>>,
}

impl Question {
    /// A question without locked characters.
    pub fn new(line: Line, direction: Direction) -> Self {
        let locks = vec![None; line.len()];
        Self { line, direction, locks }
    }

    /// Asks for `character` at `place` of the answer (from 0, marks counted): for acrostics, embedded
    /// characters and polishing. A second lock of the same place replaces the first.
    ///
    /// # Errors
    /// [`DecodeError::LockOutOfRange`], [`DecodeError::LockAtMark`], or [`DecodeError::LockUnknown`] if the
    /// character is not Han. Whether the lock can be kept is found out when the question is answered.
    pub fn with_lock(mut self, place: usize, character: char) -> Result<Self, DecodeError> {
        let length = self.line.len();
        match self.line.chars().get(place) {
            None => Err(DecodeError::LockOutOfRange { place: place.saturating_add(1), length }),
            Some(&mark) if is_mark(mark) => {
                Err(DecodeError::LockAtMark { character, mark, place: place + 1 })
            }
            Some(_) if !is_han(character) => Err(DecodeError::LockUnknown { character, place: place + 1 }),
            Some(_) => {
                self.locks[place] = Some(character);
                Ok(self)
            }
        }
    }

    /// The given line.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Which line is given.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The locked character at a place (from 0), if there is one.
    pub fn lock(&self, place: usize) -> Option<char> {
        self.locks.get(place).copied().flatten()
    }

    /// The last Han character of the given line.
    pub fn last_han(&self) -> char {
        self.line.chars()[self.last_han_place()]
    }

    /// The place (from 0) of the last Han character.
    pub fn last_han_place(&self) -> usize {
        // A line always has a Han character.
        self.line.chars().iter().rposition(|&c| is_han(c)).unwrap_or_default()
    }

    /// For each place the first place (from 0, marks counted) with the same Han character; marks are their
    /// own.
    pub fn first_places(&self) -> Vec<usize> {
        let characters = self.line.chars();
        let first = |(place, c)| {
            if is_mark(c) { place } else { characters.iter().position(|&d| d == c).unwrap_or(place) }
        };
        characters.iter().copied().enumerate().map(first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_checked_where_they_are_set() {
        let line = Line::parse("春来，花开").expect("valid");
        let question = Question::new(line, Direction::UpperToLower);
        let lock = |place, c| question.clone().with_lock(place, c);
        assert!(matches!(lock(5, '秋'), Err(DecodeError::LockOutOfRange { place: 6, length: 5 })));
        assert!(matches!(lock(usize::MAX, '秋'), Err(DecodeError::LockOutOfRange { .. })));
        assert!(matches!(lock(2, '秋'), Err(DecodeError::LockAtMark { mark: '，', place: 3, .. })));
        assert!(matches!(lock(0, 'x'), Err(DecodeError::LockUnknown { character: 'x', place: 1 })));
        let twice = lock(0, '秋').and_then(|q| q.with_lock(0, '冬')).expect("valid");
        assert_eq!((twice.lock(0), twice.lock(1), twice.lock(99)), (Some('冬'), None, None));
    }
}
