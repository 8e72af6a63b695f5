//! Devices of the written form: shared parts, five elements, split characters.

use std::collections::HashSet;

use duilian_core::{Line, is_han};

use super::Device;
use crate::character::{Element, elements, is_split, shared_component, splits};
use crate::component_of;

/// So many different characters must share a part.
const FEWEST_SHARING: usize = 3;

pub(super) fn find(line: &Line) -> Vec<Device> {
    let mut found = shared_radicals(line);
    found.extend(five_elements(line));
    found.extend(character_splits(line));
    found
}

/// The whole line, or else each clause by itself.
fn shared_radicals(line: &Line) -> Vec<Device> {
    let all: Vec<usize> = (0..line.len()).filter(|&place| is_han(line.chars()[place])).collect();
    if let Some(device) = shared_radical(line, all) {
        return vec![device];
    }
    line.clauses()
        .filter_map(|clause| {
            shared_radical(line, (clause.start()..clause.start() + clause.chars().len()).collect())
        })
        .collect()
}

fn shared_radical(line: &Line, places: Vec<usize>) -> Option<Device> {
    let characters = places.iter().map(|&place| line.chars()[place]);
    if characters.clone().collect::<HashSet<_>>().len() < FEWEST_SHARING {
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
        let parts = splits(c).iter().find_map(|way| nearest(text, whole, way));
        // 江 and 鸟 in a line that has no 水 by itself.
        let parts = parts.or_else(|| neighbours(text, whole));
        if let Some(parts) = parts {
            found.push(Device::CharacterSplit { whole, parts });
        }
    }
    found
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
    Some(places)
}

/// Two neighbours that make up the character in other portions than the tables have.
fn neighbours(text: &[char], whole: usize) -> Option<Vec<usize>> {
    (1..text.len())
        .filter(|&place| is_split(text[whole], &text[place - 1..=place]))
        .min_by_key(|place| place.abs_diff(whole))
        .map(|place| vec![place - 1, place])
}
