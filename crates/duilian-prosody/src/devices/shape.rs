//! Devices of the written form: shared parts, five elements, split characters.

use std::collections::HashSet;

use duilian_core::{Line, is_han};

use super::{Confidence, Device};
use crate::character::{Element, elements, is_split, is_split_in, shared_component, splits};
use crate::component_of;

/// So many different characters of a whole line must share a part.
const FEWEST_OF_LINE: usize = 3;

/// So many of a clause: three do so by chance (讲诚信).
const FEWEST_OF_CLAUSE: usize = 4;

/// Parts that are so frequent as characters that they stand beside what they are part of by chance.
const FREQUENT_PARTS: &str = "一二三十八人口大小又日月山水土";

/// So many other characters may stand between a character and its parts.
const WIDEST_GAP: usize = 2;

pub(super) fn find(line: &Line) -> Vec<Device> {
    let mut found = shared_radicals(line);
    found.extend(five_elements(line));
    found.extend(character_splits(line));
    found
}

/// The whole line, or else each clause by itself.
fn shared_radicals(line: &Line) -> Vec<Device> {
    let all: Vec<usize> = (0..line.len()).filter(|&place| is_han(line.chars()[place])).collect();
    if let Some(device) = shared_radical(line, all, FEWEST_OF_LINE) {
        return vec![device];
    }
    line.clauses()
        .filter_map(|clause| {
            shared_radical(
                line,
                (clause.start()..clause.start() + clause.chars().len()).collect(),
                FEWEST_OF_CLAUSE,
            )
        })
        .collect()
}

fn shared_radical(line: &Line, places: Vec<usize>, fewest: usize) -> Option<Device> {
    let characters = places.iter().map(|&place| line.chars()[place]);
    if characters.clone().collect::<HashSet<_>>().len() < fewest {
        return None;
    }
    shared_component(characters).map(|component| Device::SharedRadical { component, places })
}

/// Five neighbours, not across a mark, from left to right; none overlaps another.
fn five_elements(line: &Line) -> Vec<Device> {
    let text = line.chars();
    let mut found: Vec<Device> = Vec::new();
    let mut at = 0;
    while let Some(five) = text.get(at..at + 5) {
        match assigned(five) {
            Some(elements) => {
                let places = std::array::from_fn(|i| at + i);
                found.push(Device::FiveElements { elements, places });
                at += 5;
            }
            None => at += 1,
        }
    }
    found
}

/// An element for each of five characters, so that all occur.
pub(super) fn assigned(characters: &[char]) -> Option<[Element; 5]> {
    fn assign(choices: &[Vec<Element>], taken: &mut Vec<Element>) -> bool {
        let Some((first, rest)) = choices.split_first() else { return true };
        first.iter().any(|&element| {
            if taken.contains(&element) {
                return false;
            }
            taken.push(element);
            let fits = assign(rest, taken);
            if !fits {
                taken.pop();
            }
            fits
        })
    }
    let choices: Vec<Vec<Element>> = characters.iter().map(|&c| elements(c).collect()).collect();
    let mut taken = Vec::with_capacity(Element::ALL.len());
    let fits = choices.iter().all(|choice| !choice.is_empty()) && assign(&choices, &mut taken);
    if fits { taken.try_into().ok() } else { None }
}

/// Every character that the line spells out, with the parts nearest to it; its own place is none of theirs.
fn character_splits(line: &Line) -> Vec<Device> {
    let text = line.chars();
    let mut found = Vec::new();
    let mut told = HashSet::new();
    for (whole, &c) in text.iter().enumerate().filter(|&(_, &c)| is_han(c)) {
        if !told.insert(c) {
            continue;
        }
        let ways = splits(c);
        let parts = ways.iter().find_map(|way| nearest(text, whole, way));
        let parts = parts.or_else(|| two_parts(text, whole, &ways));
        let Some(parts) = parts else { continue };
        if let Some(confidence) = confidence(text, whole, &parts) {
            found.push(Device::CharacterSplit { whole, parts, confidence });
        }
    }
    // Two in one line are no chance.
    if found.len() > 1 {
        for device in &mut found {
            if let Device::CharacterSplit { confidence, .. } = device {
                *confidence = Confidence::Sure;
            }
        }
    }
    found
}

/// By what stands between the character and its parts; `None` if it surely is chance.
fn confidence(text: &[char], whole: usize, parts: &[usize]) -> Option<Confidence> {
    let (first, last) = (whole.min(*parts.first()?), whole.max(*parts.last()?));
    let gap = text[first..=last].iter().filter(|&&c| is_han(c)).count() - parts.len() - 1;
    let frequent = parts.iter().any(|&place| FREQUENT_PARTS.contains(text[place]));
    match (gap, frequent) {
        (0, _) | (..=WIDEST_GAP, false) => Some(Confidence::Sure),
        (..=WIDEST_GAP, true) | (_, false) => Some(Confidence::Possible),
        (_, true) => None,
    }
}

/// For each part of a way its nearest place, no place twice.
fn nearest(text: &[char], whole: usize, way: &[char]) -> Option<Vec<usize>> {
    let mut places: Vec<usize> = Vec::with_capacity(way.len());
    for &part in way {
        let place = (0..text.len())
            .filter(|&place| {
                component_of(text[place]) == part && text[place] != text[whole] && !places.contains(&place)
            })
            .min_by_key(|place| place.abs_diff(whole))?;
        places.push(place);
    }
    places.sort_unstable();
    let parts: Vec<char> = places.iter().map(|&place| text[place]).collect();
    is_split(text[whole], &parts).then_some(places)
}

/// Two characters near by that make up the character in other portions than the tables have: 江 and 鸟, 三 and 口.
fn two_parts(text: &[char], whole: usize, ways: &[Vec<char>]) -> Option<Vec<usize>> {
    let others = |way: &Vec<char>| way.len() > 2 || way[0] == way[1];
    if !ways.iter().any(others) {
        return None;
    }
    let from = whole.saturating_sub(WIDEST_GAP + 2);
    let to = text.len().min(whole + WIDEST_GAP + 3);
    (from..to)
        .flat_map(|a| (a + 1..to).map(move |b| (a, b)))
        .filter(|&(a, b)| a != whole && b != whole && is_han(text[a]) && is_han(text[b]))
        .filter(|&(a, b)| is_split_in(ways, text[whole], &[text[a], text[b]]))
        .min_by_key(|&(a, b)| b.max(whole) - a.min(whole))
        .map(|(a, b)| vec![a, b])
}
