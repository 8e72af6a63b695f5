//! Vocabularies for tests.

use std::sync::LazyLock;

use duilian_core::Line;
use duilian_tokenizer::{CharTokenizer, TrainerConfig};

pub(crate) fn line(text: &str) -> Line {
    Line::parse(text).expect("a line")
}

/// The vocabulary of all characters of these lines.
pub(crate) fn all_of(lines: &[Line]) -> CharTokenizer {
    let config = TrainerConfig { min_frequency: 1, ..TrainerConfig::default() };
    CharTokenizer::train(lines, &config).expect("a vocabulary")
}

/// A small vocabulary, the one in `tests/data/tokenizer.json`.
pub(crate) fn tokenizer() -> CharTokenizer {
    static TOKENIZER: LazyLock<CharTokenizer> =
        LazyLock::new(|| all_of(&["春风又到门前柳，", "秋月初圆江上舟。", "𠮷日良辰，春暖花开！"].map(line)));
    TOKENIZER.clone()
}
