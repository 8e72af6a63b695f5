//! Couplets of a poem by its form.

use duilian_core::{Couplet, Line};

use crate::filter::RejectReason;
use crate::normalize::is_missing_sign;
use crate::record::Source;

/// What kind of verse a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Poems: lines stand in couplets.
    Poem,
    /// Song lyrics: any two neighbouring clauses of equal length may be parallel.
    Lyric,
}

/// Cuts a normalised text into couplets; those that are no lines come back with the reason and their text.
pub(crate) fn couplets_of(
    text: &str,
    form: Form,
) -> (Vec<(Couplet, Source)>, Vec<(RejectReason, String)>) {
    let sentences: Vec<Vec<&str>> = text
        .split(['。', '！', '？', '；', '\n'])
        .map(|sentence| sentence.split(['，', '、', '：']).filter(|c| !c.is_empty()).collect())
        .filter(|clauses: &Vec<&str>| !clauses.is_empty())
        .collect();
    let mut couplets = Vec::new();
    let mut rejects = Vec::new();
    let mut push = |upper: &str, lower: &str, source| match parse(upper, lower) {
        Ok(couplet) => couplets.push((couplet, source)),
        Err(reason) => rejects.push((reason, format!("{upper}\t{lower}"))),
    };
    match form {
        Form::Poem => {
            let lines: Vec<&str> = sentences.iter().flatten().copied().collect();
            let length = lines.first().map_or(0, |l| l.chars().count());
            let even = lines.len().is_multiple_of(2) && lines.iter().all(|l| l.chars().count() == length);
            if even {
                let regulated = lines.len() == 8 && matches!(length, 5 | 7);
                for (i, pair) in lines.chunks_exact(2).enumerate() {
                    let sure = regulated && matches!(i, 1 | 2);
                    push(pair[0], pair[1], if sure { Source::Regulated } else { Source::Mined });
                }
            } else {
                for pair in sentences.iter().filter(|s| s.len() == 2) {
                    push(pair[0], pair[1], Source::Mined);
                }
            }
        }
        Form::Lyric => {
            // Neighbours may stand in one sentence or in two.
            let clauses: Vec<&str> = sentences.iter().flatten().copied().collect();
            for pair in clauses.windows(2) {
                let length = pair[0].chars().count();
                if length >= 4 && length == pair[1].chars().count() {
                    push(pair[0], pair[1], Source::Ci);
                }
            }
        }
    }
    (couplets, rejects)
}

/// Reads both lines; `Err` names why one of them is none.
pub(crate) fn parse(upper: &str, lower: &str) -> Result<Couplet, RejectReason> {
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

    fn texts(text: &str, form: Form) -> Vec<(String, Source)> {
        couplets_of(text, form).0.into_iter().map(|(c, s)| (c.to_string(), s)).collect()
    }

    #[test]
    fn middle_couplets_of_eight_lines_are_sure() {
        let line = |n: usize| ["甲乙丙丁戊", "己庚辛壬癸"][n % 2].to_owned();
        let poem: String = (0..4).map(|i| format!("{}，{}。", line(2 * i), line(2 * i + 1))).collect();
        let sources: Vec<Source> = texts(&poem, Form::Poem).into_iter().map(|(_, s)| s).collect();
        assert_eq!(sources, [Source::Mined, Source::Regulated, Source::Regulated, Source::Mined]);
    }

    #[test]
    fn uneven_poems_give_their_even_sentences() {
        let found = texts("君不见，黄河水。天上来，到海流，不复回。", Form::Poem);
        assert_eq!(found, [("君不见\t黄河水".to_owned(), Source::Mined)]);
    }

    #[test]
    fn lyrics_give_neighbours_of_equal_length() {
        let found = texts("山一程程远，水一程程长。夜深灯", Form::Lyric);
        assert_eq!(found, [("山一程程远\t水一程程长".to_owned(), Source::Ci)]);
    }

    #[test]
    fn missing_characters_are_named() {
        let (couplets, rejects) = couplets_of("春□来时，秋风去日。", Form::Poem);
        assert!(couplets.is_empty());
        assert_eq!(rejects, [(RejectReason::MissingCharacter, "春□来时\t秋风去日".to_owned())]);
    }
}
