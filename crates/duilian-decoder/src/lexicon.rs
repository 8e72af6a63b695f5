//! What the rules need to know of a vocabulary, computed once.

use std::collections::HashMap;
use std::sync::Arc;

use duilian_core::{TokenId, Vocabulary, is_han, is_mark};
use duilian_prosody::{BlockedWords, Tone, satisfies_end_tone};

use crate::TokenSet;
use crate::tables::Tables;
use crate::words::{BlockedWord, WordIndex};

/// Tables of one vocabulary that all questions share: characters and ids, which ids are Han characters, which
/// of them count as level or oblique at the end of a line, and the blocked words by their tokens.
///
/// ```
/// use duilian_core::{TokenId, Vocabulary, is_han};
/// use duilian_decoder::Lexicon;
/// use duilian_prosody::BlockedWords;
///
/// struct Characters(Vec<char>);
/// impl Vocabulary for Characters {
///     fn size(&self) -> usize { self.0.len() }
///     fn character(&self, id: TokenId) -> Option<char> {
///         self.0.get(id.index()).copied().filter(|&c| c != '\0')
///     }
///     fn id(&self, character: char) -> Option<TokenId> {
///         self.0.iter().position(|&c| c == character).map(|i| TokenId(i as u16))
///     }
/// }
/// let vocabulary = Characters("\0，天地人".chars().collect());
/// let lexicon = Lexicon::new(&vocabulary, TokenId(0), &BlockedWords::default());
/// assert_eq!(lexicon.han().len(), 3);
/// assert_eq!(lexicon.token('仙'), TokenId(0));
/// assert_eq!(lexicon.token('人'), TokenId(4));
/// ```
#[derive(Debug, Clone)]
pub struct Lexicon {
    characters: Vec<Option<char>>,
    ids: HashMap<char, TokenId>,
    unknown: TokenId,
    writable: TokenSet,
    han: TokenSet,
    level: TokenSet,
    oblique: TokenSet,
    words: WordIndex,
    /// What only some questions need, made when it is first asked for.
    tables: Arc<Tables>,
}

impl Lexicon {
    /// Computes the tables. `unknown` stands for every character outside the vocabulary.
    ///
    /// An id counts only if its character has that very id, so that no character has two. A blocked word with
    /// a character outside the vocabulary cannot be written and is left out; so is such a context.
    pub fn new(vocabulary: &(impl Vocabulary + ?Sized), unknown: TokenId, blocked: &BlockedWords) -> Self {
        let size = vocabulary.size();
        let characters: Vec<Option<char>> = (0..=u16::MAX)
            .take(size)
            .map(|id| {
                let id = TokenId(id);
                vocabulary
                    .character(id)
                    .filter(|&c| id != unknown && (is_han(c) || is_mark(c)) && vocabulary.id(c) == Some(id))
            })
            .collect();
        let ids: HashMap<char, TokenId> =
            characters.iter().zip(0..=u16::MAX).filter_map(|(c, id)| c.map(|c| (c, TokenId(id)))).collect();
        let set = |member: &dyn Fn(char) -> bool| {
            TokenSet::from_fn(size, |id| characters[id.index()].is_some_and(member))
        };
        let tokens = |characters: &[char]| {
            characters.iter().map(|c| ids.get(c).copied()).collect::<Option<Box<[TokenId]>>>()
        };
        let words = blocked.entries().filter_map(|(word, contexts)| {
            let contexts = contexts.filter_map(|(context, offset)| Some((tokens(context)?, offset)));
            Some(BlockedWord { tokens: tokens(word)?, contexts: contexts.collect() })
        });
        let words = WordIndex::new(size, words);
        Self {
            unknown,
            writable: set(&|_| true),
            han: set(&is_han),
            level: set(&|c| is_han(c) && satisfies_end_tone(c, Tone::Level)),
            oblique: set(&|c| is_han(c) && satisfies_end_tone(c, Tone::Oblique)),
            words,
            tables: Arc::default(),
            characters,
            ids,
        }
    }

    /// A vocabulary of `size` Han characters with any blocked words.
    #[cfg(test)]
    pub(crate) fn of_han(size: usize, words: &[BlockedWord]) -> Self {
        let characters: Vec<Option<char>> = ('\u{4E00}'..).take(size).map(Some).collect();
        let ids = characters.iter().zip(0..).filter_map(|(c, id)| c.map(|c| (c, TokenId(id)))).collect();
        let all = TokenSet::from_fn(size, |_| true);
        Self {
            ids,
            unknown: TokenId(0),
            writable: all.clone(),
            han: all.clone(),
            level: all.clone(),
            oblique: all,
            words: WordIndex::new(size, words.iter().cloned()),
            tables: Arc::default(),
            characters,
        }
    }

    /// Number of ids.
    pub fn size(&self) -> usize {
        self.characters.len()
    }

    /// The id of a Han character or mark; the unknown token if the vocabulary does not have it.
    pub fn token(&self, character: char) -> TokenId {
        self.id(character).unwrap_or(self.unknown)
    }

    /// The id of a Han character or mark, if the vocabulary has it.
    pub fn id(&self, character: char) -> Option<TokenId> {
        self.ids.get(&character).copied()
    }

    /// The Han character or mark of an id; `None` for special tokens and ids out of range.
    pub fn character(&self, id: TokenId) -> Option<char> {
        self.characters.get(id.index()).copied().flatten()
    }

    /// The ids of Han characters.
    pub fn han(&self) -> &TokenSet {
        &self.han
    }

    /// The ids of Han characters and marks: all that a line may hold.
    pub fn writable(&self) -> &TokenSet {
        &self.writable
    }

    /// The ids of Han characters that count as `tone` at the end of a line.
    pub fn end_tone(&self, tone: Tone) -> &TokenSet {
        match tone {
            Tone::Level => &self.level,
            Tone::Oblique => &self.oblique,
        }
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    pub(crate) fn words(&self) -> &WordIndex {
        &self.words
    }
}
