//! Learning a vocabulary.

use std::collections::HashMap;

use duilian_core::{Line, MARKS, is_han};
use serde::{Deserialize, Serialize};

use crate::{CharTokenizer, TokenizerError};

/// Settings of [`CharTokenizer::train`]. Unknown fields are refused, missing ones take their defaults.
///
/// ```
/// let config = duilian_tokenizer::TrainerConfig::default();
/// assert_eq!((config.min_frequency, config.max_size), (2, 8_192));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainerConfig {
    /// Characters seen less often are left out. Default 2.
    pub min_frequency: u64,
    /// Largest number of tokens, special tokens and marks included; the rarest characters give way.
    /// Default 8,192, at most 65,536.
    pub max_size: usize,
}

impl Default for TrainerConfig {
    fn default() -> Self {
        Self { min_frequency: 2, max_size: 8_192 }
    }
}

impl CharTokenizer {
    /// Learns the vocabulary of lines: special tokens, marks, then characters by falling frequency and rising
    /// code point, so the same lines in any order give the same ids.
    ///
    /// ```
    /// # use duilian_core::{Line, TokenId, Vocabulary};
    /// use duilian_tokenizer::{CharTokenizer, TrainerConfig};
    /// let lines = [Line::parse("花开花落")?, Line::parse("花落")?];
    /// let tokenizer = CharTokenizer::train(&lines, &TrainerConfig::default())?;
    /// assert_eq!(tokenizer.id('花'), Some(TokenId(14)));
    /// assert_eq!(tokenizer.id('落'), Some(TokenId(15)));
    /// assert_eq!(tokenizer.id('开'), None); // seen once
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TokenizerError::InvalidConfig`] if `max_size` has no room for special tokens and marks, or is more than
    /// 65,536.
    pub fn train<'a>(
        lines: impl IntoIterator<Item = &'a Line>,
        config: &TrainerConfig,
    ) -> Result<Self, TokenizerError> {
        let reserved = Self::SPECIAL.len() + MARKS.len();
        if !(reserved..=1 << 16).contains(&config.max_size) {
            let reason = format!("{} is not in {reserved}..=65536", config.max_size);
            return Err(TokenizerError::InvalidConfig { field: "max_size", reason });
        }
        let mut counts = HashMap::<char, u64>::new();
        for &c in lines.into_iter().flat_map(Line::chars).filter(|&&c| is_han(c)) {
            *counts.entry(c).or_default() += 1;
        }
        let mut characters: Vec<(char, u64)> =
            counts.into_iter().filter(|&(_, count)| count >= config.min_frequency).collect();
        characters.sort_unstable_by_key(|&(c, count)| (std::cmp::Reverse(count), c));
        characters.truncate(config.max_size - reserved);
        Ok(Self::from_characters(characters.into_iter().map(|(c, _)| c)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use duilian_core::Vocabulary;

    #[test]
    fn rare_characters_give_way() {
        let lines = ["天地天地人", "天地星"].map(|l| Line::parse(l).expect("valid"));
        let train = |min_frequency, max_size| {
            CharTokenizer::train(&lines, &TrainerConfig { min_frequency, max_size }).map(|t| t.size())
        };
        assert_eq!(train(1, 8_192).expect("valid"), 18);
        assert_eq!(train(2, 8_192).expect("valid"), 16);
        assert_eq!(train(1, 15).expect("valid"), 15);
        assert!(matches!(train(1, 13), Err(TokenizerError::InvalidConfig { field: "max_size", .. })));
    }

    #[test]
    fn ids_follow_frequency_then_code_point() {
        let lines = ["乙甲乙", "丙甲丁"].map(|l| Line::parse(l).expect("valid"));
        let config = TrainerConfig { min_frequency: 1, ..TrainerConfig::default() };
        let tokenizer = CharTokenizer::train(&lines, &config).expect("valid");
        let ids = tokenizer.encode(&Line::parse("乙甲丁丙").expect("valid"));
        assert_eq!(ids.iter().map(|t| t.0).collect::<Vec<_>>(), [14, 15, 16, 17]);
    }
}
