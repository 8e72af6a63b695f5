//! Tiles without any instructions but the target's own, and without pointers: what the others are tested against.

use super::{PANEL, Tile};

/// Sums of `ROWS` rows of codes, which lie `stride` apart, and one panel.
#[inline(always)]
pub(super) fn tile_int8<const ROWS: usize>(codes: &[u8], stride: usize, panel: &[i8], tile: &mut Tile<i32>) {
    for (row, sums) in tile[..ROWS].iter_mut().enumerate() {
        sums.fill(0);
        let codes = codes[row * stride..].as_chunks::<4>().0;
        for (codes, group) in codes.iter().zip(panel.as_chunks::<{ 4 * PANEL }>().0) {
            for (sum, four) in sums.iter_mut().zip(group.as_chunks::<4>().0) {
                for (&code, &byte) in codes.iter().zip(four) {
                    *sum += i32::from(code) * i32::from(byte);
                }
            }
        }
    }
}

/// Sums of `ROWS` rows, which lie `stride` apart, and one panel.
#[inline(always)]
pub(super) fn tile_f32<const ROWS: usize>(x: &[f32], stride: usize, panel: &[f32], tile: &mut Tile<f32>) {
    for (row, sums) in tile[..ROWS].iter_mut().enumerate() {
        sums.fill(0.0);
        for (x, line) in x[row * stride..].iter().zip(panel.as_chunks::<PANEL>().0) {
            for (sum, weight) in sums.iter_mut().zip(line) {
                *sum += x * weight;
            }
        }
    }
}

/// Sums of one row of codes and one row of a table of the same length.
#[inline(always)]
pub(super) fn dot_int8(codes: &[u8], bytes: &[i8]) -> i32 {
    codes.iter().zip(bytes).map(|(&code, &byte)| i32::from(code) * i32::from(byte)).sum()
}
