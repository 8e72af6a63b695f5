//! Blocked words by their tokens, indexed so that a partly filled line is checked in a few look-ups.

use std::collections::HashMap;
use std::ops::Range;

use duilian_core::TokenId;

use crate::TokenSet;

/// Words that may not occur in an answer, as tokens of one vocabulary.
#[derive(Debug, Clone)]
pub(crate) struct WordIndex {
    words: Vec<Box<[TokenId]>>,
    /// Words of one token.
    single: TokenSet,
    /// All tokens of words of two or more tokens.
    parts: TokenSet,
    /// Lengths of words of two or more tokens, ascending.
    lengths: Vec<usize>,
    /// Words of a length by the token at an offset.
    anchors: HashMap<(usize, usize, TokenId), Vec<usize>>,
    /// Tokens that, repeated so many times, are a word.
    uniform: HashMap<usize, Vec<TokenId>>,
}

impl WordIndex {
    /// Indexes words; empty ones are left out.
    pub(crate) fn new(size: usize, words: impl IntoIterator<Item = Vec<TokenId>>) -> Self {
        let mut index = Self {
            words: Vec::new(),
            single: TokenSet::empty(size),
            parts: TokenSet::empty(size),
            lengths: Vec::new(),
            anchors: HashMap::new(),
            uniform: HashMap::new(),
        };
        for word in words {
            index.add(word);
        }
        index.lengths.sort_unstable();
        index
    }

    fn add(&mut self, word: Vec<TokenId>) {
        let (Some(&first), length) = (word.first(), word.len()) else { return };
        if length == 1 {
            self.single.insert(first);
            return;
        }
        if !self.lengths.contains(&length) {
            self.lengths.push(length);
        }
        for (offset, &token) in word.iter().enumerate() {
            self.parts.insert(token);
            self.anchors.entry((length, offset, token)).or_default().push(self.words.len());
        }
        if word.iter().all(|&token| token == first) {
            self.uniform.entry(length).or_default().push(first);
        }
        self.words.push(word.into_boxed_slice());
    }

    /// Words of one token.
    pub(crate) fn single(&self) -> &TokenSet {
        &self.single
    }

    /// All tokens of words of two or more tokens: a place filled with another token completes no word.
    pub(crate) fn parts(&self) -> &TokenSet {
        &self.parts
    }

    /// The first word of two or more tokens that stands in the filled places of a line.
    pub(crate) fn find(&self, line: &[Option<TokenId>]) -> Option<Range<usize>> {
        (0..line.len()).find_map(|start| {
            let first = line[start].filter(|&token| self.parts.contains(token))?;
            self.lengths.iter().find_map(|&length| {
                let window = line.get(start..start + length)?;
                let words = self.anchors.get(&(length, 0, first))?;
                let same = |&word: &usize| self.words[word].iter().zip(window).all(|(&a, &b)| Some(a) == b);
                words.iter().any(same).then_some(start..start + length)
            })
        })
    }

    /// Takes out of `allowed` every token that would complete a word if it were put at all of `places`,
    /// which are empty so far.
    pub(crate) fn forbid(&self, line: &[Option<TokenId>], places: &[usize], allowed: &mut TokenSet) {
        for &place in places {
            for &length in self.lengths.iter().take_while(|&&length| length <= line.len()) {
                for start in place.saturating_sub(length - 1)..=place.min(line.len() - length) {
                    self.forbid_window(&line[start..start + length], start, places, allowed);
                }
            }
        }
    }

    fn forbid_window(
        &self,
        window: &[Option<TokenId>],
        start: usize,
        places: &[usize],
        allowed: &mut TokenSet,
    ) {
        let mut anchor = None;
        for (offset, token) in window.iter().enumerate() {
            match token {
                Some(token) if !self.parts.contains(*token) => return,
                Some(token) => anchor = anchor.or(Some((offset, *token))),
                None if places.contains(&(start + offset)) => {}
                None => return,
            }
        }
        let Some((offset, token)) = anchor else {
            for &token in self.uniform.get(&window.len()).into_iter().flatten() {
                allowed.remove(token);
            }
            return;
        };
        for &word in self.anchors.get(&(window.len(), offset, token)).into_iter().flatten() {
            if let Some(token) = completion(&self.words[word], window) {
                allowed.remove(token);
            }
        }
    }
}

/// The one token that turns the window into the word if it is put at all empty places.
fn completion(word: &[TokenId], window: &[Option<TokenId>]) -> Option<TokenId> {
    let mut filler = None;
    for (&part, &token) in word.iter().zip(window) {
        match token {
            Some(token) if token != part => return None,
            None if *filler.get_or_insert(part) != part => return None,
            Some(_) | None => {}
        }
    }
    filler
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(words: &[&[u16]]) -> WordIndex {
        WordIndex::new(10, words.iter().map(|word| word.iter().copied().map(TokenId).collect()))
    }

    fn line(tokens: &[u16]) -> Vec<Option<TokenId>> {
        tokens.iter().map(|&t| (t < 10).then_some(TokenId(t))).collect()
    }

    #[test]
    fn finds_words_in_filled_places_only() {
        let index = index(&[&[1, 2], &[3, 4, 5], &[7]]);
        assert_eq!(index.find(&line(&[0, 1, 2, 0])), Some(1..3));
        assert_eq!(index.find(&line(&[1, 99, 3, 4, 5])), Some(2..5));
        assert_eq!(index.find(&line(&[1, 99, 2, 3, 4])), None);
        assert!(index.single().contains(TokenId(7)) && !index.parts().contains(TokenId(7)));
    }

    #[test]
    fn forbids_what_would_complete_a_word() {
        let index = index(&[&[1, 2], &[3, 4, 3], &[5, 5], &[6, 5, 6, 5]]);
        let forbidden = |tokens: &[u16], places: &[usize]| {
            let mut allowed = TokenSet::from_fn(10, |_| true);
            index.forbid(&line(tokens), places, &mut allowed);
            (0..10).filter(|&t| !allowed.contains(TokenId(t))).collect::<Vec<_>>()
        };
        assert_eq!(forbidden(&[1, 99], &[1]), [2]);
        assert_eq!(forbidden(&[99, 2], &[0]), [1]);
        assert_eq!(forbidden(&[99, 4, 99], &[0, 2]), [3]); // one character at two places
        assert_eq!(forbidden(&[99, 4, 99], &[0]), [0; 0]); // the last place is not decided yet
        assert_eq!(forbidden(&[99, 99], &[0, 1]), [5]); // the word repeats one character
        assert_eq!(forbidden(&[6, 99, 6, 99], &[1, 3]), [5]);
        assert_eq!(forbidden(&[99], &[0]), [0; 0]);
    }
}
