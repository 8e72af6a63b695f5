//! Finding texts that are nearly equal.

use std::collections::HashMap;

/// An index of texts that finds those of equal length with few different characters.
///
/// Two texts that differ at `d` places or fewer agree in at least one of `d + 1` blocks, so each text is filed under
/// its blocks and compared with those filed there already (the pigeonhole scheme of Manku et al. 2007).
///
/// ```
/// use duilian_corpus::NearDuplicates;
///
/// let mut seen = NearDuplicates::new(1);
/// assert!(seen.insert("春风得意马蹄疾".chars().collect()));
/// assert!(!seen.insert("春风得意马蹄急".chars().collect()));
/// assert!(seen.insert("秋风得意马蹄急".chars().collect()));
/// assert!(seen.contains(&"秋风得意马蹄急".chars().collect::<Vec<_>>()));
/// ```
#[derive(Debug, Clone)]
pub struct NearDuplicates {
    distance: usize,
    texts: Vec<Vec<char>>,
    blocks: HashMap<(usize, usize, u64), Vec<u32>>,
}

/// Texts shorter than this must be equal to count as duplicates: one character more or less is another text.
const SHORTEST: usize = 5;

impl NearDuplicates {
    /// An empty index for texts that differ at `distance` places or fewer.
    pub fn new(distance: usize) -> Self {
        Self { distance, texts: Vec::new(), blocks: HashMap::new() }
    }

    /// Adds a text unless it, or nearly it, is there already; returns whether it was added.
    pub fn insert(&mut self, text: Vec<char>) -> bool {
        let new = !self.contains(&text);
        if new {
            self.add(text);
        }
        new
    }

    /// Adds a text whatever is there already.
    pub fn add(&mut self, text: Vec<char>) {
        let number = self.texts.len() as u32;
        for key in self.keys(&text) {
            self.blocks.entry(key).or_default().push(number);
        }
        self.texts.push(text);
    }

    /// Whether a text, or nearly it, is there.
    pub fn contains(&self, text: &[char]) -> bool {
        let allowed = self.allowed(text.len());
        self.keys(text).any(|key| {
            self.blocks.get(&key).is_some_and(|numbers| {
                numbers.iter().any(|&n| {
                    let other = &self.texts[n as usize];
                    let differences = other.iter().zip(text).filter(|(a, b)| a != b).take(allowed + 1);
                    differences.count() <= allowed
                })
            })
        })
    }

    fn allowed(&self, length: usize) -> usize {
        if length < SHORTEST { 0 } else { self.distance }
    }

    /// Length, number and hash of each block.
    fn keys<'a>(&self, text: &'a [char]) -> impl Iterator<Item = (usize, usize, u64)> + 'a {
        let blocks = self.allowed(text.len()) + 1;
        let length = text.len();
        (0..blocks).map(move |i| {
            let block = &text[i * length / blocks..(i + 1) * length / blocks];
            // FNV-1a: the same on every machine and cheap for a few characters.
            let hash = block.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &c| {
                (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01B3)
            });
            (length, i, hash)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_texts_must_be_equal() {
        let mut seen = NearDuplicates::new(2);
        assert!(seen.insert(vec!['春', '花']) && seen.insert(vec!['春', '月']));
        assert!(!seen.insert(vec!['春', '花']));
    }

    proptest! {
        #[test]
        fn finds_exactly_what_a_plain_search_finds(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(vec!['a', 'b', 'c']), 4..8), 1..40),
            distance in 0_usize..3,
        ) {
            let mut index = NearDuplicates::new(distance);
            let mut kept: Vec<Vec<char>> = Vec::new();
            for text in texts {
                let allowed = if text.len() < 5 { 0 } else { distance };
                let near = |k: &Vec<char>| {
                    k.len() == text.len() && k.iter().zip(&text).filter(|(a, b)| a != b).count() <= allowed
                };
                let expected = !kept.iter().any(near);
                prop_assert_eq!(index.insert(text.clone()), expected);
                if expected {
                    kept.push(text);
                }
            }
        }
    }
}
