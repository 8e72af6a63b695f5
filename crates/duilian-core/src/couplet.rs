//! Two lines that belong together.

use crate::{Direction, Line, LineError};

/// An upper and a lower line. Nothing is promised of how well they answer each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Couplet {
    upper: Line,
    lower: Line,
}

impl Couplet {
    /// Joins two lines.
    pub fn new(upper: Line, lower: Line) -> Self {
        Self { upper, lower }
    }

    /// Reads both lines from normalised text.
    ///
    /// # Errors
    /// As [`Line::parse`], for the upper line first.
    pub fn parse(upper: &str, lower: &str) -> Result<Self, LineError> {
        Ok(Self::new(Line::parse(upper)?, Line::parse(lower)?))
    }

    /// The upper line, 上联.
    pub fn upper(&self) -> &Line {
        &self.upper
    }

    /// The lower line, 下联.
    pub fn lower(&self) -> &Line {
        &self.lower
    }

    /// Given line and asked-for line in this direction.
    ///
    /// ```
    /// use duilian_core::{Couplet, Direction};
    /// let couplet = Couplet::parse("天", "地")?;
    /// let (given, asked) = couplet.oriented(Direction::LowerToUpper);
    /// assert_eq!((given.to_string(), asked.to_string()), ("地".into(), "天".into()));
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn oriented(&self, direction: Direction) -> (&Line, &Line) {
        match direction {
            Direction::UpperToLower => (&self.upper, &self.lower),
            Direction::LowerToUpper => (&self.lower, &self.upper),
        }
    }
}

impl std::fmt::Display for Couplet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\t{}", self.upper, self.lower)
    }
}
