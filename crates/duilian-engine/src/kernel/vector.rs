//! Loops over floats in lanes, written so that the compiler turns them into vector instructions of whatever level
//! they are inlined into.

use super::lanes::Lanes;
use super::{Codes, PANEL, Table8};

const LANES: usize = 16;

#[inline(always)]
fn sum_lanes(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// The exponential of a number that is not above 0, to a few units in the last place; 2^-125 below -87.
#[inline(always)]
fn exp<L: Lanes>(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23: adding it leaves the rounded number in the low bits
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = L::mul_add(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    // ln 2 in two parts, the first exact in few bits (Cody & Waite 1980).
    let f = L::mul_add(n, -0.693_359_4, x);
    let f = L::mul_add(n, 2.121_944_4e-4, f);
    // Taylor's series on |f| <= ln 2 / 2; what is left out is below 1.3e-7 of the value.
    let p = L::mul_add(1.0 / 720.0, f, 1.0 / 120.0);
    let p = L::mul_add(p, f, 1.0 / 24.0);
    let p = L::mul_add(p, f, 1.0 / 6.0);
    let p = L::mul_add(p, f, 0.5);
    let p = L::mul_add(p, f, 1.0);
    let p = L::mul_add(p, f, 1.0);
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

/// Scales each row of `x` to a mean square of 1 and multiplies it by `gamma` (Zhang & Sennrich 2019).
#[inline(always)]
pub(super) fn rms_norm<L: Lanes>(x: &[f32], gamma: &[f32], out: &mut [f32]) {
    const EPSILON: f32 = 1e-5;
    let width = gamma.len();
    for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let factor = 1.0 / (L::dot(x, x) / width as f32 + EPSILON).sqrt();
        for ((out, x), gamma) in out.iter_mut().zip(x).zip(gamma) {
            *out = x * factor * gamma;
        }
    }
}

/// Turns rows of this width into codes.
#[inline(always)]
pub(super) fn quantise<L: Lanes>(x: &[f32], width: usize, bytes: usize, codes: &mut Codes) {
    const ROUND: f32 = 8_388_608.0; // 2^23: adding it leaves the rounded number in the low bits
    codes.resize(x.len() / width, width, bytes);
    let most_code = if bytes == 1 { 255.0 } else { 65_535.0 };
    let lines = codes.numbers.chunks_exact_mut(codes.stride * bytes);
    for ((x, line), range) in x.chunks_exact(width).zip(lines).zip(&mut codes.ranges) {
        let (least, most) = L::range(x);
        let span = most - least;
        let inverse = if span > 0.0 { most_code / span } else { 0.0 };
        if bytes == 1 {
            for (code, x) in line.iter_mut().zip(x) {
                *code = ((x - least) * inverse + ROUND).to_bits() as u8;
            }
        } else {
            let (high, low) = line.split_at_mut(codes.stride);
            for ((high, low), x) in high.iter_mut().zip(low).zip(x) {
                let code = ((x - least) * inverse + ROUND).to_bits();
                *high = (code >> 8) as u8;
                *low = code as u8;
            }
        }
        *range = (span / most_code, least);
    }
}

/// Room that [`attend`] needs for scores.
pub(crate) fn score_room(places: usize, heads: usize) -> usize {
    places.next_multiple_of(LANES) * heads
}

/// Attention of one query to keys and values that lie side by side at `offsets` of `memory`: `width` numbers of the
/// key, then as many of the value, `heads` parts each. `scores` is room for [`score_room`] numbers.
#[inline(always)]
pub(super) fn attend<L: Lanes>(
    query: &[f32],
    memory: &[f32],
    offsets: &[usize],
    heads: usize,
    scores: &mut [f32],
    out: &mut [f32],
) {
    let (width, places) = (query.len(), offsets.len());
    let (part, padded) = (width / heads, places.next_multiple_of(LANES));
    let scores = &mut scores[..heads * padded];
    let scale = 1.0 / (part as f32).sqrt();
    scores.fill(f32::NEG_INFINITY);
    for (place, &offset) in offsets.iter().enumerate() {
        let key = memory[offset..][..width].chunks_exact(part);
        for (head, (query, key)) in query.chunks_exact(part).zip(key).enumerate() {
            scores[head * padded + place] = L::dot(query, key) * scale;
        }
    }
    for scores in scores.chunks_exact_mut(padded) {
        let most = L::range(scores).1;
        for chunk in scores.as_chunks_mut::<LANES>().0 {
            for score in chunk {
                *score = exp::<L>(*score - most);
            }
        }
    }
    for (head, out) in out.chunks_exact_mut(part).enumerate() {
        let weights = &scores[head * padded..][..places];
        let sum: f32 = weights.iter().sum();
        let factor = 1.0 / sum;
        let (whole, rest) = out.as_chunks_mut::<LANES>();
        for (chunk, out) in whole.iter_mut().enumerate() {
            let mut lanes = [0.0; LANES];
            for (&offset, weight) in offsets.iter().zip(weights) {
                let value = &memory[offset + width + head * part + chunk * LANES..][..LANES];
                for i in 0..LANES {
                    lanes[i] += weight * value[i];
                }
            }
            for i in 0..LANES {
                out[i] = lanes[i] * factor;
            }
        }
        let from = width + head * part + whole.len() * LANES;
        for (i, out) in rest.iter_mut().enumerate() {
            let pairs = offsets.iter().zip(weights);
            *out = pairs.map(|(&offset, weight)| weight * memory[offset + from + i]).sum::<f32>() * factor;
        }
    }
}

/// The logarithm of the sum of exponentials of numbers that are not much above `most`.
#[inline(always)]
fn log_sum_exp<L: Lanes>(row: &[f32], most: f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] += exp::<L>(chunk[i] - most);
        }
    }
    let rest: f32 = rest.iter().map(|&v| exp::<L>(v - most)).sum();
    most + (sum_lanes(lanes) + rest).ln()
}

/// Turns scores, rows of this width, into the natural logarithms of probabilities.
#[inline(always)]
pub(super) fn log_softmax<L: Lanes>(rows: &mut [f32], width: usize) {
    for row in rows.chunks_exact_mut(width) {
        let sum = log_sum_exp::<L>(row, L::range(row).1);
        for score in row {
            *score -= sum;
        }
    }
}

/// As [`log_softmax`] after computing scores anew, without rounding `x`, that are at most `reach` below the best of
/// their row: `x` is `[rows, width]` and `scores` `[rows, tokens]`. Tokens are those of `candidates`, or all of the
/// table if that is `None`.
#[inline(always)]
pub(super) fn refined_log_softmax<L: Lanes>(
    x: &[f32],
    width: usize,
    table: &Table8,
    candidates: Option<&[u16]>,
    reach: f32,
    scores: &mut [f32],
) {
    let tokens = candidates.map_or(table.scales.len(), <[u16]>::len);
    for (x, scores) in x.chunks_exact(width).zip(scores.chunks_exact_mut(tokens)) {
        let mut most = L::range(scores).1;
        let least = most - reach;
        for (block, scores) in scores.chunks_mut(PANEL).enumerate() {
            if !L::reaches(scores, least) {
                continue;
            }
            for (i, score) in scores.iter_mut().enumerate().filter(|(_, score)| **score >= least) {
                let token = block * PANEL + i;
                let (bytes, scale) = table.row(candidates.map_or(token, |list| usize::from(list[token])));
                *score = L::dot_bytes(x, bytes) * scale;
                most = if *score > most { *score } else { most };
            }
        }
        let sum = log_sum_exp::<L>(scores, most);
        for score in scores {
            *score -= sum;
        }
    }
}

/// Multiplies rows of this width with some rows of a table: `out` is `[rows, candidates]`.
#[inline(always)]
pub(super) fn candidates_f32<L: Lanes>(
    x: &[f32],
    width: usize,
    table: &[f32],
    candidates: &[u16],
    out: &mut [f32],
) {
    for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(candidates.len().max(1))) {
        for (out, &candidate) in out.iter_mut().zip(candidates) {
            *out = L::dot(x, &table[usize::from(candidate) * width..][..width]);
        }
    }
}
