//! Pairs of two clauses from two couplets.

use duilian_core::{Couplet, Line};

use crate::record::{Pair, Source};
use crate::split::chance;

/// Joins neighbouring couplets of one poem: `A / B` and `C / D` become `A，C / B，D`, which keeps every character
/// opposite the one that answers it. `pairs` are the parallel couplets of the corpus in the order of the poems;
/// only a share of the neighbours is taken, drawn by seed and poem.
pub(crate) fn join_neighbours(pairs: &[Pair], share: f64, max_length: usize, seed: u64) -> Vec<Pair> {
    let usable =
        |p: &Pair| matches!(p.source, Source::Regulated | Source::Mined) && p.couplet.upper().len() <= 7;
    pairs
        .windows(2)
        .filter(|w| w[0].group == w[1].group && usable(&w[0]) && usable(&w[1]))
        .filter(|w| w[0].couplet.upper().len() == w[1].couplet.upper().len())
        .filter(|w| 2 * w[0].couplet.upper().len() < max_length)
        .filter(|w| chance(seed ^ 0x006A_6F69_6E65_6421, w[0].group) < share)
        .filter_map(|w| {
            let couplet = Couplet::new(
                join(w[0].couplet.upper(), w[1].couplet.upper())?,
                join(w[0].couplet.lower(), w[1].couplet.lower())?,
            );
            let score = f32::midpoint(w[0].score, w[1].score);
            Some(Pair { couplet, source: Source::Joined, group: w[0].group, score })
        })
        .collect()
}

fn join(first: &Line, second: &Line) -> Option<Line> {
    let characters = first.chars().iter().chain(&['，']).chain(second.chars()).copied().collect();
    Line::from_chars(characters).ok()
}
