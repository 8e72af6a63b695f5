//! Characters that sound alike.

use duilian_core::{Clause, Line};

use super::{Confidence, Device};
use crate::character::{Syllable, first_syllable};

pub(super) fn find(line: &Line) -> Option<Device> {
    let text = line.chars();
    let readings: Vec<Option<Syllable>> = text.iter().map(|&c| first_syllable(c)).collect();
    let alike = |a: usize, b: usize, same_tone: bool| match (readings[a], readings[b]) {
        (Some(x), Some(y)) => {
            text[a] != text[b] && x.text() == y.text() && (!same_tone || x.tone() == y.tone())
        }
        _ => false,
    };
    let same_sound = |a: usize, b: usize| text[a] == text[b] || alike(a, b, false);
    let clauses: Vec<Clause<'_>> = line.clauses().collect();

    let mut pairs = Vec::new();
    // Two syllables in a row that come again in other characters: 贾岛, 假倒.
    let starts: Vec<usize> =
        clauses.iter().flat_map(|clause| clause.start()..clause.start() + clause.chars().len() - 1).collect();
    for (i, &a) in starts.iter().enumerate() {
        for &b in starts[i + 1..].iter().filter(|&&b| b > a + 1) {
            if same_sound(a, b) && same_sound(a + 1, b + 1) {
                pairs.extend([a, a + 1].into_iter().zip([b, b + 1]).filter(|&(x, y)| text[x] != text[y]));
            }
        }
    }
    let twice = !pairs.is_empty();
    // Neighbours: 移椅, 桐同.
    let near: Vec<(usize, usize)> =
        starts.iter().map(|&a| (a, a + 1)).filter(|&(a, b)| alike(a, b, false)).collect();
    // The same place of two clauses of equal length.
    let across: Vec<(usize, usize)> = clauses
        .windows(2)
        .filter(|pair| pair[0].chars().len() == pair[1].chars().len())
        .flat_map(|pair| (0..pair[0].chars().len()).map(|i| (pair[0].start() + i, pair[1].start() + i)))
        .filter(|&(a, b)| alike(a, b, true))
        .collect();
    let confidence = if twice || near.len() > 1 { Confidence::Sure } else { Confidence::Possible };
    if confidence == Confidence::Sure {
        pairs.extend(near);
    } else {
        pairs.extend(near.into_iter().filter(|&(a, b)| alike(a, b, true)));
    }
    pairs.extend(across);
    pairs.sort_unstable();
    pairs.dedup();
    (!pairs.is_empty()).then_some(Device::Homophones { pairs, confidence })
}
