//! Shuffling without a list of what is shuffled.

use rand::RngExt;

use super::batch::generator;

/// Rounds of the network; more than the four that make a Feistel network indistinguishable from a random
/// permutation (Luby & Rackoff 1988), because the halves are small here.
const ROUNDS: usize = 8;

/// A pseudo-random permutation of `0..len` in constant memory: a Feistel network over the next power of four,
/// walked until it comes back into the range (cycle walking, Black & Rogaway 2002).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of a seed, a purpose and a number, such as an epoch.
    pub(crate) fn new(len: u64, seed: u64, purpose: u64, number: u64) -> Self {
        let mut random = generator(seed, purpose, number);
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| random.random()) }
    }

    /// Where `index` goes, which must be below `len`.
    pub(crate) fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.len, "{index} of {}", self.len);
        let mut index = index;
        loop {
            index = self.encrypt(index);
            if index < self.len {
                return index;
            }
        }
    }

    fn encrypt(&self, index: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (index >> self.half_bits, index & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        (left << self.half_bits) | right
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea & Flood 2014): every bit of the result depends on every bit given.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_comes_once_and_keys_matter() {
        for len in [1, 2, 3, 4, 5, 16, 17, 100, 1_000, 4_097] {
            let list = |seed, number| {
                let permutation = Permutation::new(len, seed, 9, number);
                (0..len).map(|i| permutation.at(i)).collect::<Vec<_>>()
            };
            let mut sorted = list(1, 0);
            sorted.sort_unstable();
            assert_eq!(sorted, (0..len).collect::<Vec<_>>());
            if len >= 16 {
                assert_ne!(list(1, 0), list(2, 0));
                assert_ne!(list(1, 0), list(1, 1));
            }
        }
    }

    #[test]
    fn neighbours_are_torn_apart() {
        let len = 10_000;
        let permutation = Permutation::new(len, 5, 9, 0);
        let distance: u64 = (1..len).map(|i| permutation.at(i).abs_diff(permutation.at(i - 1))).sum();
        // Two independent numbers below n are n / 3 apart on average.
        let mean = distance as f64 / (len - 1) as f64;
        assert!((mean / (len as f64 / 3.0) - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn ranges_that_no_list_could_hold_are_shuffled_as_well() {
        let permutation = Permutation::new(u64::from(u32::MAX) * 1_000, 5, 9, 0);
        let mut seen: Vec<u64> = (0..1_000).map(|i| permutation.at(i)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1_000);
    }
}
