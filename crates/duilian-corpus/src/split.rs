//! Which side of the split a pair stands on.

/// A number in 0..1 that depends on nothing but seed and number: `SplitMix64` (Steele et al. 2014).
pub(crate) fn chance(seed: u64, number: u64) -> f64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_spread_evenly() {
        let below = (0..100_000).filter(|&n| chance(42, n) < 0.01).count();
        assert!((900..1_100).contains(&below), "{below}");
    }
}
