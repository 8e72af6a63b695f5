//! The corpus that was written for this project, embedded.

use duilian_core::Couplet;

use crate::record::{Pair, Source};

const FILES: [(&str, &str); 10] = [
    ("classical_five_seven", include_str!("../data/authored/classical_five_seven.tsv")),
    ("clauses", include_str!("../data/authored/clauses.tsv")),
    ("everyday_language", include_str!("../data/authored/everyday_language.tsv")),
    ("everyday_language_2", include_str!("../data/authored/everyday_language_2.tsv")),
    ("festivals_and_trades", include_str!("../data/authored/festivals_and_trades.tsv")),
    ("long_lines", include_str!("../data/authored/long_lines.tsv")),
    ("occasions_and_nature", include_str!("../data/authored/occasions_and_nature.tsv")),
    ("short_lines", include_str!("../data/authored/short_lines.tsv")),
    ("with_scroll", include_str!("../data/authored/with_scroll.tsv")),
    ("wordplay", include_str!("../data/authored/wordplay.tsv")),
];

/// A couplet of the authored corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authored {
    /// The lines.
    pub couplet: Couplet,
    /// The scroll caption (横批), where there is one.
    pub scroll: Option<&'static str>,
    /// Name of the file without its ending.
    pub file: &'static str,
}

/// The authored corpus: original modern couplets under MIT OR Apache-2.0, by file.
///
/// ```
/// let with_scroll = duilian_corpus::authored().filter(|a| a.scroll.is_some()).count();
/// assert_eq!(with_scroll, 400);
/// ```
///
/// # Panics
/// Never: a test reads every line of the embedded files.
pub fn authored() -> impl Iterator<Item = Authored> {
    FILES.iter().flat_map(|&(file, text)| {
        text.lines().map(move |row| {
            let mut columns = row.split('\t');
            let mut line = || columns.next().unwrap_or_default();
            let couplet = Couplet::parse(line(), line()).expect("the embedded corpus is tested");
            Authored { couplet, scroll: columns.next(), file }
        })
    })
}

/// The authored corpus as pairs; `first_group` is the number of its first record.
pub(crate) fn authored_pairs(first_group: u64) -> Vec<Pair> {
    authored()
        .zip(first_group..)
        .map(|(a, group)| Pair { couplet: a.couplet, source: Source::Authored, group, score: 0.0 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::check_pair;

    #[test]
    fn every_authored_couplet_keeps_the_hard_rules() {
        for a in authored() {
            // End tones are left out: everyday language has exceptions.
            let reason = check_pair(&a.couplet, false);
            assert_eq!(reason, None, "{}: {}", a.file, a.couplet);
            if let Some(scroll) = a.scroll {
                assert_eq!(scroll.chars().count(), 4, "{scroll}");
            }
        }
    }
}
