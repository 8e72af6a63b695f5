//! Random constraints under every search: no hard rule is broken, no search gets stuck, the same seed gives the same
//! answer. The example `fuzz_rules` runs as many of these cases as one likes.

mod common;

use common::case::Case;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_constraints_are_kept(seed in any::<u64>()) {
        let Some(case) = Case::new(seed) else { return Ok(()) };
        if let Err(wrong) = case.check() {
            prop_assert!(false, "{wrong}: {case:?}");
        }
    }
}
