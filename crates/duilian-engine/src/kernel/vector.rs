//! Loops over floats in lanes, written so that the compiler turns them into vector instructions of whatever level
//! they are inlined into.

use super::Codes;

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

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    sum_lanes(lanes) + rest
}

#[inline(always)]
fn largest(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = if chunk[i] > lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |most, &v| if v > most { v } else { most })
}

/// The exponential of a number that is not above 0, to about two units in the last place; 2^-125 below -87.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23: adding it leaves the rounded number in the low bits
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, the first exact in few bits (Cody & Waite 1980).
    let f = x - n * 0.693_359_4;
    let f = f + n * 2.121_944_4e-4;
    // Taylor's series on |f| <= ln 2 / 2; what is left out is below 2e-8 of the value.
    let p = 1.0 / 5_040.0;
    let p = p * f + 1.0 / 720.0;
    let p = p * f + 1.0 / 120.0;
    let p = p * f + 1.0 / 24.0;
    let p = p * f + 1.0 / 6.0;
    let p = p * f + 0.5;
    let p = p * f + 1.0;
    let p = p * f + 1.0;
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

/// Scales each row of `x` to a mean square of 1 and multiplies it by `gamma` (Zhang & Sennrich 2019).
#[inline(always)]
pub(super) fn rms_norm(x: &[f32], gamma: &[f32], out: &mut [f32]) {
    const EPSILON: f32 = 1e-5;
    let width = gamma.len();
    for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let factor = 1.0 / (dot(x, x) / width as f32 + EPSILON).sqrt();
        for ((out, x), gamma) in out.iter_mut().zip(x).zip(gamma) {
            *out = x * factor * gamma;
        }
    }
}

/// Turns rows of this width into codes.
#[inline(always)]
pub(super) fn quantise(x: &[f32], width: usize, codes: &mut Codes) {
    const ROUND: f32 = 8_388_608.0; // 2^23: adding it leaves the rounded number in the low byte
    codes.resize(x.len() / width, width);
    let lines = codes.codes.chunks_exact_mut(codes.stride);
    for ((x, line), range) in x.chunks_exact(width).zip(lines).zip(&mut codes.ranges) {
        let (chunks, rest) = x.as_chunks::<LANES>();
        let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
        for chunk in chunks {
            for i in 0..LANES {
                low[i] = if chunk[i] < low[i] { chunk[i] } else { low[i] };
                high[i] = if chunk[i] > high[i] { chunk[i] } else { high[i] };
            }
        }
        let least = low.iter().chain(rest).fold(f32::INFINITY, |a, &b| if b < a { b } else { a });
        let most = high.iter().chain(rest).fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        let span = most - least;
        let inverse = if span > 0.0 { 255.0 / span } else { 0.0 };
        for (code, x) in line.iter_mut().zip(x) {
            *code = ((x - least) * inverse + ROUND).to_bits() as u8;
        }
        *range = (span / 255.0, least);
    }
}

/// Attention of one query to keys and values that lie side by side at `offsets` of `memory`: `width` numbers of the
/// key, then as many of the value, `heads` parts each. `scores` is room for `heads · offsets.len()` numbers.
#[inline(always)]
pub(super) fn attend(
    query: &[f32],
    memory: &[f32],
    offsets: &[usize],
    heads: usize,
    scores: &mut [f32],
    out: &mut [f32],
) {
    let (width, places) = (query.len(), offsets.len());
    let part = width / heads;
    let scale = 1.0 / (part as f32).sqrt();
    for (place, &offset) in offsets.iter().enumerate() {
        let key = memory[offset..][..width].chunks_exact(part);
        for (head, (query, key)) in query.chunks_exact(part).zip(key).enumerate() {
            scores[head * places + place] = dot(query, key) * scale;
        }
    }
    for scores in scores[..heads * places].chunks_exact_mut(places) {
        let most = largest(scores);
        let mut sum = 0.0;
        for score in scores.iter_mut() {
            *score = exp(*score - most);
            sum += *score;
        }
        let factor = 1.0 / sum;
        scores.iter_mut().for_each(|score| *score *= factor);
    }
    out.fill(0.0);
    for (place, &offset) in offsets.iter().enumerate() {
        let value = memory[offset + width..][..width].chunks_exact(part);
        for (head, (out, value)) in out.chunks_exact_mut(part).zip(value).enumerate() {
            let weight = scores[head * places + place];
            for (out, value) in out.iter_mut().zip(value) {
                *out += weight * value;
            }
        }
    }
}

/// The logarithm of the sum of exponentials.
#[inline(always)]
pub(super) fn log_sum_exp(row: &[f32]) -> f32 {
    let most = largest(row);
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] += exp(chunk[i] - most);
        }
    }
    let rest: f32 = rest.iter().map(|&v| exp(v - most)).sum();
    most + (sum_lanes(lanes) + rest).ln()
}

/// Turns scores, rows of this width, into the natural logarithms of probabilities.
#[inline(always)]
pub(super) fn log_softmax(rows: &mut [f32], width: usize) {
    for row in rows.chunks_exact_mut(width) {
        let sum = log_sum_exp(row);
        row.iter_mut().for_each(|v| *v -= sum);
    }
}

/// Multiplies rows of this width with some rows of a table: `out` is `[rows, candidates]`.
#[inline(always)]
pub(super) fn candidates_f32(x: &[f32], width: usize, table: &[f32], candidates: &[u16], out: &mut [f32]) {
    for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(candidates.len().max(1))) {
        for (out, &candidate) in out.iter_mut().zip(candidates) {
            *out = dot(x, &table[usize::from(candidate) * width..][..width]);
        }
    }
}
