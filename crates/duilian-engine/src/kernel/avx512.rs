//! Tiles with AVX-512 and its 8-bit products (VNNI).

use std::arch::x86_64::{
    __m512, __m512i, _CMP_GE_OQ, _mm_loadu_si128, _mm512_add_epi32, _mm512_add_ps, _mm512_cmp_ps_mask,
    _mm512_cvtepi8_epi32, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps,
    _mm512_loadu_si512, _mm512_mask_loadu_ps, _mm512_max_ps, _mm512_min_ps, _mm512_reduce_add_ps,
    _mm512_reduce_max_ps, _mm512_reduce_min_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_setzero_si512, _mm512_shuffle_i32x4, _mm512_storeu_ps, _mm512_storeu_si512, _mm512_unpackhi_epi32,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use super::{PANEL, Tile};

/// As [`super::portable::tile_int8`].
///
/// # Safety
/// `codes` must be valid for reads of `4 · steps` bytes at each of `ROWS` places `stride` apart, and `panel` of
/// `4 · PANEL · steps` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
pub(super) unsafe fn tile_int8<const ROWS: usize>(
    codes: *const u8,
    stride: usize,
    panel: *const i8,
    steps: usize,
    tile: &mut Tile<i32>,
) {
    let mut sums = [[_mm512_setzero_si512(); 4]; ROWS];
    for step in 0..steps {
        // SAFETY: the panel has 256 bytes for each step, the rows four; the caller vouches for both.
        unsafe {
            let group = panel.add(step * 4 * PANEL);
            let weights: [__m512i; 4] = std::array::from_fn(|i| _mm512_loadu_si512(group.add(64 * i).cast()));
            for (row, sums) in sums.iter_mut().enumerate() {
                let four = codes.add(row * stride + 4 * step).cast::<i32>().read_unaligned();
                let four = _mm512_set1_epi32(four);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm512_dpbusd_epi32(*sum, four, weights);
                }
            }
        }
    }
    for (sums, line) in sums.iter().zip(tile) {
        for (sum, part) in sums.iter().zip(line.as_chunks_mut::<16>().0) {
            // SAFETY: the part has sixteen numbers.
            unsafe { _mm512_storeu_si512(part.as_mut_ptr().cast(), *sum) };
        }
    }
}

/// As [`super::portable::tile_f32`].
///
/// # Safety
/// `x` must be valid for reads of `steps` numbers at each of `ROWS` places `stride` apart, and `panel` of
/// `PANEL · steps` numbers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
pub(super) unsafe fn tile_f32<const ROWS: usize>(
    x: *const f32,
    stride: usize,
    panel: *const f32,
    steps: usize,
    tile: &mut Tile<f32>,
) {
    let mut sums = [[_mm512_setzero_ps(); 4]; ROWS];
    for step in 0..steps {
        // SAFETY: the panel has 64 numbers for each step, the rows one; the caller vouches for both.
        unsafe {
            let line = panel.add(step * PANEL);
            let weights: [_; 4] = std::array::from_fn(|i| _mm512_loadu_ps(line.add(16 * i)));
            for (row, sums) in sums.iter_mut().enumerate() {
                let x = _mm512_set1_ps(x.add(row * stride + step).read());
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm512_fmadd_ps(x, weights, *sum);
                }
            }
        }
    }
    for (sums, line) in sums.iter().zip(tile) {
        for (sum, part) in sums.iter().zip(line.as_chunks_mut::<16>().0) {
            // SAFETY: the part has sixteen numbers.
            unsafe { _mm512_storeu_ps(part.as_mut_ptr(), *sum) };
        }
    }
}

/// Sums of `ROWS` rows of codes, which lie `stride` apart, and `SOME` rows of a table, all of `blocks` times 64 bytes;
/// sixteen in all, row by row of the codes.
///
/// # Safety
/// `codes` must be valid for reads of `64 · blocks` bytes at each of `ROWS` places `stride` apart, and each of `table`
/// of `64 · blocks` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
pub(super) unsafe fn tile_candidates<const ROWS: usize, const SOME: usize>(
    codes: *const u8,
    stride: usize,
    table: [*const i8; SOME],
    blocks: usize,
) -> [i32; 16] {
    const { assert!(ROWS * SOME == 16) };
    let mut sums = [_mm512_setzero_si512(); 16];
    for block in 0..blocks {
        // SAFETY: all have 64 bytes for each block; the caller vouches for it.
        unsafe {
            let weights: [__m512i; SOME] =
                std::array::from_fn(|i| _mm512_loadu_si512(table[i].add(64 * block).cast()));
            for row in 0..ROWS {
                let codes = _mm512_loadu_si512(codes.add(row * stride + 64 * block).cast());
                for i in 0..SOME {
                    sums[row * SOME + i] = _mm512_dpbusd_epi32(sums[row * SOME + i], codes, weights[i]);
                }
            }
        }
    }
    // Sixteen sums of sixteen lanes each, by adding halves of two at a time: 8 vectors, then 4, 2, 1.
    let eight: [__m512i; 8] = std::array::from_fn(|i| {
        let (a, b) = (sums[2 * i], sums[2 * i + 1]);
        _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b))
    });
    let four: [__m512i; 4] = std::array::from_fn(|i| {
        let (a, b) = (eight[2 * i], eight[2 * i + 1]);
        _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b))
    });
    // Each lane of 128 bits has four sums in order, of a quarter of the numbers each.
    let two: [__m512i; 2] = std::array::from_fn(|i| {
        let (a, b) = (four[2 * i], four[2 * i + 1]);
        let even = _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b);
        let odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b);
        _mm512_add_epi32(even, odd)
    });
    let even = _mm512_shuffle_i32x4::<0b10_00_10_00>(two[0], two[1]);
    let odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(two[0], two[1]);
    let mut out = [0; 16];
    // SAFETY: there are sixteen numbers.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_add_epi32(even, odd)) };
    out
}

/// Sixteen numbers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn load(numbers: &[f32; 16]) -> __m512 {
    // SAFETY: there are sixteen numbers.
    unsafe { _mm512_loadu_ps(numbers.as_ptr()) }
}

/// Fewer than sixteen numbers, filled up with `fill`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
fn load_rest(numbers: &[f32], fill: f32) -> __m512 {
    let mask = (1_u16 << numbers.len().min(15)) - 1;
    // SAFETY: only numbers under the mask are read.
    unsafe { _mm512_mask_loadu_ps(_mm512_set1_ps(fill), mask, numbers.as_ptr()) }
}

/// The sum of products; as long as the shorter one.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let count = a.len().min(b.len());
    let ((a, rest_a), (b, rest_b)) = (a[..count].as_chunks::<16>(), b[..count].as_chunks::<16>());
    let mut sums = [_mm512_setzero_ps(); 2];
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        sums[i % 2] = _mm512_fmadd_ps(load(a), load(b), sums[i % 2]);
    }
    if !rest_a.is_empty() {
        sums[1] = _mm512_fmadd_ps(load_rest(rest_a, 0.0), load_rest(rest_b, 0.0), sums[1]);
    }
    _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1]))
}

/// The least and the largest number; infinite for none.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
pub(super) fn range(x: &[f32]) -> (f32, f32) {
    let (chunks, rest) = x.as_chunks::<16>();
    let mut low = load_rest(rest, f32::INFINITY);
    let mut high = load_rest(rest, f32::NEG_INFINITY);
    for chunk in chunks {
        low = _mm512_min_ps(load(chunk), low);
        high = _mm512_max_ps(load(chunk), high);
    }
    (_mm512_reduce_min_ps(low), _mm512_reduce_max_ps(high))
}

/// The sum of products with bytes; as long as the shorter one.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
pub(super) fn dot_bytes(a: &[f32], b: &[i8]) -> f32 {
    let count = a.len().min(b.len());
    let ((a, rest_a), (b, rest_b)) = (a[..count].as_chunks::<16>(), b[..count].as_chunks::<16>());
    let mut sums = [_mm512_setzero_ps(); 2];
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        // SAFETY: there are sixteen bytes.
        let bytes = unsafe { _mm_loadu_si128(b.as_ptr().cast()) };
        let bytes = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
        sums[i % 2] = _mm512_fmadd_ps(load(a), bytes, sums[i % 2]);
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, &b)| a * f32::from(b)).sum();
    _mm512_reduce_add_ps(_mm512_add_ps(sums[0], sums[1])) + rest
}

/// Whether any number is at least `least`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
#[inline]
pub(super) fn reaches(x: &[f32], least: f32) -> bool {
    let (chunks, rest) = x.as_chunks::<16>();
    let bound = _mm512_set1_ps(least);
    let any = chunks.iter().fold(0, |any, chunk| any | _mm512_cmp_ps_mask::<_CMP_GE_OQ>(load(chunk), bound));
    any != 0 || rest.iter().any(|&v| v >= least)
}
