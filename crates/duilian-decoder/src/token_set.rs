//! A set of token ids, one bit an id.

use duilian_core::TokenId;

/// A set of [`TokenId`]s below a fixed size, one bit an id: membership and intersection cost next to nothing.
///
/// ```
/// use duilian_core::TokenId;
/// use duilian_decoder::TokenSet;
///
/// let mut even = TokenSet::from_fn(10, |id| id.0 % 2 == 0);
/// assert_eq!(even.len(), 5);
/// even.intersect(&TokenSet::from_fn(10, |id| id.0 > 5));
/// assert_eq!(even.iter().collect::<Vec<_>>(), [TokenId(6), TokenId(8)]);
/// even.remove(TokenId(6));
/// assert!(!even.contains(TokenId(6)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenSet {
    words: Vec<u64>,
}

impl TokenSet {
    /// The empty set for ids below `size`.
    pub fn empty(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)] }
    }

    /// The ids below `size` for which `member` holds.
    pub fn from_fn(size: usize, mut member: impl FnMut(TokenId) -> bool) -> Self {
        let mut set = Self::empty(size);
        // Ids are 16 bits wide: a larger size has no further ids.
        for id in (0..=u16::MAX).take(size).map(TokenId) {
            if member(id) {
                set.insert(id);
            }
        }
        set
    }

    /// Whether the id is in the set; ids out of range never are.
    pub fn contains(&self, id: TokenId) -> bool {
        self.words.get(id.index() / 64).is_some_and(|word| word >> (id.index() % 64) & 1 == 1)
    }

    /// Adds an id; ids out of range are left out.
    pub fn insert(&mut self, id: TokenId) {
        if let Some(word) = self.words.get_mut(id.index() / 64) {
            *word |= 1 << (id.index() % 64);
        }
    }

    /// Takes an id out.
    pub fn remove(&mut self, id: TokenId) {
        if let Some(word) = self.words.get_mut(id.index() / 64) {
            *word &= !(1 << (id.index() % 64));
        }
    }

    /// Keeps only what is in both sets.
    pub fn intersect(&mut self, other: &Self) {
        for (i, word) in self.words.iter_mut().enumerate() {
            *word &= other.words.get(i).copied().unwrap_or(0);
        }
    }

    /// Adds all that is in the other set, within this set's size.
    pub fn unite(&mut self, other: &Self) {
        for (word, &more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Takes out all that is in the other set.
    pub fn subtract(&mut self, other: &Self) {
        for (word, &less) in self.words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
    }

    /// Takes all ids out and makes room for ids below `size`.
    pub fn reset(&mut self, size: usize) {
        self.words.clear();
        self.words.resize(size.div_ceil(64), 0);
    }

    /// Ids below this number have room, a multiple of 64.
    pub(crate) fn capacity(&self) -> usize {
        self.words.len() * 64
    }

    /// The bits, 64 ids a word.
    pub(crate) fn bits(&self) -> &[u64] {
        &self.words
    }

    /// Adds a weight to the entries of all ids of the set.
    pub(crate) fn add_to(&self, weights: &mut [f32], weight: f32) {
        for (entries, &word) in weights.chunks_mut(64).zip(&self.words).filter(|(_, word)| **word != 0) {
            for (bit, entry) in entries.iter_mut().enumerate() {
                *entry += if word >> bit & 1 == 1 { weight } else { 0.0 };
            }
        }
    }

    /// Whether the sets have an id in common.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Becomes a copy of the other set without giving up its memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
    }

    /// Number of ids in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Number of ids of this set that the other lacks.
    pub fn len_without(&self, other: &Self) -> usize {
        let others = other.words.iter().chain(std::iter::repeat(&0));
        self.words.iter().zip(others).map(|(word, other)| (word & !other).count_ones() as usize).sum()
    }

    /// Whether no id is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The only id of the set, if it has exactly one.
    pub fn only(&self) -> Option<TokenId> {
        let mut ids = self.iter();
        ids.next().filter(|_| ids.next().is_none())
    }

    /// The ids in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(TokenId((i * 64 + bit) as u16))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_out_of_range_are_ignored() {
        let mut set = TokenSet::empty(3);
        set.insert(TokenId(64));
        set.remove(TokenId(u16::MAX));
        assert!(set.is_empty() && !set.contains(TokenId(64)));
    }

    #[test]
    fn the_largest_vocabulary_fits() {
        let all = TokenSet::from_fn(65_536, |_| true);
        assert_eq!(all.len(), 65_536);
        assert_eq!(all.iter().last(), Some(TokenId(u16::MAX)));
        assert_eq!(all.only(), None);
        assert_eq!(TokenSet::from_fn(65_536, |id| id.0 == 64).only(), Some(TokenId(64)));
    }
}
