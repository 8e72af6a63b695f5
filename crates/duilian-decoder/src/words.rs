//! Blocked words by their tokens, indexed so that a partly filled line is checked in a few look-ups.

use std::collections::HashMap;

use duilian_core::TokenId;

use crate::TokenSet;

/// A word with the contexts in which it is allowed.
#[derive(Debug, Clone)]
pub(crate) struct BlockedWord {
    pub(crate) tokens: Box<[TokenId]>,
    /// A context, and the offset of the word in it.
    pub(crate) contexts: Vec<(Box<[TokenId]>, usize)>,
}

impl BlockedWord {
    /// Whether the word, which stands at `start`, is covered by a context whose places are all filled.
    fn is_covered(&self, line: &[Option<TokenId>], start: usize) -> bool {
        self.contexts.iter().any(|(context, offset)| {
            start
                .checked_sub(*offset)
                .and_then(|from| line.get(from..from + context.len()))
                .is_some_and(|window| context.iter().zip(window).all(|(&a, &b)| Some(a) == b))
        })
    }
}

/// Words that may not occur in an answer, as tokens of one vocabulary.
#[derive(Debug, Clone)]
pub(crate) struct WordIndex {
    words: Vec<BlockedWord>,
    /// Words of one token that no context allows.
    single: TokenSet,
    /// All tokens of the other words.
    parts: TokenSet,
    /// Lengths of the other words, ascending.
    lengths: Vec<usize>,
    /// Words of a length by the token at an offset.
    anchors: HashMap<(usize, usize, TokenId), Vec<usize>>,
    /// Tokens that, repeated so many times, are a word.
    uniform: HashMap<usize, Vec<TokenId>>,
}

impl WordIndex {
    /// Indexes words; empty ones are left out.
    pub(crate) fn new(size: usize, words: impl IntoIterator<Item = BlockedWord>) -> Self {
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

    fn add(&mut self, word: BlockedWord) {
        let (Some(&first), length) = (word.tokens.first(), word.tokens.len()) else { return };
        if length == 1 && word.contexts.is_empty() {
            self.single.insert(first);
            return;
        }
        if !self.lengths.contains(&length) {
            self.lengths.push(length);
        }
        for (offset, &token) in word.tokens.iter().enumerate() {
            self.parts.insert(token);
            self.anchors.entry((length, offset, token)).or_default().push(self.words.len());
        }
        if word.tokens.iter().all(|&token| token == first) {
            self.uniform.entry(length).or_default().push(first);
        }
        self.words.push(word);
    }

    /// Words of one token that may stand nowhere.
    pub(crate) fn single(&self) -> &TokenSet {
        &self.single
    }

    /// All tokens of the other words: a place filled with another token completes no word.
    pub(crate) fn parts(&self) -> &TokenSet {
        &self.parts
    }

    /// The first word in the filled places of a line that no filled context covers, and its place.
    pub(crate) fn find(&self, line: &[Option<TokenId>]) -> Option<(usize, &BlockedWord)> {
        (0..line.len()).find_map(|start| {
            let first = line[start].filter(|&token| self.parts.contains(token))?;
            self.lengths.iter().find_map(|&length| {
                let window = line.get(start..start + length)?;
                let words = self.anchors.get(&(length, 0, first))?;
                let stands = |word: &&BlockedWord| {
                    word.tokens.iter().zip(window).all(|(&a, &b)| Some(a) == b)
                        && !word.is_covered(line, start)
                };
                words.iter().map(|&word| &self.words[word]).find(stands).map(|word| (start, word))
            })
        })
    }

    /// Adds to `found` every token that would complete a word, covered or not, if it were put at all of
    /// `places`, which count as empty.
    pub(crate) fn completions(&self, line: &[Option<TokenId>], places: &[usize], found: &mut TokenSet) {
        for &place in places {
            for &length in self.lengths.iter().take_while(|&&length| length <= line.len()) {
                for start in place.saturating_sub(length - 1)..=place.min(line.len() - length) {
                    self.complete_window(&line[start..start + length], start, places, found);
                }
            }
        }
    }

    fn complete_window(
        &self,
        window: &[Option<TokenId>],
        start: usize,
        places: &[usize],
        found: &mut TokenSet,
    ) {
        let mut anchor = None;
        for (offset, token) in window.iter().enumerate() {
            if places.contains(&(start + offset)) {
                continue;
            }
            match token {
                Some(token) if self.parts.contains(*token) => anchor = anchor.or(Some((offset, *token))),
                Some(_) | None => return,
            }
        }
        let Some((offset, token)) = anchor else {
            for &token in self.uniform.get(&window.len()).into_iter().flatten() {
                found.insert(token);
            }
            return;
        };
        for &word in self.anchors.get(&(window.len(), offset, token)).into_iter().flatten() {
            if let Some(token) = completion(&self.words[word].tokens, window, start, places) {
                found.insert(token);
            }
        }
    }
}

/// The one token that turns the window, which begins at `start`, into the word if it is put at all places.
fn completion(
    word: &[TokenId],
    window: &[Option<TokenId>],
    start: usize,
    places: &[usize],
) -> Option<TokenId> {
    let mut filler = None;
    for (offset, (&part, &token)) in word.iter().zip(window).enumerate() {
        if places.contains(&(start + offset)) {
            if *filler.get_or_insert(part) != part {
                return None;
            }
        } else if token != Some(part) {
            return None;
        }
    }
    filler
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(tokens: &[u16]) -> Box<[TokenId]> {
        tokens.iter().copied().map(TokenId).collect()
    }

    fn index(words: &[&[u16]]) -> WordIndex {
        let plain = |word: &&[u16]| BlockedWord { tokens: ids(word), contexts: Vec::new() };
        WordIndex::new(10, words.iter().map(plain))
    }

    fn line(tokens: &[u16]) -> Vec<Option<TokenId>> {
        tokens.iter().map(|&t| (t < 10).then_some(TokenId(t))).collect()
    }

    #[test]
    fn finds_words_in_filled_places_only() {
        let index = index(&[&[1, 2], &[3, 4, 5], &[7]]);
        let find = |tokens: &[u16]| index.find(&line(tokens)).map(|(start, word)| (start, word.tokens.len()));
        assert_eq!(find(&[0, 1, 2, 0]), Some((1, 2)));
        assert_eq!(find(&[1, 99, 3, 4, 5]), Some((2, 3)));
        assert_eq!(find(&[1, 99, 2, 3, 4]), None);
        assert!(index.single().contains(TokenId(7)) && !index.parts().contains(TokenId(7)));
    }

    #[test]
    fn finds_what_would_complete_a_word() {
        let index = index(&[&[1, 2], &[3, 4, 3], &[5, 5], &[6, 5, 6, 5]]);
        let completions = |tokens: &[u16], places: &[usize]| {
            let mut found = TokenSet::empty(10);
            index.completions(&line(tokens), places, &mut found);
            found.iter().map(|token| token.0).collect::<Vec<_>>()
        };
        assert_eq!(completions(&[1, 99], &[1]), [2]);
        assert_eq!(completions(&[99, 2], &[0]), [1]);
        assert_eq!(completions(&[9, 2], &[0]), [1]); // what stands there does not count
        assert_eq!(completions(&[99, 4, 99], &[0, 2]), [3]); // one character at two places
        assert_eq!(completions(&[99, 4, 99], &[0]), [0; 0]); // the last place is not decided yet
        assert_eq!(completions(&[99, 99], &[0, 1]), [5]); // the word repeats one character
        assert_eq!(completions(&[6, 99, 6, 99], &[1, 3]), [5]);
        assert_eq!(completions(&[99], &[0]), [0; 0]);
    }

    #[test]
    fn contexts_cover_their_own_place() {
        let word =
            BlockedWord { tokens: ids(&[1, 2]), contexts: vec![(ids(&[3, 1, 2]), 1), (ids(&[1, 2, 4]), 0)] };
        let alone = BlockedWord { tokens: ids(&[5]), contexts: vec![(ids(&[5, 6]), 0)] };
        let index = WordIndex::new(10, [word, alone]);
        let find = |tokens: &[u16]| index.find(&line(tokens)).map(|(start, _)| start);
        assert_eq!((find(&[3, 1, 2]), find(&[1, 2, 4]), find(&[0, 1, 2])), (None, None, Some(1)));
        assert_eq!((find(&[1, 2, 99]), find(&[99, 1, 2])), (Some(0), Some(1)));
        assert_eq!((find(&[5, 6]), find(&[6, 5])), (None, Some(1)));
        assert!(index.single().is_empty());
    }
}
