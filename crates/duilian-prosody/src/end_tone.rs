//! R5: what the end of one line asks of the other.

use duilian_core::Direction;

use crate::tone::entry;
use crate::{Tone, ToneBook, ToneSet, tones};

/// The tone with which the other line must end, and whether that is hard.
///
/// | direction | given line ends | asked line ends | |
/// |---|---|---|---|
/// | upper to lower | 仄 by its first modern reading | 平 | hard |
/// | upper to lower | 平 today, 仄 in 平水韵 | 平 | soft |
/// | upper to lower | 平 | 仄 | soft: a lower line by nature |
/// | lower to upper | 仄 by its first modern reading | 平 | hard: two lines that end 仄 break R5 |
/// | lower to upper | 平 today, 仄 in 平水韵 | 平 | soft |
/// | lower to upper | 平 | 仄 | soft: an upper line that ends 平 breaks no hard rule |
///
/// Where nothing is known, the given line counts as ending by the custom: an upper one 仄, a lower one 平.
/// Soft means: give it up only where no other line is possible.
///
/// ```
/// use duilian_core::Direction::{LowerToUpper, UpperToLower};
/// use duilian_prosody::{Tone, required_end_tone};
///
/// assert_eq!(required_end_tone('月', UpperToLower), (Tone::Level, true));
/// assert_eq!(required_end_tone('花', UpperToLower), (Tone::Oblique, false));
/// assert_eq!(required_end_tone('花', LowerToUpper), (Tone::Oblique, false));
/// assert_eq!(required_end_tone('月', LowerToUpper), (Tone::Level, true));
/// ```
pub fn required_end_tone(given_last: char, direction: Direction) -> (Tone, bool) {
    let custom = match direction {
        Direction::UpperToLower => Tone::Oblique,
        Direction::LowerToUpper => Tone::Level,
    };
    let entry = entry(given_last);
    let first = entry.first();
    // The second condition is for characters that only the rhyme book has.
    if first.only(Tone::Oblique) || tones(given_last, ToneBook::Either).only(Tone::Oblique) {
        return (Tone::Level, true);
    }
    let given = match Tone::ALL.map(|tone| (tone, entry.pingshui().only(tone))) {
        [(tone, true), _] | [_, (tone, true)] => tone,
        _ if first.only(Tone::Level) => Tone::Level,
        _ => custom,
    };
    (given.opposite(), false)
}

/// Whether `c` may end a line where [`required_end_tone`] asks for `tone`.
///
/// 平 asks for a first modern reading that is level (or neutral, or not known): what is level in the rhyme
/// book alone (望, 看) sounds oblique to a reader of today. 仄 may come from either book, so that an entering
/// tone (竹) ends an upper line.
///
/// ```
/// use duilian_prosody::{Tone, satisfies_end_tone};
///
/// assert!(satisfies_end_tone('花', Tone::Level) && !satisfies_end_tone('花', Tone::Oblique));
/// assert!(!satisfies_end_tone('看', Tone::Level));
/// assert!(satisfies_end_tone('竹', Tone::Level) && satisfies_end_tone('竹', Tone::Oblique));
/// ```
pub fn satisfies_end_tone(c: char, tone: Tone) -> bool {
    end_tone(c).contains(tone)
}

/// The tones with which `c` may end a line that is searched for; see [`satisfies_end_tone`].
///
/// ```
/// use duilian_prosody::{ToneSet, end_tone};
/// assert_eq!(end_tone('竹'), ToneSet::BOTH);
/// ```
pub fn end_tone(c: char) -> ToneSet {
    let entry = entry(c);
    let first = entry.first();
    if first.is_empty() {
        return tones(c, ToneBook::Either);
    }
    if entry.pingshui().contains(Tone::Oblique) { first.union(Tone::Oblique.into()) } else { first }
}
