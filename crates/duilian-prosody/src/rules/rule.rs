//! The rules by name.

use serde::{Deserialize, Serialize};

/// A rule of parallel verse.
///
/// ```
/// use duilian_prosody::Rule;
/// assert_eq!(Rule::ALL.len(), 7);
/// assert_eq!(Rule::EndTones.to_string(), "R5 end tones");
/// assert_eq!(Rule::EndTones.code(), "R5");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// R1: both lines have the same length, and the same marks at the same places.
    LengthAndMarks,
    /// R2: one line repeats characters exactly where the other does.
    Repetition,
    /// R3: the lines share no character.
    SharedCharacters,
    /// R4: the answer has only Han characters and marks, and no blocked word.
    CleanOutput,
    /// R5: the upper line ends 仄 and the lower 平. Where the upper ends 平, the lower should end 仄.
    EndTones,
    /// R6: tones oppose at the even places of each clause and at its last character.
    ToneOpposition,
    /// R7: number answers number, colour colour, direction direction, function word function word.
    WordClass,
}

impl Rule {
    /// All rules, R1 first.
    pub const ALL: [Self; 7] = [
        Self::LengthAndMarks,
        Self::Repetition,
        Self::SharedCharacters,
        Self::CleanOutput,
        Self::EndTones,
        Self::ToneOpposition,
        Self::WordClass,
    ];

    /// `R1` to `R7`.
    pub fn code(self) -> &'static str {
        self.title().split(' ').next().unwrap_or_default()
    }

    fn title(self) -> &'static str {
        match self {
            Self::LengthAndMarks => "R1 length and punctuation",
            Self::Repetition => "R2 repetition",
            Self::SharedCharacters => "R3 no shared character",
            Self::CleanOutput => "R4 clean output",
            Self::EndTones => "R5 end tones",
            Self::ToneOpposition => "R6 tone opposition",
            Self::WordClass => "R7 word class",
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.title())
    }
}

/// Whether a rule may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Force {
    /// No answer may break it.
    Hard,
    /// Better kept; counted with a weight.
    Soft,
}
