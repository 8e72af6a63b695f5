//! Couplets of the primer 声律启蒙, which says "X 对 Y" and then gives parallel clauses.

use duilian_core::Couplet;
use duilian_prosody::{Tone, ToneBook, tones};

use super::poem::parse;
use crate::filter::RejectReason;

/// Cuts a normalised paragraph into couplets. Where the first part ends level and the second oblique, as often in
/// "X 对 Y", the two change places: either is the answer of the other.
pub(crate) fn couplets_of_primer(text: &str) -> (Vec<Couplet>, Vec<(RejectReason, String)>) {
    let mut couplets = Vec::new();
    let mut rejects = Vec::new();
    let mut push = |upper: &str, lower: &str| match parse(upper, lower) {
        Ok(couplet) => couplets.push(upright(couplet)),
        Err(reason) => rejects.push((reason, format!("{upper}\t{lower}"))),
    };
    for sentence in text.split(['。', '！', '？', '\n']) {
        if let Some((upper, lower)) = sentence.split_once('；').filter(|(u, l)| same_form(u, l)) {
            push(upper, lower);
            continue;
        }
        let mut waiting: Option<&str> = None;
        for clause in sentence.split(['，', '；']).filter(|c| !c.is_empty()) {
            if let Some((upper, lower)) = clause.split_once('对').filter(|(u, l)| same_form(u, l)) {
                push(upper, lower);
                waiting = None;
            } else if let Some(upper) = waiting.take().filter(|u| same_form(u, clause)) {
                push(upper, clause);
            } else {
                waiting = Some(clause);
            }
        }
    }
    (couplets, rejects)
}

fn same_form(upper: &str, lower: &str) -> bool {
    !upper.is_empty() && upper.chars().count() == lower.chars().count()
}

fn upright(couplet: Couplet) -> Couplet {
    let last = |line: &duilian_core::Line| {
        line.han().last().map_or(duilian_prosody::ToneSet::BOTH, |c| tones(c, ToneBook::Either))
    };
    let reversed = last(couplet.upper()).only(Tone::Level) && last(couplet.lower()).only(Tone::Oblique);
    if reversed { Couplet::new(couplet.lower().clone(), couplet.upper().clone()) } else { couplet }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_gives_all_its_couplets() {
        let text = "云对雨，雪对风，晚照对晴空。三尺剑，六钧弓。远看山有色；近听水无声。";
        let found: Vec<String> = couplets_of_primer(text).0.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["雨\t云", "雪\t风", "晚照\t晴空", "三尺剑\t六钧弓", "远看山有色\t近听水无声"]);
    }
}
