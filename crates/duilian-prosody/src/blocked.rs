//! Words that no line may contain.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use duilian_core::is_han;

use crate::ProsodyError;

/// Words that no line may contain, with contexts that contain one by accident (月经 inside 岁月经过).
///
/// The default is the embedded list `data/blocked_words.txt`, written for this crate: simplified characters.
/// Cheap to clone.
///
/// ```
/// use duilian_prosody::BlockedWords;
///
/// let words = BlockedWords::from_lines(["坏词", "月经: 岁月经 日月经"])?;
/// let find = |text: &str| words.find(&text.chars().collect::<Vec<_>>());
/// assert_eq!(find("这是坏词"), Some(2..4));
/// assert_eq!(find("岁月经过"), None);
/// assert_eq!(find("月经过"), Some(0..2));
/// assert_eq!(words.words().count(), 2);
/// assert_eq!(words.max_len(), 2);
/// # Ok::<(), duilian_prosody::ProsodyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BlockedWords {
    list: Arc<List>,
}

#[derive(Debug, Default)]
struct List {
    words: Vec<Word>,
    /// Indices into `words` by first character, shortest word first.
    by_first: HashMap<char, Vec<usize>>,
    max_len: usize,
}

#[derive(Debug)]
struct Word {
    characters: Box<[char]>,
    /// A context, and the offset of the word in it.
    allowed: Vec<(Box<[char]>, usize)>,
}

impl Word {
    /// Whether the word, which stands at `start`, is covered by an allowed context.
    fn is_allowed(&self, text: &[char], start: usize) -> bool {
        self.allowed.iter().any(|(context, offset)| {
            start.checked_sub(*offset).is_some_and(|from| text[from..].starts_with(context))
        })
    }
}

static EMBEDDED: LazyLock<BlockedWords> = LazyLock::new(|| {
    BlockedWords::from_lines(include_str!("../data/blocked_words.txt").lines())
        .expect("a test reads the embedded list")
});

impl Default for BlockedWords {
    fn default() -> Self {
        EMBEDDED.clone()
    }
}

impl BlockedWords {
    /// A list without words: nothing is blocked.
    ///
    /// ```
    /// assert_eq!(duilian_prosody::BlockedWords::none().words().count(), 0);
    /// ```
    #[must_use]
    pub fn none() -> Self {
        Self { list: Arc::new(List::default()) }
    }

    /// Reads lines `word` or `word: context context …`; `#` begins a comment, empty lines are skipped. A word
    /// that comes twice has the contexts of both.
    ///
    /// # Errors
    /// [`ProsodyError::NotHan`], [`ProsodyError::NoWord`] or [`ProsodyError::ContextWithoutWord`] with the
    /// number of the line.
    pub fn from_lines<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> Result<Self, ProsodyError> {
        let mut list = List::default();
        for (i, text) in lines.into_iter().enumerate() {
            list.read(i + 1, text.as_ref())?;
        }
        for words in list.by_first.values_mut() {
            words.sort_by_key(|&i| list.words[i].characters.len());
        }
        Ok(Self { list: Arc::new(list) })
    }

    /// The first blocked word in `han`, by its start, that no allowed context covers. Marks should be left out
    /// of `han` or end a word, as the caller wishes: a word is never found across a mark.
    ///
    /// ```
    /// use duilian_prosody::BlockedWords;
    ///
    /// let line: Vec<char> = "春风得意马蹄疾".chars().collect();
    /// assert_eq!(BlockedWords::default().find(&line), None);
    /// ```
    pub fn find(&self, han: &[char]) -> Option<Range<usize>> {
        han.iter().enumerate().find_map(|(start, first)| {
            let words = self.list.by_first.get(first)?;
            let found = words
                .iter()
                .map(|&i| &self.list.words[i])
                .find(|word| han[start..].starts_with(&word.characters) && !word.is_allowed(han, start))?;
            Some(start..start + found.characters.len())
        })
    }

    /// The blocked words, in the order of the list.
    pub fn words(&self) -> impl Iterator<Item = &[char]> {
        self.list.words.iter().map(|word| &*word.characters)
    }

    /// Each blocked word with the contexts in which it is allowed, in the order of the list. A context comes with the
    /// index in it at which the word begins: an occurrence of the word at place `i` is allowed where the context
    /// stands at place `i - index`. A context that contains its word twice comes twice.
    ///
    /// ```
    /// use duilian_prosody::BlockedWords;
    ///
    /// let words = BlockedWords::from_lines(["坏词", "月经: 岁月经 日月经"])?;
    /// let text = |characters: &[char]| characters.iter().collect::<String>();
    /// let entries: Vec<(String, Vec<(String, usize)>)> = words
    ///     .entries()
    ///     .map(|(word, contexts)| (text(word), contexts.map(|(context, at)| (text(context), at)).collect()))
    ///     .collect();
    /// assert_eq!(entries[0], ("坏词".into(), vec![]));
    /// assert_eq!(entries[1], ("月经".into(), vec![("岁月经".into(), 1), ("日月经".into(), 1)]));
    /// # Ok::<(), duilian_prosody::ProsodyError>(())
    /// ```
    pub fn entries(&self) -> impl Iterator<Item = (&[char], impl Iterator<Item = (&[char], usize)>)> {
        self.list
            .words
            .iter()
            .map(|word| (&*word.characters, word.allowed.iter().map(|(context, index)| (&**context, *index))))
    }

    /// Number of characters of the longest word; 0 if there is none.
    pub fn max_len(&self) -> usize {
        self.list.max_len
    }
}

impl List {
    fn read(&mut self, line: usize, text: &str) -> Result<(), ProsodyError> {
        let text = text.split('#').next().unwrap_or_default();
        let separator = |c: char| c.is_whitespace() || c == ':';
        if let Some((i, character)) = text.chars().enumerate().find(|&(_, c)| !is_han(c) && !separator(c)) {
            return Err(ProsodyError::NotHan { line, place: i + 1, character });
        }
        if text.trim().is_empty() {
            return Ok(());
        }
        let (word, contexts) = text.split_once(':').unwrap_or((text, ""));
        let characters: Box<[char]> = word.trim().chars().collect();
        if characters.is_empty() {
            return Err(ProsodyError::NoWord { line });
        }
        if let Some(i) = characters.iter().position(|c| !is_han(*c)) {
            let indent = word.chars().take_while(|c| c.is_whitespace()).count();
            return Err(ProsodyError::NotHan { line, place: indent + i + 1, character: characters[i] });
        }
        let mut allowed = Vec::new();
        for context in contexts.split(separator).filter(|context| !context.is_empty()) {
            let context_characters: Box<[char]> = context.chars().collect();
            let before = allowed.len();
            if context_characters.len() > characters.len() {
                for (offset, window) in context_characters.windows(characters.len()).enumerate() {
                    if *window == *characters {
                        allowed.push((context_characters.clone(), offset));
                    }
                }
            }
            if allowed.len() == before {
                let (word, context) = (characters.iter().collect(), context.into());
                return Err(ProsodyError::ContextWithoutWord { line, word, context });
            }
        }
        self.add(Word { characters, allowed });
        Ok(())
    }

    fn add(&mut self, word: Word) {
        let same = self.by_first.entry(word.characters[0]).or_default();
        if let Some(&known) = same.iter().find(|&&i| self.words[i].characters == word.characters) {
            self.words[known].allowed.extend(word.allowed);
            return;
        }
        same.push(self.words.len());
        self.max_len = self.max_len.max(word.characters.len());
        self.words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_list_can_be_read() {
        let list = BlockedWords::from_lines(include_str!("../data/blocked_words.txt").lines());
        assert!(list.is_ok_and(|list| list.words().count() > 100 && list.words().all(|w| !w.is_empty())));
    }

    #[test]
    fn wrong_lines_are_named() {
        let error = |lines: &[&str]| BlockedWords::from_lines(lines).map(|_| ()).expect_err("a wrong line");
        assert_eq!(error(&["", "甲a"]), ProsodyError::NotHan { line: 2, place: 2, character: 'a' });
        assert_eq!(error(&["甲 乙"]), ProsodyError::NotHan { line: 1, place: 2, character: ' ' });
        assert_eq!(error(&["# 甲", ": 甲乙"]), ProsodyError::NoWord { line: 2 });
        let (word, context) = ("甲乙".to_string(), "甲丙".to_string());
        assert_eq!(error(&["甲乙: 甲丙"]), ProsodyError::ContextWithoutWord { line: 1, word, context });
        assert!(matches!(error(&["甲乙: 甲乙"]), ProsodyError::ContextWithoutWord { .. }));
    }

    #[test]
    fn contexts_cover_only_their_own_place() {
        let words = BlockedWords::from_lines(["月经: 岁月经", "月经: 月经天", "经: 月经"]).expect("valid");
        let find = |text: &str| words.find(&text.chars().collect::<Vec<_>>());
        assert_eq!(words.words().count(), 2);
        assert_eq!(find("岁月经年月经"), Some(4..6));
        assert_eq!(find("日月经天"), None);
        assert_eq!(find("经年"), Some(0..1));
        assert_eq!(find("月，经"), Some(2..3));
        assert_eq!(find(""), None);
    }
}
