//! Every level against plain loops, with sizes that fit no vector.

use proptest::prelude::*;

use super::*;

/// Numbers of about the size of activations, from a seed.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut bits = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        // xorshift64
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        (bits >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn bytes(count: usize, seed: u64) -> Vec<i8> {
    numbers(count, seed).into_iter().map(|v| (v * 127.0) as i8).collect()
}

fn plain(x: &[f32], inputs: usize, outputs: usize, weight: impl Fn(usize, usize) -> f32) -> Vec<f64> {
    let sum = |row: &[f32], output: usize| {
        row.iter().enumerate().map(|(input, &v)| f64::from(v) * f64::from(weight(input, output))).sum()
    };
    x.chunks(inputs).flat_map(|row| (0..outputs).map(move |output| sum(row, output))).collect()
}

fn after(store: Store, before: f64, product: f64) -> f64 {
    match store {
        Store::Set => product,
        Store::Add => before + product,
        Store::Relu => product.max(0.0),
    }
}

const STORES: [Store; 3] = [Store::Set, Store::Add, Store::Relu];
const CASES: u32 = if cfg!(miri) { 3 } else { 64 };

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    #[test]
    fn f32_products(rows in 0_usize..15, inputs in 1_usize..70, outputs in 1_usize..150, gap in 0_usize..4, seed: u64) {
        let (x, weights) = (numbers(rows * inputs, seed), numbers(inputs * outputs, !seed));
        let weight = |input: usize, output: usize| weights[input * outputs + output];
        let packed = PackedF32::new(inputs, outputs, weight);
        let exact = plain(&x, inputs, outputs, weight);
        let stride = outputs + gap;
        for level in Level::available() {
            for store in STORES {
                let mut values = vec![0.25; rows * stride];
                product_f32(level, &x, &packed, Output { values: &mut values, stride, store });
                for (i, value) in values.iter().enumerate() {
                    let wanted = match exact.get(i / stride * outputs + i % stride) {
                        Some(&product) if i % stride < outputs => after(store, 0.25, product),
                        _ => 0.25,
                    };
                    prop_assert!((f64::from(*value) - wanted).abs() < 1e-4, "{level:?} {store:?} {i}: {value} {wanted}");
                }
            }
        }
    }

    #[test]
    fn int8_products(rows in 0_usize..15, inputs in 1_usize..300, outputs in 1_usize..150, seed: u64) {
        let (x, weights) = (numbers(rows * inputs, seed), bytes(inputs * outputs, !seed));
        let scales = numbers(outputs, seed ^ 1);
        let packed = PackedInt8::new(inputs, outputs, |output, column| {
            column.iter_mut().enumerate().for_each(|(input, slot)| *slot = weights[input * outputs + output]);
            scales[output]
        });
        let mut codes = Codes::default();
        let mut found = Vec::new();
        for bytes in [1, 2] {
            let mut first: Option<Vec<f32>> = None;
            for level in Level::available() {
                quantise(level, &x, inputs, bytes, &mut codes);
                let most = if bytes == 1 { 255.0 } else { 65_535.0 };
                // What the codes stand for, multiplied without any further rounding.
                let rounded: Vec<f32> = (0..rows * inputs).map(|i| {
                    let (step, least) = codes.ranges[i / inputs];
                    let line = i / inputs * bytes * codes.stride + i % inputs;
                    let code = match bytes {
                        1 => f32::from(codes.numbers[line]),
                        _ => f32::from(u16::from_be_bytes([codes.numbers[line], codes.numbers[line + codes.stride]])),
                    };
                    least + step * code
                }).collect();
                for (x, r) in x.chunks(inputs).zip(rounded.chunks(inputs)) {
                    let (low, high) = x.iter().fold((1.0_f32, -1.0_f32), |(l, h), &v| (l.min(v), h.max(v)));
                    for (x, r) in x.iter().zip(r) {
                        prop_assert!((x - r).abs() <= (high - low) / most * 0.51 + 1e-6, "{x} became {r}");
                    }
                }
                let exact = plain(&rounded, inputs, outputs, |input, output| {
                    f32::from(weights[input * outputs + output]) * scales[output]
                });
                for store in STORES {
                    found.clear();
                    found.resize(rows * outputs, 0.25);
                    product_int8(level, &codes, &packed, Output { values: &mut found, stride: outputs, store });
                    for (value, product) in found.iter().zip(&exact) {
                        let wanted = after(store, 0.25, *product);
                        prop_assert!((f64::from(*value) - wanted).abs() < 0.02, "{level:?} {store:?}: {value} {wanted}");
                    }
                }
                let first = first.get_or_insert_with(|| found.clone());
                prop_assert!(first.iter().zip(&found).all(|(a, b)| a.to_bits() == b.to_bits()), "levels agree");
            }
        }
    }

    #[test]
    fn candidates_are_some_of_the_columns(rows in 1_usize..12, width in 1_usize..200, seed: u64) {
        const OUTPUTS: usize = 90;
        let (x, weights) = (numbers(rows * width, seed), bytes(OUTPUTS * width, !seed));
        let scales = numbers(OUTPUTS, seed ^ 1);
        let table = Table8::new(width, &weights, &scales);
        let packed = PackedInt8::new(width, OUTPUTS, |output, column| {
            column.copy_from_slice(table.row(output).0);
            table.row(output).1
        });
        let mut codes = Codes::default();
        let candidates = [3_u16, 89, 0, 17, 64, 3];
        let from = rows / 3;
        for level in Level::available() {
            quantise(level, &x, width, 1, &mut codes);
            let mut all = vec![0.0; rows * OUTPUTS];
            product_int8(level, &codes, &packed, Output { values: &mut all, stride: OUTPUTS, store: Store::Set });
            let mut some = vec![0.0; (rows - from) * candidates.len()];
            candidates_int8(level, &codes, (from, rows), &table, &candidates, &mut some);
            for (i, value) in some.iter().enumerate() {
                let candidate = usize::from(candidates[i % candidates.len()]);
                let wanted = all[(from + i / candidates.len()) * OUTPUTS + candidate];
                prop_assert_eq!(value.to_bits(), wanted.to_bits(), "{:?}", level);
            }
        }
    }

    #[test]
    fn probabilities_sum_to_one(count in 1_usize..200, spread in 0.1_f32..60.0, seed: u64) {
        let scores: Vec<f32> = numbers(count, seed).into_iter().map(|v| v * spread).collect();
        let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = scores.iter().map(|&s| f64::from(s - most).exp()).sum();
        let exact = f64::from(most) + sum.ln();
        for level in Level::available() {
            let mut rows = [scores.clone(), scores.clone()].concat();
            log_softmax(level, &mut rows, count);
            for (found, score) in rows.iter().zip(scores.iter().chain(&scores)) {
                prop_assert!((f64::from(*found) - (f64::from(*score) - exact)).abs() < 2e-5, "{level:?}");
            }
        }
    }

    #[test]
    fn best_scores_are_refined(width in 1_usize..90, tokens in 1_usize..200, some: bool, seed: u64) {
        let table = Table8::new(width, &bytes(200 * width, !seed), &[0.01; 200]);
        let list: Vec<u16> = (0..tokens as u16).map(|i| i * 7 % 200).collect();
        let candidates = some.then_some(list.as_slice());
        let tokens = if some { tokens } else { 200 };
        let x = numbers(2 * width, seed);
        let exact = plain(&x, width, tokens, |input, output| {
            let (bytes, scale) = table.row(if some { usize::from(list[output]) } else { output });
            f32::from(bytes[input]) * scale
        });
        // Scores that are a little off, all of them within reach.
        let rough = |(i, &v): (usize, &f64)| v as f32 + if i % 3 == 0 { 0.05 } else { -0.05 };
        for level in Level::available() {
            let mut scores: Vec<f32> = exact.iter().enumerate().map(rough).collect();
            refined_log_softmax(level, &x, width, &table, candidates, 1e9, &mut scores);
            for (found, exact) in scores.chunks(tokens).zip(exact.chunks(tokens)) {
                let sum = exact.iter().map(|v| v.exp()).sum::<f64>().ln();
                for (found, exact) in found.iter().zip(exact) {
                    prop_assert!((f64::from(*found) - (exact - sum)).abs() < 1e-4, "{level:?}: {found} {exact}");
                }
            }
        }
    }

    #[test]
    fn attention_is_a_weighted_mean(places in 1_usize..20, part in 1_usize..40, heads in 1_usize..5, seed: u64) {
        let width = heads * part;
        let (query, memory) = (numbers(width, seed), numbers(2 * width * places, !seed));
        let offsets: Vec<usize> = (0..places).map(|i| (places - 1 - i) * 2 * width).collect();
        let (mut scores, mut out) = (vec![0.0; score_room(places, heads)], vec![0.0; width]);
        for level in Level::available() {
            attend(level, &query, &memory, &offsets, heads, &mut scores, &mut out);
            for (i, found) in out.iter().enumerate() {
                let head = i / part * part..(i / part + 1) * part;
                let weights: Vec<f64> = offsets.iter().map(|&o| {
                    let dot: f64 = head.clone().map(|j| f64::from(query[j]) * f64::from(memory[o + j])).sum();
                    (dot / (part as f64).sqrt()).exp()
                }).collect();
                let sum: f64 = weights.iter().zip(&offsets).map(|(w, &o)| w * f64::from(memory[o + width + i])).sum();
                let wanted = sum / weights.iter().sum::<f64>();
                prop_assert!((f64::from(*found) - wanted).abs() < 1e-5, "{level:?}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn norms_have_a_mean_square_of_one(width in 1_usize..70, seed: u64) {
        let (x, gamma) = (numbers(3 * width, seed), numbers(width, !seed));
        for level in Level::available() {
            let mut out = vec![0.0; x.len()];
            rms_norm(level, &x, &gamma, &mut out);
            for (x, out) in x.chunks(width).zip(out.chunks(width)) {
                let mean = x.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / width as f64;
                for ((x, gamma), out) in x.iter().zip(&gamma).zip(out) {
                    let wanted = f64::from(*x) / (mean + 1e-5).sqrt() * f64::from(*gamma);
                    prop_assert!((f64::from(*out) - wanted).abs() < 1e-5, "{level:?}: {out} {wanted}");
                }
            }
        }
    }
}

#[test]
fn equal_numbers_are_exact() {
    let mut codes = Codes::default();
    for level in Level::available() {
        quantise(level, &[0.7; 5], 5, 1, &mut codes);
        assert_eq!(codes.ranges[0], (0.0, 0.7));
        assert!(codes.numbers.iter().all(|&code| code == 0));
    }
}
