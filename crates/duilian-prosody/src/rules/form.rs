//! R1 to R4: length, marks, repetition and clean characters.

use std::collections::{HashMap, HashSet};

use duilian_core::{is_han, is_mark};

use crate::{BlockedWords, Outcome};

/// R1: `answer` has the length of `given` and the same mark at every place where `given` has one, and nowhere
/// else. Places are those where they differ, and those that only one of them has.
///
/// ```
/// use duilian_prosody::{Outcome, length_and_marks};
/// let places = |given: &str, answer: &str| {
///     length_and_marks(&given.chars().collect::<Vec<_>>(), &answer.chars().collect::<Vec<_>>()).places().to_vec()
/// };
/// assert_eq!(places("春来，花开", "秋去，叶落"), []);
/// assert_eq!(places("春来，花开", "秋去叶，落"), [3, 4]);
/// assert_eq!(places("春来", "秋去也"), [3]);
/// ```
pub fn length_and_marks(given: &[char], answer: &[char]) -> Outcome {
    let mark = |line: &[char], i: usize| line.get(i).copied().filter(|&c| is_mark(c));
    let differ = |&i: &usize| i >= given.len() || i >= answer.len() || mark(given, i) != mark(answer, i);
    Outcome::missed_at((0..given.len().max(answer.len())).filter(differ).map(|i| i + 1).collect())
}

/// R2: without marks, two places of `answer` have the same character exactly if they have the same one in
/// `given`. Characters that the answer has too many miss it; those that it lacks are one place after its end.
///
/// ```
/// use duilian_prosody::{Outcome, repetition};
/// let line = |text: &str| text.chars().collect::<Vec<_>>();
/// assert_eq!(repetition(&line("年年岁岁"), &line("日日朝朝")), Outcome::Met);
/// assert_eq!(repetition(&line("年年岁岁"), &line("日日朝夕")), Outcome::Missed { places: vec![4] });
/// ```
pub fn repetition(given: &[char], answer: &[char]) -> Outcome {
    let given = first_occurrences(given);
    let answer_pattern = first_occurrences(answer);
    let places: Vec<usize> =
        (1..).zip(answer).filter(|&(_, &c)| !is_mark(c)).map(|(place, _)| place).collect();
    let place = |i: usize| places.get(i).copied().unwrap_or(answer.len() + 1);
    let differ = |&i: &usize| given.get(i) != answer_pattern.get(i);
    let mut missed: Vec<usize> =
        (0..given.len().max(answer_pattern.len())).filter(differ).map(place).collect();
    missed.dedup();
    Outcome::missed_at(missed)
}

/// For each character that is no mark the index, among these, of its first occurrence.
fn first_occurrences(line: &[char]) -> Vec<usize> {
    let mut first = HashMap::with_capacity(line.len());
    line.iter().filter(|&&c| !is_mark(c)).enumerate().map(|(i, &c)| *first.entry(c).or_insert(i)).collect()
}

/// R3: no character of `answer` but marks stands in `given`.
///
/// ```
/// use duilian_prosody::{Outcome, shared_characters};
/// let line = |text: &str| text.chars().collect::<Vec<_>>();
/// assert_eq!(shared_characters(&line("春风，"), &line("秋风，")), Outcome::Missed { places: vec![2] });
/// ```
pub fn shared_characters(given: &[char], answer: &[char]) -> Outcome {
    let given: HashSet<char> = given.iter().copied().filter(|&c| !is_mark(c)).collect();
    Outcome::missed_at((1..).zip(answer).filter(|(_, c)| given.contains(c)).map(|(place, _)| place).collect())
}

/// R4: `answer` has at least one character, only Han characters and marks, and no blocked word. Places are
/// those of other characters and of the first blocked word.
///
/// ```
/// use duilian_prosody::{BlockedWords, Outcome, clean_output};
/// let line: Vec<char> = "春a风".chars().collect();
/// assert_eq!(clean_output(&line, &BlockedWords::default()), Outcome::Missed { places: vec![2] });
/// ```
pub fn clean_output(answer: &[char], blocked: &BlockedWords) -> Outcome {
    if answer.is_empty() {
        return Outcome::Missed { places: vec![1] };
    }
    let word = blocked.find(answer).unwrap_or_default();
    let unclean = |&i: &usize| word.contains(&i) || !(is_han(answer[i]) || is_mark(answer[i]));
    Outcome::missed_at((0..answer.len()).filter(unclean).map(|i| i + 1).collect())
}
