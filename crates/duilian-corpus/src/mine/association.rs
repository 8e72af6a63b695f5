//! How often characters answer each other, learnt from couplets that are parallel by form.

use std::collections::HashMap;

use duilian_core::Couplet;

/// Counts of characters that stand at the same place of the two lines of a couplet.
///
/// The score of a pair of characters is `ln((n + 1) / (e + 1))`, where `n` is how often they met and `e` how often
/// they would have met by chance: pointwise mutual information (Church & Hanks 1990), drawn towards 0 where little
/// is known. The score of a couplet is the mean over its places.
///
/// ```
/// use duilian_core::Couplet;
/// use duilian_corpus::Association;
///
/// let known = ["春花\t秋月", "春鸟\t秋虫", "春水\t秋山"].map(|pair| {
///     let (upper, lower) = pair.split_once('\t').unwrap();
///     Couplet::parse(upper, lower).unwrap()
/// });
/// let association = Association::learn(known.iter());
/// assert!(association.score(&Couplet::parse("春", "秋")?) > 0.0);
/// assert_eq!(association.score(&Couplet::parse("甲", "乙")?), 0.0);
/// # Ok::<(), duilian_core::LineError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Association {
    joint: HashMap<(char, char), u32>,
    upper: HashMap<char, u32>,
    lower: HashMap<char, u32>,
    total: f64,
}

impl Association {
    /// Counts couplets; those of unequal length are passed over.
    pub fn learn<'a>(couplets: impl Iterator<Item = &'a Couplet>) -> Self {
        let mut counts = Self::default();
        for couplet in couplets.filter(|c| c.upper().han_len() == c.lower().han_len()) {
            for (u, l) in couplet.upper().han().zip(couplet.lower().han()) {
                *counts.joint.entry((u, l)).or_default() += 1;
                *counts.upper.entry(u).or_default() += 1;
                *counts.lower.entry(l).or_default() += 1;
                counts.total += 1.0;
            }
        }
        counts
    }

    /// Mean association of a couplet's characters, in nats; 0 is chance.
    pub fn score(&self, couplet: &Couplet) -> f32 {
        self.mean(couplet, 0)
    }

    /// The score of a couplet that was itself counted: as if it had not been.
    pub fn score_of_known(&self, couplet: &Couplet) -> f32 {
        self.mean(couplet, 1)
    }

    fn mean(&self, couplet: &Couplet, own: u32) -> f32 {
        let count = |n: Option<&u32>| f64::from(n.map_or(0, |&n| n.saturating_sub(own)));
        let (mut sum, mut places) = (0.0, 0);
        for (u, l) in couplet.upper().han().zip(couplet.lower().han()) {
            let met = count(self.joint.get(&(u, l)));
            let expected = count(self.upper.get(&u)) * count(self.lower.get(&l)) / self.total.max(1.0);
            sum += ((met + 1.0) / (expected + 1.0)).ln();
            places += 1;
        }
        if places == 0 { 0.0 } else { (sum / f64::from(places)) as f32 }
    }
}
