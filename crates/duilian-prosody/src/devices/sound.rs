//! Characters that sound alike.

use duilian_core::{Clause, Line};

use super::{Confidence, Device};
use crate::character::{Syllable, syllables};

/// Characters that always sound alike and are not meant to: they write one word.
const ONE_WORD: [&str; 2] = ["他她它", "的地得"];

pub(super) fn find(line: &Line) -> Option<Device> {
    let text = line.chars();
    // The usual reading first.
    let readings: Vec<Vec<Syllable>> = text.iter().map(|&c| syllables(c).collect()).collect();
    let is_pair = |a: usize, b: usize| {
        text[a] != text[b] && !ONE_WORD.iter().any(|word| word.contains(text[a]) && word.contains(text[b]))
    };
    let alike = |a: usize, b: usize, same_tone: bool| match (readings[a].first(), readings[b].first()) {
        (Some(x), Some(y)) => is_pair(a, b) && x.text() == y.text() && (!same_tone || x.tone() == y.tone()),
        _ => false,
    };
    let ever_alike =
        |a: usize, b: usize| is_pair(a, b) && readings[a].iter().any(|x| readings[b].contains(x));
    let clauses: Vec<Clause<'_>> = line.clauses().collect();
    let starts: Vec<usize> =
        clauses.iter().flat_map(|clause| clause.start()..clause.start() + clause.chars().len() - 1).collect();

    let mut pairs = Vec::new();
    let mut confidence = Confidence::Possible;
    // Two syllables in a row that come again, tones included, in any living reading: 贾岛 and 假倒; or, as a weaker sign,
    // one that comes again beside a repeated character, tones left out: 无山 and 巫山.
    for (i, &a) in starts.iter().enumerate() {
        for &b in starts[i + 1..].iter().filter(|&&b| b > a + 1) {
            if ever_alike(a, b) && ever_alike(a + 1, b + 1) {
                pairs.extend([(a, b), (a + 1, b + 1)]);
                confidence = Confidence::Sure;
            } else if text[a + 1] == text[b + 1] && alike(a, b, false) {
                pairs.push((a, b));
            } else if text[a] == text[b] && alike(a + 1, b + 1, false) {
                pairs.push((a + 1, b + 1));
            }
        }
    }
    // Neighbours: 移椅倚桐同. A single pair must agree in tone.
    let near: Vec<(usize, usize)> =
        starts.iter().map(|&a| (a, a + 1)).filter(|&(a, b)| alike(a, b, false)).collect();
    let exact: Vec<(usize, usize)> = near.iter().copied().filter(|&(a, b)| alike(a, b, true)).collect();
    if near.len() > 1 && !exact.is_empty() {
        confidence = Confidence::Sure;
        pairs.extend(near);
    } else {
        pairs.extend(exact);
    }
    // The same place of two clauses of equal length.
    let across = clauses.windows(2).filter(|pair| pair[0].chars().len() == pair[1].chars().len());
    let across = across
        .flat_map(|pair| (0..pair[0].chars().len()).map(|i| (pair[0].start() + i, pair[1].start() + i)));
    pairs.extend(across.filter(|&(a, b)| alike(a, b, true)));
    pairs.sort_unstable();
    pairs.dedup();
    (!pairs.is_empty()).then_some(Device::Homophones { pairs, confidence })
}
