//! Which pairs are fit for training, and why not.

use std::collections::HashSet;
use std::sync::LazyLock;

use duilian_core::{Couplet, Line, is_mark};
use duilian_prosody::{BlockedWords, Tone, ToneBook, ToneSet, tones};
use serde::{Deserialize, Serialize};

/// Why a pair was left out. Each pair is counted under the first reason that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectReason {
    /// A line has a sign for a missing character, such as □.
    MissingCharacter,
    /// A line has a character that is neither Han nor a known mark, or no Han character.
    NotHan,
    /// The lines differ in length.
    UnequalLength,
    /// The lines have different marks, or marks at different places (R1).
    UnequalMarks,
    /// A line is longer than the settings allow.
    TooLong,
    /// The lines repeat characters at different places (R2).
    Repetition,
    /// The lines share a character (R3).
    SharedCharacter,
    /// The lines end in the same tone (R5).
    EndTone,
    /// A line has a blocked word (R4).
    BlockedWord,
    /// The characters are not associated enough to be parallel.
    NotParallel,
    /// The same pair stands in the corpus already.
    Duplicate,
    /// Nearly the same pair stands in the corpus already.
    NearDuplicate,
    /// A line equals or nearly equals a line of the cases for measuring.
    MeasuredCase,
    /// The pair shares a line with the validation set.
    SharedWithValidation,
}

impl RejectReason {
    /// The name in files.
    ///
    /// ```
    /// assert_eq!(duilian_corpus::RejectReason::EndTone.name(), "end_tone");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingCharacter => "missing_character",
            Self::NotHan => "not_han",
            Self::UnequalLength => "unequal_length",
            Self::UnequalMarks => "unequal_marks",
            Self::TooLong => "too_long",
            Self::Repetition => "repetition",
            Self::SharedCharacter => "shared_character",
            Self::EndTone => "end_tone",
            Self::BlockedWord => "blocked_word",
            Self::NotParallel => "not_parallel",
            Self::Duplicate => "duplicate",
            Self::NearDuplicate => "near_duplicate",
            Self::MeasuredCase => "measured_case",
            Self::SharedWithValidation => "shared_with_validation",
        }
    }
}

static BLOCKED: LazyLock<BlockedWords> = LazyLock::new(BlockedWords::default);

/// The first reason of the rules R1-R5 against a pair, or `None`. End tones count if `with_end_tone` is true.
///
/// ```
/// use duilian_core::Couplet;
/// use duilian_corpus::{RejectReason, check_pair};
///
/// assert_eq!(check_pair(&Couplet::parse("春风入户", "明月当窗")?, true), None);
/// let shared = Couplet::parse("春风入户", "春月当窗")?;
/// assert_eq!(check_pair(&shared, true), Some(RejectReason::SharedCharacter));
/// # Ok::<(), duilian_core::LineError>(())
/// ```
pub fn check_pair(couplet: &Couplet, with_end_tone: bool) -> Option<RejectReason> {
    let (upper, lower) = (couplet.upper(), couplet.lower());
    if upper.len() != lower.len() {
        return Some(RejectReason::UnequalLength);
    }
    let marks_differ = |(&a, &b): (&char, &char)| (is_mark(a) || is_mark(b)) && a != b;
    if upper.chars().iter().zip(lower.chars()).any(marks_differ) {
        return Some(RejectReason::UnequalMarks);
    }
    if upper.repetition() != lower.repetition() {
        return Some(RejectReason::Repetition);
    }
    let given: HashSet<char> = upper.han().collect();
    if lower.han().any(|c| given.contains(&c)) {
        return Some(RejectReason::SharedCharacter);
    }
    if with_end_tone && !end_tones(upper).opposes(end_tones(lower)) {
        return Some(RejectReason::EndTone);
    }
    let blocked = |line: &Line| BLOCKED.find(&line.han().collect::<Vec<_>>()).is_some();
    if blocked(upper) || blocked(lower) {
        return Some(RejectReason::BlockedWord);
    }
    None
}

/// Tones in which a line can be read as ending, in either book.
pub(crate) fn end_tones(line: &Line) -> ToneSet {
    line.han().last().map_or(ToneSet::BOTH, |c| tones(c, ToneBook::Either))
}

/// Whether the pair has the custom against it: its upper line can only be read as ending level, or its lower line
/// only as ending oblique.
pub(crate) fn is_upside_down(couplet: &Couplet) -> bool {
    end_tones(couplet.upper()).only(Tone::Level) || end_tones(couplet.lower()).only(Tone::Oblique)
}
