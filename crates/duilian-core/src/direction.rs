//! Which line of a couplet is given, and which is asked for.

/// Which way a couplet is completed.
///
/// ```
/// use duilian_core::Direction;
/// assert_eq!(Direction::default(), Direction::UpperToLower);
/// assert_eq!(Direction::UpperToLower.reversed(), Direction::LowerToUpper);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Direction {
    /// The upper line (上联) is given and the lower line (下联) is asked for. The default.
    #[default]
    UpperToLower,
    /// The lower line is given and the upper line is asked for.
    LowerToUpper,
}

impl Direction {
    /// Both directions, the forward one first.
    pub const ALL: [Self; 2] = [Self::UpperToLower, Self::LowerToUpper];

    /// The other direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::UpperToLower => Self::LowerToUpper,
            Self::LowerToUpper => Self::UpperToLower,
        }
    }
}
