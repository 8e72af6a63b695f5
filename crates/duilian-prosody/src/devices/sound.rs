//! Characters that sound alike.

use duilian_core::{Clause, Line};

use super::{Confidence, Device};
use crate::character::{Syllable, are_homophones, first_syllable};

pub(super) fn find(line: &Line) -> Option<Device> {
    let text = line.chars();
    let readings: Vec<Option<Syllable>> = text.iter().map(|&c| first_syllable(c)).collect();
    let alike = |a: usize, b: usize, same_tone: bool| match (readings[a], readings[b]) {
        (Some(x), Some(y)) => {
            text[a] != text[b] && x.text() == y.text() && (!same_tone || x.tone() == y.tone())
        }
        _ => false,
    };
    let clauses: Vec<Clause<'_>> = line.clauses().collect();
    let starts: Vec<usize> =
        clauses.iter().flat_map(|clause| clause.start()..clause.start() + clause.chars().len() - 1).collect();

    let mut pairs = Vec::new();
    let mut confidence = Confidence::Possible;
    // Two syllables in a row that come again, tones included, in any living reading: 贾岛 and 假倒; or, as a weaker sign,
    // one that comes again beside a repeated character, tones left out: 无山 and 巫山.
    for (i, &a) in starts.iter().enumerate() {
        for &b in starts[i + 1..].iter().filter(|&&b| b > a + 1) {
            let sounds_like = |i: usize, same_tone| are_homophones(text[a + i], text[b + i], same_tone);
            match (sounds_like(0, true), sounds_like(1, true)) {
                (true, true) => {
                    pairs.extend([(a, b), (a + 1, b + 1)]);
                    confidence = Confidence::Sure;
                }
                _ if text[a + 1] == text[b + 1] && alike(a, b, false) => pairs.push((a, b)),
                _ if text[a] == text[b] && alike(a + 1, b + 1, false) => pairs.push((a + 1, b + 1)),
                _ => {}
            }
        }
    }
    // Neighbours: 移椅倚桐同. A single pair must agree in tone.
    let near: Vec<(usize, usize)> =
        starts.iter().map(|&a| (a, a + 1)).filter(|&(a, b)| alike(a, b, false)).collect();
    let exact: Vec<(usize, usize)> = near.iter().copied().filter(|&(a, b)| alike(a, b, true)).collect();
    if near.len() > 1 && !exact.is_empty() {
        confidence = Confidence::Sure;
    }
    pairs.extend(if confidence == Confidence::Sure { near } else { exact });
    // The same place of two clauses of equal length.
    let across = clauses.windows(2).filter(|pair| pair[0].chars().len() == pair[1].chars().len());
    let across = across
        .flat_map(|pair| (0..pair[0].chars().len()).map(|i| (pair[0].start() + i, pair[1].start() + i)));
    pairs.extend(across.filter(|&(a, b)| alike(a, b, true)));
    pairs.sort_unstable();
    pairs.dedup();
    (!pairs.is_empty()).then_some(Device::Homophones { pairs, confidence })
}
