//! How often characters answer each other, learnt from couplets that are parallel by form.

use std::collections::HashMap;

use duilian_core::Couplet;

/// What both the number of meetings and the number expected are raised by, so that a rare pair says little.
/// Chosen among 0.2, 0.5, 1, 2 and 4 by how well it tells second and third couplets of regulated verse from last
/// ones, see docs/data.md.
const SMOOTHING: f64 = 0.5;

/// Counts of characters that stand at the same place of the two lines of a couplet, whichever is the upper one.
///
/// The score of two characters is `ln((n + 0.5) / (e + 0.5))`, where `n` is how often they met and `e` how often
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
/// assert_eq!(association.score(&Couplet::parse("秋", "春")?), association.score(&Couplet::parse("春", "秋")?));
/// assert_eq!(association.score(&Couplet::parse("甲", "乙")?), 0.0);
/// # Ok::<(), duilian_core::LineError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Association {
    /// Meetings of two characters, the smaller one first.
    joint: HashMap<(char, char), u32>,
    single: HashMap<char, u32>,
    /// Places that were counted.
    places: f64,
}

impl Association {
    /// Counts couplets; those of unequal length are passed over.
    pub fn learn<'a>(couplets: impl Iterator<Item = &'a Couplet>) -> Self {
        let mut counts = Self::default();
        for couplet in couplets.filter(|c| c.upper().han_len() == c.lower().han_len()) {
            for (u, l) in couplet.upper().han().zip(couplet.lower().han()) {
                *counts.joint.entry(key(u, l)).or_default() += 1;
                *counts.single.entry(u).or_default() += 1;
                *counts.single.entry(l).or_default() += 1;
                counts.places += 1.0;
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
            let met = count(self.joint.get(&key(u, l)));
            let [a, b] = [u, l].map(|c| count(self.single.get(&c)));
            // Each place holds two characters, and either may be the upper one.
            let expected = a * b / (2.0 * self.places).max(1.0);
            sum += ((met + SMOOTHING) / (expected + SMOOTHING)).ln();
            places += 1;
        }
        if places == 0 { 0.0 } else { (sum / f64::from(places)) as f32 }
    }
}

fn key(a: char, b: char) -> (char, char) {
    if a <= b { (a, b) } else { (b, a) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn couplet(upper: &str, lower: &str) -> Couplet {
        Couplet::parse(upper, lower).expect("valid")
    }

    #[test]
    fn a_known_couplet_is_scored_as_if_it_had_not_been_seen() {
        let known = [couplet("春花", "秋月"), couplet("春鸟", "秋虫"), couplet("梅", "竹")];
        let all = Association::learn(known.iter());
        // What stands nowhere else says nothing.
        assert!(all.score(&known[2]) > 0.0);
        assert!(all.score_of_known(&known[2]).abs() < f32::EPSILON);
        assert!(all.score_of_known(&known[0]) < all.score(&known[0]));
    }

    #[test]
    fn frequent_characters_that_never_meet_are_below_chance() {
        let known: Vec<Couplet> = (0..50).flat_map(|_| [couplet("山", "水"), couplet("花", "月")]).collect();
        let association = Association::learn(known.iter());
        assert!(association.score(&couplet("山", "月")) < -1.0);
        assert!(association.score(&couplet("山", "水")) > 0.5);
    }
}
