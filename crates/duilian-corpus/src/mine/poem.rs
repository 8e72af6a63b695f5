//! Couplets of a poem by its form.

use duilian_core::{Couplet, Line};

use crate::filter::RejectReason;
use crate::normalize::is_missing_sign;
use crate::record::Source;

/// What was found in one text.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) couplets: Vec<(Couplet, Source)>,
    /// Pairs that are no lines, with the reason and their text.
    pub(crate) broken: Vec<(RejectReason, String)>,
    /// Clauses that stand in no pair.
    pub(crate) unpaired_clauses: u64,
}

impl Found {
    pub(super) fn push(&mut self, upper: &str, lower: &str, source: Source) {
        match parse(upper, lower) {
            Ok(couplet) => self.couplets.push((couplet, source)),
            Err(reason) => self.broken.push((reason, format!("{upper}\t{lower}"))),
        }
    }
}

/// Clauses of each sentence of a normalised text; nothing is empty.
fn sentences(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.split(['。', '！', '？', '；', '\n'])
        .map(|sentence| sentence.split(['，', '、', '：']).filter(|c| !c.is_empty()).collect())
        .filter(|clauses: &Vec<&str>| !clauses.is_empty())
}

/// Cuts a normalised poem into couplets. Of a poem whose lines are not all of one length, or odd in number, only
/// the sentences of two lines are couplets for sure.
pub(crate) fn couplets_of_poem(text: &str) -> Found {
    let mut found = Found::default();
    let sentences: Vec<Vec<&str>> = sentences(text).collect();
    let lines: Vec<&str> = sentences.iter().flatten().copied().collect();
    let length = lines.first().map_or(0, |l| l.chars().count());
    if lines.len().is_multiple_of(2) && lines.iter().all(|l| l.chars().count() == length) {
        let regulated = lines.len() == 8 && matches!(length, 5 | 7);
        for (i, pair) in lines.chunks_exact(2).enumerate() {
            let sure = regulated && matches!(i, 1 | 2);
            found.push(pair[0], pair[1], if sure { Source::Regulated } else { Source::Mined });
        }
    } else {
        for sentence in &sentences {
            match sentence[..] {
                [upper, lower] => found.push(upper, lower, Source::Mined),
                _ => found.unpaired_clauses += sentence.len() as u64,
            }
        }
    }
    found
}

/// Shortest clause of a lyric that is looked at: below, equal length says nothing.
const SHORTEST_LYRIC_CLAUSE: usize = 4;

/// Neighbouring clauses of equal length of a normalised lyric, in one sentence or in two.
pub(crate) fn couplets_of_lyric(text: &str, source: Source) -> Found {
    let mut found = Found::default();
    let clauses: Vec<&str> = sentences(text).flatten().collect();
    let mut paired = vec![false; clauses.len()];
    for (i, pair) in clauses.windows(2).enumerate() {
        let length = pair[0].chars().count();
        if length >= SHORTEST_LYRIC_CLAUSE && length == pair[1].chars().count() {
            found.push(pair[0], pair[1], source);
            paired[i..=i + 1].fill(true);
        }
    }
    found.unpaired_clauses = paired.iter().filter(|p| !**p).count() as u64;
    found
}

/// Reads both lines; `Err` names why one of them is none.
fn parse(upper: &str, lower: &str) -> Result<Couplet, RejectReason> {
    if upper.chars().chain(lower.chars()).any(is_missing_sign) {
        return Err(RejectReason::MissingCharacter);
    }
    match (Line::parse(upper), Line::parse(lower)) {
        (Ok(upper), Ok(lower)) => Ok(Couplet::new(upper, lower)),
        _ => Err(RejectReason::NotHan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(found: Found) -> Vec<(String, Source)> {
        found.couplets.into_iter().map(|(c, s)| (c.to_string(), s)).collect()
    }

    #[test]
    fn middle_couplets_of_eight_lines_are_sure() {
        let line = |n: usize| ["甲乙丙丁戊", "己庚辛壬癸"][n % 2].to_owned();
        let sentences: Vec<String> =
            (0..4).map(|i| format!("{}，{}。", line(2 * i), line(2 * i + 1))).collect();
        let poem = sentences.concat();
        let sources: Vec<Source> = texts(couplets_of_poem(&poem)).into_iter().map(|(_, s)| s).collect();
        assert_eq!(sources, [Source::Mined, Source::Regulated, Source::Regulated, Source::Mined]);
    }

    #[test]
    fn uneven_poems_give_their_even_sentences() {
        let found = couplets_of_poem("君不见，黄河水。天上来，到海流，不复回。");
        assert_eq!(found.unpaired_clauses, 3);
        assert_eq!(texts(found), [("君不见\t黄河水".to_owned(), Source::Mined)]);
    }

    #[test]
    fn lyrics_give_neighbours_of_equal_length() {
        let found = couplets_of_lyric("山一程程远，水一程程长。夜深灯", Source::Ci);
        assert_eq!(found.unpaired_clauses, 1);
        assert_eq!(texts(found), [("山一程程远\t水一程程长".to_owned(), Source::Ci)]);
    }

    #[test]
    fn missing_characters_are_named() {
        let found = couplets_of_poem("春□来时，秋风去日。");
        assert!(found.couplets.is_empty());
        assert_eq!(found.broken, [(RejectReason::MissingCharacter, "春□来时\t秋风去日".to_owned())]);
    }
}
