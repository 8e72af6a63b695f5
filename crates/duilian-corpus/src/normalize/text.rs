//! Texts of books: traditional characters, variant marks, notes, missing characters.

use std::collections::HashMap;
use std::sync::LazyLock;

use duilian_core::{MARKS, is_han, is_mark};
use ferrous_opencc::OpenCC;
use ferrous_opencc::config::BuiltinConfig;
use unicode_normalization::UnicodeNormalization;

/// `None` if the embedded tables of the crate cannot be read, which a test excludes.
static CONVERTER: LazyLock<Option<OpenCC>> = LazyLock::new(|| OpenCC::from_config(BuiltinConfig::T2s).ok());

/// Variant forms and the forms that everybody uses; see the head of the file.
static VARIANTS: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    include_str!("../../data/variants.tsv")
        .lines()
        .filter(|row| !row.starts_with('#'))
        .filter_map(|row| {
            let (variant, common) = row.split_once('\t')?;
            Some((variant.chars().next()?, common.chars().next()?))
        })
        .collect()
});

/// Converts traditional characters to simplified ones by the phrase tables of `OpenCC`, and variant forms to the
/// forms of general use, never changing the number of characters.
///
/// ```
/// assert_eq!(duilian_corpus::simplify("漸窮老僕慵看馬，古逕重遶翠微邊"), "渐穷老仆慵看马，古径重绕翠微边");
/// ```
pub fn simplify(text: &str) -> String {
    let converted = CONVERTER.as_ref().map_or_else(|| text.to_owned(), |c| c.convert(text));
    let converted = if converted.chars().count() == text.chars().count() {
        converted
    } else {
        // A phrase changed its length: characters one by one cannot, except by a fault of the tables.
        text.chars().map(simplify_character).collect()
    };
    converted.chars().map(|c| VARIANTS.get(&c).copied().unwrap_or(c)).collect()
}

fn simplify_character(c: char) -> char {
    let one = CONVERTER.as_ref().map(|converter| converter.convert(&c.to_string())).unwrap_or_default();
    let mut characters = one.chars();
    match (characters.next(), characters.next()) {
        (Some(simple), None) => simple,
        _ => c,
    }
}

/// Signs that books print for characters that cannot be read.
pub(crate) fn is_missing_sign(c: char) -> bool {
    matches!(c, '□' | '■' | '◇' | '◆' | '〓' | '○' | '●' | '\u{FFFD}' | '?' | '\u{E000}'..='\u{F8FF}')
}

/// The form that a mark or a compatibility character takes before anything else is asked of it.
pub(super) fn variant(c: char) -> Option<char> {
    Some(match c {
        ',' | '﹐' | '､' => '，',
        ';' | '﹔' => '；',
        '.' | '｡' | '．' | '﹒' => '。',
        '!' | '﹗' => '！',
        ':' | '﹕' | '︰' => '：',
        '？' | '﹖' => '？',
        '•' | '‧' | '・' | '･' | '⋅' | '∙' => '·',
        '⋯' => '…',
        '―' | '–' | '─' | '－' => '—',
        _ => return None,
    })
}

/// Normalises the text of a book: compatibility characters (NFKC), variant marks, notes in brackets left out,
/// spaces and quotation marks left out, traditional to simplified. Line ends stay. What is no
/// character of a line stays as it is for the filters to see.
///
/// ```
/// use duilian_corpus::normalize_text;
/// assert_eq!(normalize_text("白日依山盡（一作看），黃河入海流."), "白日依山尽，黄河入海流。");
/// assert_eq!(normalize_text("□風\n（一作\n虎）雲（從\n龍"), "□风\n云\n龙");
/// ```
pub fn normalize_text(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut depth = 0_u32;
    let mut closing = text.chars().filter(|&c| closes_note(c)).count();
    for c in text.chars() {
        match c {
            _ if opens_note(c) => depth += 1,
            _ if closes_note(c) => {
                depth = depth.saturating_sub(1);
                closing -= 1;
            }
            // A note may have several lines, but a bracket that nobody closes takes no more than its own.
            '\n' if depth == 0 || closing == 0 => {
                depth = 0;
                clean.push(c);
            }
            _ if depth > 0 => {}
            '“' | '”' | '‘' | '’' | '「' | '」' | '『' | '』' | '《' | '》' | '〈' | '〉' | '"' | '\'' =>
                {}
            _ if c.is_whitespace() || is_invisible(c) => {}
            _ if is_mark(c) || is_missing_sign(c) => clean.push(c),
            _ => match variant(c) {
                Some(mark) => clean.push(mark),
                None => clean.extend(c.nfkc()),
            },
        }
    }
    simplify(&clean)
}

fn opens_note(c: char) -> bool {
    matches!(c, '（' | '(' | '〔' | '[' | '【' | '［' | '{' | '｛')
}

fn closes_note(c: char) -> bool {
    matches!(c, '）' | ')' | '〕' | ']' | '】' | '］' | '}' | '｝')
}

/// Characters without a shape, which text carries along.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}' | '\u{AD}')
}

/// Compatibility ideographs and radicals as the characters that they stand for.
pub(super) fn canonical(c: char) -> char {
    if is_han(c) || MARKS.contains(&c) {
        return c;
    }
    let mut forms = c.nfkc();
    match (forms.next(), forms.next()) {
        (Some(form), None) => form,
        _ => c,
    }
}
