//! Tiles with AVX2 and fused products. Bytes are widened to 16 bits: products of bytes would overflow.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_loadl_epi64, _mm_loadu_si128, _mm_set1_epi32, _mm256_add_epi32,
    _mm256_add_ps, _mm256_cvtepi8_epi16, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi16,
    _mm256_fmadd_ps, _mm256_hadd_epi32, _mm256_loadu_ps, _mm256_madd_epi16, _mm256_max_ps, _mm256_min_ps,
    _mm256_permute4x64_epi64, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256, _mm256_storeu_ps,
    _mm256_storeu_si256,
};

use super::{PANEL, Tile};

/// As [`super::portable::tile_int8`].
///
/// # Safety
/// `codes` must be valid for reads of `4 · steps` bytes at each of `ROWS` places `stride` apart, and `panel` of
/// `4 · PANEL · steps` bytes.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) unsafe fn tile_int8<const ROWS: usize>(
    codes: *const u8,
    stride: usize,
    panel: *const i8,
    steps: usize,
    tile: &mut Tile<i32>,
) {
    // Sixteen columns at a time: four registers a row, each with two sums for each of four columns.
    for quarter in 0..4 {
        let mut sums = [[_mm256_setzero_si256(); 4]; ROWS];
        for step in 0..steps {
            // SAFETY: the panel has 256 bytes for each step, the rows four; the caller vouches for both.
            unsafe {
                let group = panel.add(step * 4 * PANEL + quarter * 64);
                let weights: [__m256i; 4] = std::array::from_fn(|i| {
                    _mm256_cvtepi8_epi16(_mm_loadu_si128(group.add(16 * i).cast::<__m128i>()))
                });
                for (row, sums) in sums.iter_mut().enumerate() {
                    let four = codes.add(row * stride + 4 * step).cast::<i32>().read_unaligned();
                    let four = _mm256_cvtepu8_epi16(_mm_set1_epi32(four));
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(four, weights));
                    }
                }
            }
        }
        for (sums, line) in sums.iter().zip(&mut *tile) {
            let parts = line[quarter * 16..].as_chunks_mut::<8>().0;
            for (pair, part) in sums.as_chunks::<2>().0.iter().zip(parts) {
                // Adds neighbours; the halves come out crossed.
                let eight = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_hadd_epi32(pair[0], pair[1]));
                // SAFETY: the part has eight numbers.
                unsafe { _mm256_storeu_si256(part.as_mut_ptr().cast(), eight) };
            }
        }
    }
}

/// As [`super::portable::tile_f32`].
///
/// # Safety
/// `x` must be valid for reads of `steps` numbers at each of `ROWS` places `stride` apart, and `panel` of
/// `PANEL · steps` numbers.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) unsafe fn tile_f32<const ROWS: usize>(
    x: *const f32,
    stride: usize,
    panel: *const f32,
    steps: usize,
    tile: &mut Tile<f32>,
) {
    // Thirty-two columns at a time: four registers a row.
    for half in 0..2 {
        let mut sums = [[_mm256_setzero_ps(); 4]; ROWS];
        for step in 0..steps {
            // SAFETY: the panel has 64 numbers for each step, the rows one; the caller vouches for both.
            unsafe {
                let line = panel.add(step * PANEL + half * 32);
                let weights: [_; 4] = std::array::from_fn(|i| _mm256_loadu_ps(line.add(8 * i)));
                for (row, sums) in sums.iter_mut().enumerate() {
                    let x = _mm256_set1_ps(x.add(row * stride + step).read());
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        *sum = _mm256_fmadd_ps(x, weights, *sum);
                    }
                }
            }
        }
        for (sums, line) in sums.iter().zip(&mut *tile) {
            for (sum, part) in sums.iter().zip(line[half * 32..].as_chunks_mut::<8>().0) {
                // SAFETY: the part has eight numbers.
                unsafe { _mm256_storeu_ps(part.as_mut_ptr(), *sum) };
            }
        }
    }
}

/// As [`super::portable::dot_int8`], both being a multiple of 16 bytes.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn dot_int8(codes: &[u8], bytes: &[i8]) -> i32 {
    let mut sum = _mm256_setzero_si256();
    for (codes, bytes) in codes.as_chunks::<16>().0.iter().zip(bytes.as_chunks::<16>().0) {
        // SAFETY: there are sixteen bytes each.
        let (codes, bytes) =
            unsafe { (_mm_loadu_si128(codes.as_ptr().cast()), _mm_loadu_si128(bytes.as_ptr().cast())) };
        let products = _mm256_madd_epi16(_mm256_cvtepu8_epi16(codes), _mm256_cvtepi8_epi16(bytes));
        sum = _mm256_add_epi32(sum, products);
    }
    let mut lanes = [0_i32; 8];
    // SAFETY: there are eight numbers.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sum) };
    lanes.iter().sum()
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn load(numbers: &[f32; 8]) -> __m256 {
    // SAFETY: there are eight numbers.
    unsafe { _mm256_loadu_ps(numbers.as_ptr()) }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
fn lanes(sum: __m256) -> [f32; 8] {
    let mut lanes = [0.0; 8];
    // SAFETY: there are eight numbers.
    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
    lanes
}

/// The sum of products; as long as the shorter one.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let count = a.len().min(b.len());
    let ((a, rest_a), (b, rest_b)) = (a[..count].as_chunks::<8>(), b[..count].as_chunks::<8>());
    let mut sums = [_mm256_setzero_ps(); 2];
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        sums[i % 2] = _mm256_fmadd_ps(load(a), load(b), sums[i % 2]);
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    lanes(_mm256_add_ps(sums[0], sums[1])).iter().sum::<f32>() + rest
}

/// The least and the largest number; infinite for none.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn range(x: &[f32]) -> (f32, f32) {
    let (chunks, rest) = x.as_chunks::<8>();
    let (mut low, mut high) = (_mm256_set1_ps(f32::INFINITY), _mm256_set1_ps(f32::NEG_INFINITY));
    for chunk in chunks {
        low = _mm256_min_ps(load(chunk), low);
        high = _mm256_max_ps(load(chunk), high);
    }
    let (lows, highs) = (lanes(low), lanes(high));
    let least = lows.iter().chain(rest).fold(f32::INFINITY, |a, &b| if b < a { b } else { a });
    let most = highs.iter().chain(rest).fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a });
    (least, most)
}

/// The sum of products with bytes; as long as the shorter one.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn dot_bytes(a: &[f32], b: &[i8]) -> f32 {
    let count = a.len().min(b.len());
    let ((a, rest_a), (b, rest_b)) = (a[..count].as_chunks::<8>(), b[..count].as_chunks::<8>());
    let mut sums = [_mm256_setzero_ps(); 2];
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        // SAFETY: there are eight bytes.
        let bytes = unsafe { _mm_loadl_epi64(b.as_ptr().cast()) };
        let bytes = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
        sums[i % 2] = _mm256_fmadd_ps(load(a), bytes, sums[i % 2]);
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, &b)| a * f32::from(b)).sum();
    lanes(_mm256_add_ps(sums[0], sums[1])).iter().sum::<f32>() + rest
}

/// Whether any number is at least `least`.
#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn reaches(x: &[f32], least: f32) -> bool {
    // Without a branch in it the loop becomes vector code.
    x.iter().fold(0, |any, &v| any | u32::from(v >= least)) != 0
}
