//! The radical under which dictionaries file a character.

use std::collections::HashMap;
use std::sync::LazyLock;

static RADICALS: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let rows = include_str!("../../data/radicals.txt").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| row.split_once('\t'))
        .filter_map(|(radical, characters)| Some((radical.chars().next()?, characters)))
        .flat_map(|(radical, characters)| characters.chars().map(move |c| (c, radical)))
        .collect()
});

/// The Kangxi radical of a character, as a simplified character of its own: 水 for what has 氵, 草 for 艹. `None`
/// for characters outside U+4E00 to U+9FFF.
///
/// Source: Unicode Han database, field kRSUnicode, see `docs/rules.md`. A radical is where a dictionary looks, not
/// always what is seen; for what is seen, see [`components`](crate::components).
///
/// ```
/// use duilian_prosody::radical;
/// let radicals: Vec<char> = "江水热钟说花".chars().filter_map(radical).collect();
/// assert_eq!(radicals, ['水', '水', '火', '金', '言', '草']);
/// assert_eq!(radical('，'), None);
/// ```
pub fn radical(c: char) -> Option<char> {
    RADICALS.get(&c).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component_of;

    #[test]
    fn radicals_are_characters_of_their_own() {
        assert!(RADICALS.len() > 20_000);
        for &radical in RADICALS.values() {
            assert_eq!(component_of(radical), radical);
        }
    }
}
