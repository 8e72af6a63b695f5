//! 合掌: two lines that say the same.

use std::collections::HashMap;
use std::sync::LazyLock;

use duilian_core::{Couplet, is_han};

use crate::Outcome;

/// Words by text, with the numbers of the sets that they stand in.
static SETS: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut sets = HashMap::<&str, Vec<usize>>::new();
    for (number, words) in rows().enumerate() {
        for word in words {
            sets.entry(word).or_default().push(number);
        }
    }
    sets
});

fn rows() -> impl Iterator<Item = std::str::SplitWhitespace<'static>> {
    let rows = include_str!("../data/synonyms.txt").lines();
    rows.filter(|row| !row.starts_with('#') && !row.is_empty()).map(str::split_whitespace)
}

/// Whether two different words of one or two characters mean the same, by a short list (`data/synonyms.txt`).
///
/// ```
/// use duilian_prosody::are_synonyms;
/// assert!(are_synonyms("神州", "华夏") && are_synonyms("看", "望"));
/// assert!(!are_synonyms("看", "看") && !are_synonyms("看", "听"));
/// ```
pub fn are_synonyms(a: &str, b: &str) -> bool {
    let sets = |word| SETS.get(word).map(Vec::as_slice).unwrap_or_default();
    a != b && sets(a).iter().any(|set| sets(b).contains(set))
}

/// The places (from 1) of the lower line whose words mean the same as those that they face.
///
/// It finds the commonest pairs only: what it names is a fault, but much stays unnamed.
///
/// ```
/// use duilian_core::Couplet;
/// use duilian_prosody::{Outcome, synonymous_words};
/// let couplet = Couplet::parse("神州千古秀", "华夏万年春")?;
/// assert_eq!(synonymous_words(&couplet), Outcome::Missed { places: vec![1, 2] });
/// # Ok::<(), duilian_core::LineError>(())
/// ```
pub fn synonymous_words(couplet: &Couplet) -> Outcome {
    let (upper, lower) = (couplet.upper().chars(), couplet.lower().chars());
    let length = upper.len().min(lower.len());
    let words_at = |from: usize, to: usize| {
        let both = [&upper[from..to], &lower[from..to]];
        both.map(|word| word.iter().all(|&c| is_han(c)).then(|| word.iter().collect::<String>()))
    };
    let mut places = Vec::new();
    let mut at = 0;
    while at < length {
        let found = (1..=2).rev().filter(|n| at + n <= length).find(|n| match words_at(at, at + n) {
            [Some(a), Some(b)] => are_synonyms(&a, &b),
            _ => false,
        });
        places.extend((at..at + found.unwrap_or(0)).map(|place| place + 1));
        at += found.unwrap_or(1);
    }
    Outcome::missed_at(places)
}

/// Whether a couplet says one thing twice (合掌): [`synonymous_words`] stand at half of its places or more, and at two at
/// least.
///
/// ```
/// use duilian_core::Couplet;
/// use duilian_prosody::says_the_same;
/// let says_the_same = |upper, lower| Couplet::parse(upper, lower).map(|couplet| says_the_same(&couplet));
/// assert!(says_the_same("神州千古", "华夏万世")?);
/// assert!(!says_the_same("神州千古秀", "春雨一时新")?);
/// # Ok::<(), duilian_core::LineError>(())
/// ```
pub fn says_the_same(couplet: &Couplet) -> bool {
    let same = synonymous_words(couplet).places().len();
    same >= 2 && 2 * same >= couplet.lower().han_len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_words_of_one_or_two_characters() {
        for words in rows() {
            let words: Vec<&str> = words.collect();
            assert!(words.len() > 1, "{words:?}");
            for (i, word) in words.iter().enumerate() {
                assert!((1..=2).contains(&word.chars().count()) && word.chars().all(is_han), "{word}");
                assert!(!words[..i].contains(word), "{word} twice in {words:?}");
            }
        }
    }
}
