//! Characters to ids and back.

use std::sync::{Arc, OnceLock};

use duilian_core::{Line, MARKS, TokenId, Vocabulary};
use rayon::prelude::*;

use crate::TokenizerError;
use crate::table::CharTable;

/// A vocabulary of characters: two tables and, when asked for, a pipeline of the `tokenizers` crate. Cloning is
/// cheap, and clones share everything.
///
/// | ids | tokens |
/// |---|---|
/// | 0 to 3 | [`SPECIAL`](Self::SPECIAL): padding, unknown, begin, free place |
/// | 4 to 13 | [`MARKS`], all of them, in order |
/// | from 14 | Han characters by falling frequency, then by rising code point |
#[derive(Clone)]
pub struct CharTokenizer {
    tables: Arc<Tables>,
}

struct Tables {
    /// Characters by id; `None` for special tokens.
    characters: Vec<Option<char>>,
    ids: CharTable,
    pipeline: OnceLock<tokenizers::Tokenizer>,
}

impl CharTokenizer {
    /// Fills up lines to equal length.
    pub const PAD: TokenId = TokenId(0);
    /// Stands for characters outside the vocabulary.
    pub const UNK: TokenId = TokenId(1);
    /// Stands before the first character of a line.
    pub const BOS: TokenId = TokenId(2);
    /// A place without a hint.
    pub const FREE: TokenId = TokenId(3);
    /// Names of the special tokens by id.
    pub const SPECIAL: [&'static str; 4] = ["[PAD]", "[UNK]", "[BOS]", "[FREE]"];
    /// Id of the first mark of [`MARKS`]; the others follow in order.
    pub const FIRST_MARK: TokenId = TokenId(4);
    /// Id of the first Han character, if there is one.
    pub const FIRST_HAN: TokenId = TokenId(14);

    /// A vocabulary of these characters, which must be distinct Han characters and fit into 16 bits.
    pub(crate) fn from_characters(han: impl Iterator<Item = char>) -> Self {
        let mut characters = vec![None; Self::SPECIAL.len()];
        characters.extend(MARKS.into_iter().chain(han).map(Some));
        let entries = characters.iter().zip(0..).filter_map(|(c, id)| c.map(|c| (c, TokenId(id))));
        let ids = CharTable::new(entries);
        Self { tables: Arc::new(Tables { characters, ids, pipeline: OnceLock::new() }) }
    }

    /// Ids of a line, one a character; [`Self::UNK`] for characters outside the vocabulary.
    ///
    /// ```
    /// # use duilian_core::Line;
    /// # use duilian_tokenizer::{CharTokenizer, TrainerConfig};
    /// let tokenizer = CharTokenizer::train(&[Line::parse("春春")?], &TrainerConfig::default())?;
    /// let ids = tokenizer.encode(&Line::parse("春，夏")?);
    /// assert_eq!(ids, [CharTokenizer::FIRST_HAN, CharTokenizer::FIRST_MARK, CharTokenizer::UNK]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode(&self, line: &Line) -> Vec<TokenId> {
        line.chars().iter().map(|&c| self.table_id(c).unwrap_or(Self::UNK)).collect()
    }

    /// Ids of many lines, in their order, computed in parallel.
    ///
    /// ```
    /// # use duilian_core::Line;
    /// # use duilian_tokenizer::{CharTokenizer, TrainerConfig};
    /// let lines = [Line::parse("天地")?, Line::parse("日月星")?];
    /// let tokenizer = CharTokenizer::train(&lines, &TrainerConfig::default())?;
    /// assert_eq!(tokenizer.encode_batch(&lines)[1], [CharTokenizer::UNK; 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode_batch(&self, lines: &[Line]) -> Vec<Vec<TokenId>> {
        // A line takes well under a microsecond, so that fewer are not worth a second thread.
        lines.par_iter().with_min_len(1 << 10).map(|line| self.encode(line)).collect()
    }

    /// The text of ids.
    ///
    /// ```
    /// # use duilian_core::Line;
    /// # use duilian_tokenizer::{CharTokenizer, TokenizerError, TrainerConfig};
    /// let tokenizer = CharTokenizer::train(&[Line::parse("春春")?], &TrainerConfig::default())?;
    /// assert_eq!(tokenizer.decode(&[CharTokenizer::FIRST_HAN])?, "春");
    /// let error = tokenizer.decode(&[CharTokenizer::FIRST_HAN, CharTokenizer::UNK]);
    /// assert!(matches!(error, Err(TokenizerError::Special { token: "[UNK]", place: 2 })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TokenizerError::Special`] or [`TokenizerError::OutOfRange`] for the first id without a character.
    pub fn decode(&self, ids: &[TokenId]) -> Result<String, TokenizerError> {
        let character = |(&id, place): (&TokenId, usize)| {
            self.character(id).ok_or_else(|| match Self::SPECIAL.get(id.index()) {
                Some(token) => TokenizerError::Special { token, place },
                None => TokenizerError::OutOfRange { id, place, size: self.size() },
            })
        };
        ids.iter().zip(1..).map(character).collect()
    }

    /// Characters of a line that are outside the vocabulary, with their places from 1.
    ///
    /// ```
    /// # use duilian_core::Line;
    /// # use duilian_tokenizer::{CharTokenizer, TrainerConfig};
    /// let tokenizer = CharTokenizer::train(&[Line::parse("春春")?], &TrainerConfig::default())?;
    /// assert_eq!(tokenizer.unknown(&Line::parse("春𠮷")?), [('𠮷', 2)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unknown(&self, line: &Line) -> Vec<(char, usize)> {
        let places = line.chars().iter().copied().zip(1..);
        places.filter(|&(c, _)| self.table_id(c).is_none()).collect()
    }

    /// The same vocabulary as a pipeline of the `tokenizers` crate, made when first asked for. It gives a line the
    /// ids that [`CharTokenizer::encode`] gives, only slower, and takes any other text as well.
    ///
    /// ```
    /// # use duilian_core::Line;
    /// # use duilian_tokenizer::{CharTokenizer, TrainerConfig};
    /// let tokenizer = CharTokenizer::train(&[Line::parse("春春")?], &TrainerConfig::default())?;
    /// let encoding = tokenizer.pipeline()?.encode("[BOS]春 spring", false).map_err(|e| e.to_string())?;
    /// assert_eq!(encoding.get_ids()[..3], [2, 14, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TokenizerError::Pipeline`] if the crate does not accept the vocabulary.
    pub fn pipeline(&self) -> Result<&tokenizers::Tokenizer, TokenizerError> {
        if let Some(pipeline) = self.tables.pipeline.get() {
            return Ok(pipeline);
        }
        let pipeline = tokenizers::Tokenizer::from_bytes(self.to_json())
            .map_err(|e| TokenizerError::Pipeline { reason: e.to_string() })?;
        Ok(self.tables.pipeline.get_or_init(|| pipeline))
    }

    /// Names of special tokens and marks, which every vocabulary has, by id.
    pub(crate) fn reserved() -> impl Iterator<Item = String> {
        Self::SPECIAL.into_iter().map(str::to_owned).chain(MARKS.into_iter().map(String::from))
    }

    /// All tokens by id.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = String> + '_ {
        let han = self.tables.characters.iter().skip(Self::FIRST_HAN.index()).flatten();
        Self::reserved().chain(han.map(|&c| String::from(c)))
    }

    pub(crate) fn table_id(&self, character: char) -> Option<TokenId> {
        self.tables.ids.get(character)
    }
}

impl std::fmt::Debug for CharTokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CharTokenizer").field("size", &self.size()).finish_non_exhaustive()
    }
}

impl PartialEq for CharTokenizer {
    fn eq(&self, other: &Self) -> bool {
        self.tables.characters == other.tables.characters
    }
}

impl Eq for CharTokenizer {}

impl Vocabulary for CharTokenizer {
    fn size(&self) -> usize {
        self.tables.characters.len()
    }

    fn character(&self, id: TokenId) -> Option<char> {
        self.tables.characters.get(id.index()).copied().flatten()
    }

    fn id(&self, character: char) -> Option<TokenId> {
        self.table_id(character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_ids_match_their_names() {
        for (id, name) in [
            (CharTokenizer::PAD, "[PAD]"),
            (CharTokenizer::UNK, "[UNK]"),
            (CharTokenizer::BOS, "[BOS]"),
            (CharTokenizer::FREE, "[FREE]"),
        ] {
            assert_eq!(CharTokenizer::SPECIAL[id.index()], name);
        }
        assert_eq!(CharTokenizer::FIRST_MARK.index(), CharTokenizer::SPECIAL.len());
        assert_eq!(CharTokenizer::FIRST_HAN.index(), CharTokenizer::SPECIAL.len() + MARKS.len());
    }

    #[test]
    fn ids_without_a_character_are_named() {
        let tokenizer = CharTokenizer::from_characters(['天'].into_iter());
        let cases = [
            ([14, 2], "the special token [BOS] at place 2 has no character"),
            ([15, 14], "the id 15 at place 1 is out of range: there are 15 tokens"),
            ([4, 65_535], "the id 65535 at place 2 is out of range: there are 15 tokens"),
        ];
        for (ids, message) in cases {
            let error = tokenizer.decode(&ids.map(TokenId)).expect_err("no character");
            assert_eq!(error.to_string(), message);
        }
    }
}
