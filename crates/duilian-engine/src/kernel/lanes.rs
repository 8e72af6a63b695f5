//! Reductions over floats. The compiler makes poor vector code of them, so each level has its own.

#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// Reductions with the instructions of one level.
pub(super) trait Lanes {
    /// The sum of products; as long as the shorter one.
    fn dot(a: &[f32], b: &[f32]) -> f32;

    /// The sum of products with bytes; as long as the shorter one.
    fn dot_bytes(a: &[f32], b: &[i8]) -> f32;

    /// The least and the largest number; infinite for none.
    fn range(x: &[f32]) -> (f32, f32);

    /// Whether any number is at least `least`.
    fn reaches(x: &[f32], least: f32) -> bool;

    /// `a · b + c`, rounded once where the processor can.
    fn mul_add(a: f32, b: f32, c: f32) -> f32;
}

/// Loops that any processor runs.
pub(super) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn dot(a: &[f32], b: &[f32]) -> f32 {
        let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
        let mut lanes = [0.0; 4];
        for (a, b) in a.iter().zip(b) {
            for i in 0..4 {
                lanes[i] += a[i] * b[i];
            }
        }
        let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
        lanes[0] + lanes[1] + (lanes[2] + lanes[3]) + rest
    }

    #[inline(always)]
    fn dot_bytes(a: &[f32], b: &[i8]) -> f32 {
        a.iter().zip(b).map(|(a, &b)| a * f32::from(b)).sum()
    }

    #[inline(always)]
    fn range(x: &[f32]) -> (f32, f32) {
        let wider = |(low, high): (f32, f32), &v: &f32| {
            (if v < low { v } else { low }, if v > high { v } else { high })
        };
        x.iter().fold((f32::INFINITY, f32::NEG_INFINITY), wider)
    }

    #[inline(always)]
    fn reaches(x: &[f32], least: f32) -> bool {
        x.iter().any(|&v| v >= least)
    }

    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        // Without an instruction for it, the exact form is a call of a slow function.
        a * b + c
    }
}

/// AVX2. Only functions that are compiled for it may use this.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    #[inline(always)]
    fn dot(a: &[f32], b: &[f32]) -> f32 {
        // SAFETY: only functions that the processor can run use this type.
        unsafe { avx2::dot(a, b) }
    }

    #[inline(always)]
    fn dot_bytes(a: &[f32], b: &[i8]) -> f32 {
        // SAFETY: as above.
        unsafe { avx2::dot_bytes(a, b) }
    }

    #[inline(always)]
    fn range(x: &[f32]) -> (f32, f32) {
        // SAFETY: as above.
        unsafe { avx2::range(x) }
    }

    #[inline(always)]
    fn reaches(x: &[f32], least: f32) -> bool {
        // SAFETY: as above.
        unsafe { avx2::reaches(x, least) }
    }

    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// AVX-512. Only functions that are compiled for it may use this.
#[cfg(target_arch = "x86_64")]
pub(super) struct Avx512;

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx512 {
    #[inline(always)]
    fn dot(a: &[f32], b: &[f32]) -> f32 {
        // SAFETY: only functions that the processor can run use this type.
        unsafe { avx512::dot(a, b) }
    }

    #[inline(always)]
    fn dot_bytes(a: &[f32], b: &[i8]) -> f32 {
        // SAFETY: as above.
        unsafe { avx512::dot_bytes(a, b) }
    }

    #[inline(always)]
    fn range(x: &[f32]) -> (f32, f32) {
        // SAFETY: as above.
        unsafe { avx512::range(x) }
    }

    #[inline(always)]
    fn reaches(x: &[f32], least: f32) -> bool {
        // SAFETY: as above.
        unsafe { avx512::reaches(x, least) }
    }

    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}
