//! Numbers that stand for characters.

/// The number of a character in a vocabulary. Sixteen bits hold every vocabulary of Chinese verse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct TokenId(pub u16);

impl TokenId {
    /// The id as an index into a table.
    ///
    /// ```
    /// assert_eq!(duilian_core::TokenId(7).index(), 7_usize);
    /// ```
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl From<u16> for TokenId {
    fn from(id: u16) -> Self {
        Self(id)
    }
}

/// A two-way table of characters and ids: what search and rules need to know of a tokenizer.
///
/// ```
/// use duilian_core::{TokenId, Vocabulary};
///
/// struct Two;
/// impl Vocabulary for Two {
///     fn size(&self) -> usize { 2 }
///     fn character(&self, id: TokenId) -> Option<char> { ['天', '地'].get(id.index()).copied() }
///     fn id(&self, character: char) -> Option<TokenId> {
///         ['天', '地'].iter().position(|&c| c == character).map(|i| TokenId(i as u16))
///     }
/// }
/// assert_eq!(Two.id('地'), Some(TokenId(1)));
/// assert_eq!(Two.character(TokenId(0)), Some('天'));
/// ```
pub trait Vocabulary {
    /// Number of ids; ids are `0..size`.
    fn size(&self) -> usize;

    /// The character of an id; `None` for special tokens (padding, unknown, …) and ids out of range.
    fn character(&self, id: TokenId) -> Option<char>;

    /// The id of a character; `None` if it is not in the vocabulary.
    fn id(&self, character: char) -> Option<TokenId>;
}

impl<V: Vocabulary + ?Sized> Vocabulary for &V {
    fn size(&self) -> usize {
        (**self).size()
    }

    fn character(&self, id: TokenId) -> Option<char> {
        (**self).character(id)
    }

    fn id(&self, character: char) -> Option<TokenId> {
        (**self).id(character)
    }
}
