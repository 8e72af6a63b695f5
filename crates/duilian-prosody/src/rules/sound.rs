//! R5 and R6: tones at the end and inside.

use duilian_core::{Direction, is_mark};

use super::form::length_and_marks;
use super::{Force, Outcome};
use crate::{Tone, ToneBook, tones};

/// R5: an upper line that ends 仄 has a lower line that ends 平 (hard); one that ends 平 has one that ends 仄
/// (soft). Marks at the end are skipped. A character with readings in both classes satisfies either, so an
/// upper line that ends with one asks for nothing.
///
/// ```
/// use duilian_core::Direction;
/// use duilian_prosody::{Force, Outcome, ToneBook, end_tones};
/// let check = |given: &str, answer: &str, direction| {
///     let line = |text: &str| text.chars().collect::<Vec<_>>();
///     end_tones(&line(given), &line(answer), direction, ToneBook::default())
/// };
/// assert_eq!(check("明月", "清风", Direction::UpperToLower), (Force::Hard, Outcome::Met));
/// assert_eq!(check("明月", "白雪", Direction::UpperToLower), (Force::Hard, Outcome::Missed { places: vec![2] }));
/// assert_eq!(check("清风", "飞花", Direction::UpperToLower), (Force::Soft, Outcome::Missed { places: vec![2] }));
/// assert_eq!(check("清风", "明月", Direction::LowerToUpper), (Force::Hard, Outcome::Met));
/// ```
pub fn end_tones(given: &[char], answer: &[char], direction: Direction, book: ToneBook) -> (Force, Outcome) {
    let last = |line: &[char]| line.iter().rposition(|&c| !is_mark(c));
    let (Some(given_last), Some(place)) = (last(given), last(answer)) else {
        return (Force::Hard, Outcome::NotApplicable);
    };
    let (given, answer) = (tones(given[given_last], book), tones(answer[place], book));
    let (upper, lower) = match direction {
        Direction::UpperToLower => (given, answer),
        Direction::LowerToUpper => (answer, given),
    };
    let outcome =
        |asked: Tone| Outcome::missed_at(if lower.contains(asked) { Vec::new() } else { vec![place + 1] });
    if upper.only(Tone::Oblique) {
        (Force::Hard, outcome(Tone::Level))
    } else if upper.only(Tone::Level) {
        (Force::Soft, outcome(Tone::Oblique))
    } else {
        (Force::Hard, Outcome::NotApplicable)
    }
}

/// R6: the share of places at which tones oppose, among the even places of each clause and its last character.
/// Does not apply where R1 is broken.
///
/// ```
/// use duilian_prosody::{Outcome, ToneBook, tone_opposition};
/// let line = |text: &str| text.chars().collect::<Vec<_>>();
/// // Places 2, 4 and 5: 平仄仄 answered by 仄平平.
/// let rate = tone_opposition(&line("春来花欲放"), &line("客去酒初干"), ToneBook::default());
/// assert_eq!(rate, Outcome::Rate { met: 3, of: 3, places: vec![] });
/// ```
pub fn tone_opposition(given: &[char], answer: &[char], book: ToneBook) -> Outcome {
    if length_and_marks(given, answer).is_missed() {
        return Outcome::NotApplicable;
    }
    let mut in_clause = 0;
    let looked_at = (0..answer.len()).filter(|&i| {
        if is_mark(answer[i]) {
            in_clause = 0;
            return false;
        }
        in_clause += 1;
        in_clause % 2 == 0 || answer.get(i + 1).is_none_or(|&next| is_mark(next))
    });
    Outcome::rate_of(looked_at.map(|i| (i + 1, tones(given[i], book).opposes(tones(answer[i], book)))))
}
