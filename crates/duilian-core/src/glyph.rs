//! Which characters a line may hold.

/// The punctuation marks that may stand in a line, all full width.
///
/// ```
/// assert!(duilian_core::MARKS.contains(&'，'));
/// assert_eq!(duilian_core::MARKS.len(), 10);
/// ```
pub const MARKS: [char; 10] = ['，', '；', '、', '。', '！', '？', '：', '…', '—', '·'];

/// Whether `c` is one of [`MARKS`].
///
/// ```
/// assert!(duilian_core::is_mark('，'));
/// assert!(!duilian_core::is_mark(','));
/// ```
pub fn is_mark(c: char) -> bool {
    MARKS.contains(&c)
}

/// Whether `c` is a Han character: the CJK unified ideographs of the basic plane with extension A
/// (U+3400-U+4DBF, U+4E00-U+9FFF) and those of planes 2 and 3 (Unicode 16, chapter 18).
///
/// ```
/// assert!(duilian_core::is_han('联'));
/// assert!(duilian_core::is_han('𠮷'));
/// assert!(!duilian_core::is_han('a'));
/// assert!(!duilian_core::is_han('，'));
/// ```
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFD}')
}
