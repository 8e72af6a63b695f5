//! Characters to ids and back.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use duilian_core::{Line, MARKS, TokenId, Vocabulary};
use rayon::prelude::*;

use crate::TokenizerError;

/// A vocabulary of characters. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct CharTokenizer {
    tables: Arc<Tables>,
}

#[derive(Debug)]
struct Tables {
    /// Characters by id; `None` for special tokens.
    characters: Vec<Option<char>>,
    ids: HashMap<char, TokenId>,
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
        let ids =
            characters.iter().enumerate().filter_map(|(id, c)| c.map(|c| (c, TokenId(id as u16)))).collect();
        Self { tables: Arc::new(Tables { characters, ids, pipeline: OnceLock::new() }) }
    }

    /// Ids of a line, one a character; [`Self::UNK`] for characters outside the vocabulary.
    pub fn encode(&self, line: &Line) -> Vec<TokenId> {
        line.chars().iter().map(|&c| self.id(c).unwrap_or(Self::UNK)).collect()
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
        lines.par_iter().with_min_len(1 << 10).map(|line| self.encode(line)).collect()
    }

    /// The text of ids.
    ///
    /// # Errors
    /// [`TokenizerError::NotACharacter`] for the first special token or id out of range.
    pub fn decode(&self, ids: &[TokenId]) -> Result<String, TokenizerError> {
        let character = |(i, &id): (usize, &TokenId)| {
            self.character(id).ok_or_else(|| TokenizerError::NotACharacter {
                id: id.0,
                place: i + 1,
                name: Self::SPECIAL.get(id.index()).map_or("out of range", |n| n).to_owned(),
            })
        };
        ids.iter().enumerate().map(character).collect()
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
        let places = line.chars().iter().zip(1..);
        places.filter(|&(&c, _)| self.id(c).is_none()).map(|(&c, place)| (c, place)).collect()
    }

    /// The same vocabulary as a pipeline of the `tokenizers` crate, made when first asked for.
    ///
    /// # Errors
    /// [`TokenizerError::Damaged`] if the crate does not accept the vocabulary.
    pub fn pipeline(&self) -> Result<&tokenizers::Tokenizer, TokenizerError> {
        if let Some(pipeline) = self.tables.pipeline.get() {
            return Ok(pipeline);
        }
        let pipeline = self.build_pipeline()?;
        Ok(self.tables.pipeline.get_or_init(|| pipeline))
    }

    pub(crate) fn characters(&self) -> &[Option<char>] {
        &self.tables.characters
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
        self.tables.ids.get(&character).copied()
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
    fn special_tokens_do_not_decode() {
        let tokenizer = CharTokenizer::from_characters(['天'].into_iter());
        let error = tokenizer.decode(&[TokenId(14), CharTokenizer::BOS]).expect_err("no character");
        assert_eq!(error.to_string(), "token 2 at place 2 ([BOS]) is no character");
        assert!(tokenizer.decode(&[TokenId(15)]).is_err());
    }
}
