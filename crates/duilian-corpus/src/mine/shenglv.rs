//! Couplets of the primer 声律启蒙, which says "X 对 Y" and then gives parallel clauses.

use duilian_core::Couplet;
use duilian_prosody::Tone;

use super::poem::Found;
use crate::filter::end_tones;
use crate::record::Source;

/// Cuts a normalised paragraph into couplets. Where the first part ends level and the second oblique, as often in
/// "X 对 Y", the two change places: either is the answer of the other.
pub(crate) fn couplets_of_primer(text: &str) -> Found {
    let mut found = Found::default();
    for sentence in text.split(['。', '！', '？', '\n']) {
        if let Some((upper, lower)) = sentence.split_once('；').filter(|(u, l)| same_form(u, l)) {
            found.push(upper, lower, Source::Shenglv);
            continue;
        }
        let mut waiting: Option<&str> = None;
        for clause in sentence.split(['，', '；']).filter(|c| !c.is_empty()) {
            if let Some((upper, lower)) = clause.split_once('对').filter(|(u, l)| same_form(u, l)) {
                found.push(upper, lower, Source::Shenglv);
                found.unpaired_clauses += u64::from(waiting.take().is_some());
            } else if let Some(upper) = waiting.filter(|u| same_form(u, clause)) {
                found.push(upper, clause, Source::Shenglv);
                waiting = None;
            } else {
                found.unpaired_clauses += u64::from(waiting.replace(clause).is_some());
            }
        }
        found.unpaired_clauses += u64::from(waiting.is_some());
    }
    for (couplet, _) in &mut found.couplets {
        set_upright(couplet);
    }
    found
}

fn same_form(upper: &str, lower: &str) -> bool {
    !upper.is_empty() && upper.chars().count() == lower.chars().count()
}

fn set_upright(couplet: &mut Couplet) {
    let reversed =
        end_tones(couplet.upper()).only(Tone::Level) && end_tones(couplet.lower()).only(Tone::Oblique);
    if reversed {
        *couplet = Couplet::new(couplet.lower().clone(), couplet.upper().clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_gives_all_its_couplets() {
        let text = "云对雨，雪对风，晚照对晴空。三尺剑，六钧弓。远看山有色；近听水无声。";
        let found = couplets_of_primer(text);
        assert_eq!((found.broken.len(), found.unpaired_clauses), (0, 0));
        let texts: Vec<String> = found.couplets.iter().map(|(c, _)| c.to_string()).collect();
        assert_eq!(texts, ["雨\t云", "雪\t风", "晚照\t晴空", "三尺剑\t六钧弓", "远看山有色\t近听水无声"]);
    }
}
