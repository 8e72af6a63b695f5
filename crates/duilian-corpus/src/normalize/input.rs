//! Lines as people type them.

use duilian_core::{Line, LineError, is_han, is_mark};

use super::text::{canonical, is_invisible, simplify, variant};

/// Quotes and brackets that may stand around a whole line.
const QUOTES: [char; 16] =
    ['“', '”', '‘', '’', '「', '」', '『', '』', '《', '》', '"', '\'', '〈', '〉', '【', '】'];

/// Reads a line as people type it.
///
/// Spaces and quotes around it are dropped, half-width and variant marks become full width, traditional
/// characters simplified, compatibility characters the ones they stand for. Spaces between all characters are
/// dropped; a space between clauses becomes ，. The number of Han characters never changes.
///
/// ```
/// use duilian_corpus::{NormalizeError, normalize_line};
///
/// assert_eq!(normalize_line("「春風得意,馬蹄疾」")?.to_string(), "春风得意，马蹄疾");
/// assert_eq!(normalize_line("海 内 存 知 己")?.to_string(), "海内存知己");
/// assert_eq!(normalize_line("春风得意 马蹄轻疾")?.to_string(), "春风得意，马蹄轻疾");
/// assert_eq!(normalize_line("  "), Err(NormalizeError::Empty));
/// assert_eq!(normalize_line(" 我爱u"), Err(NormalizeError::Unsupported { character: 'u', place: 4 }));
/// # Ok::<(), NormalizeError>(())
/// ```
///
/// # Errors
/// [`LineError::Empty`], [`LineError::NoHan`], or [`LineError::Unsupported`] with the first character that a line
/// cannot hold, as it was typed, and its place in the text as it was typed, from 1.
pub fn normalize_line(text: &str) -> Result<Line, LineError> {
    let typed: Vec<(usize, char)> =
        text.chars().enumerate().filter(|&(_, c)| !is_invisible(c)).map(|(i, c)| (i + 1, c)).collect();
    let inner = trim(&typed);
    let mut characters = Vec::with_capacity(inner.len());
    // Where a space was typed before the character, by index into `characters`.
    let mut spaced = Vec::new();
    for &(place, c) in inner {
        if c.is_whitespace() {
            spaced.push(characters.len());
            continue;
        }
        let form = if is_mark(c) || is_han(c) {
            c
        } else {
            match variant(c) {
                Some(mark) => mark,
                None if c == '?' => '？',
                None => canonical(c),
            }
        };
        if !is_han(form) && !is_mark(form) {
            return Err(LineError::Unsupported { character: c, place });
        }
        characters.push(form);
    }
    spaced.dedup();
    let line = Line::from_chars(with_spaces(&characters, &spaced))?;
    Line::parse(&simplify(&line.to_string()))
}

/// Drops spaces and quotes around a text.
fn trim(mut text: &[(usize, char)]) -> &[(usize, char)] {
    let around = |c: char| c.is_whitespace() || QUOTES.contains(&c);
    while let Some((_, rest)) = text.split_first().filter(|((_, c), _)| around(*c)) {
        text = rest;
    }
    while let Some((_, rest)) = text.split_last().filter(|((_, c), _)| around(*c)) {
        text = rest;
    }
    text
}

/// Replaces typed spaces: none if every Han character stands alone, otherwise ， between two Han characters.
fn with_spaces(characters: &[char], spaced: &[usize]) -> Vec<char> {
    let between_han = |i: usize| i > 0 && is_han(characters[i]) && is_han(characters[i - 1]);
    let seams = (0..characters.len()).filter(|&i| between_han(i)).count();
    let apart = spaced.iter().filter(|&&i| between_han(i)).count();
    if apart == seams {
        return characters.to_vec();
    }
    let mut line = Vec::with_capacity(characters.len() + apart);
    for (i, &c) in characters.iter().enumerate() {
        if between_han(i) && spaced.contains(&i) {
            line.push('，');
        }
        line.push(c);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_type() {
        let cases = [
            ("海内存知己。", "海内存知己。"),
            ("海内存知己\r", "海内存知己"),
            ("\u{FEFF}人人为我,我为人人!", "人人为我，我为人人！"),
            ("二、三、四、五", "二、三、四、五"),
            ("为什么?", "为什么？"),
            ("《江山如此多嬌》", "江山如此多娇"),
            ("春 来", "春来"),
            ("\u{2F08}山", "人山"),
            ("𠮷野", "𠮷野"),
            ("喵喵喵", "喵喵喵"),
            ("春… 来", "春…来"),
        ];
        for (typed, expected) in cases {
            assert_eq!(normalize_line(typed).map(|l| l.to_string()), Ok(expected.to_owned()), "{typed}");
        }
    }

    #[test]
    fn what_is_no_line() {
        let unsupported = |character, place| Err(LineError::Unsupported { character, place });
        assert_eq!(normalize_line(""), Err(LineError::Empty));
        assert_eq!(normalize_line("“”"), Err(LineError::Empty));
        assert_eq!(normalize_line("，。"), Err(LineError::NoHan));
        assert_eq!(normalize_line("hello world"), unsupported('h', 1));
        assert_eq!(normalize_line("春风😀"), unsupported('😀', 3));
        assert_eq!(normalize_line("春 3"), unsupported('3', 3));
        assert_eq!(normalize_line("春①"), unsupported('①', 2));
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in "[一-龥，。,? 「」a]{0,20}") {
            if let Ok(line) = normalize_line(&text) {
                prop_assert_eq!(normalize_line(&line.to_string()), Ok(line));
            }
        }

        #[test]
        fn any_text_is_a_line_or_an_error(text in any::<String>()) {
            if let Ok(line) = normalize_line(&text) {
                let typed = text.chars().map(canonical).filter(|&c| is_han(c)).count();
                prop_assert_eq!(line.han_len(), typed);
            }
        }
    }
}
