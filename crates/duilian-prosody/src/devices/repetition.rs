//! Devices that consist of equal characters.

use std::collections::HashSet;

use duilian_core::{Clause, Line, is_han};

use super::{Device, Reduplication};

/// Shorter palindromes (山外山) are told as repeated characters.
const SHORTEST_PALINDROME: usize = 4;

pub(super) fn find(line: &Line) -> Vec<Device> {
    let clauses: Vec<Clause<'_>> = line.clauses().collect();
    let mut found = palindromes(line, &clauses);
    found.extend(clauses.windows(2).filter_map(|pair| chiasmus(&pair[0], &pair[1])));
    let (mut reduplications, mut runs) = (Vec::new(), Vec::new());
    for clause in &clauses {
        for device in reduplicated(clause) {
            match &device {
                Device::Run { .. } => runs.push(device),
                // 来水来 within 自来水来自 is no pattern of its own.
                Device::Reduplication { pattern, places }
                    if !pattern.is_plain() && is_told(&found, places) => {}
                _ => reduplications.push(device),
            }
        }
    }
    found.extend(reduplications);
    found.extend(runs);
    found.extend(clauses.windows(2).filter_map(|pair| anadiplosis(&pair[0], &pair[1])));
    let repeated = repeated(line, &found);
    found.extend(repeated);
    found
}

/// The whole line, or else runs of clauses, the longest ones first.
fn palindromes(line: &Line, clauses: &[Clause<'_>]) -> Vec<Device> {
    let mut found = Vec::new();
    let mut from = 0;
    while from < clauses.len() {
        let longest = (from..clauses.len()).rev().find_map(|to| {
            let (start, end) = (clauses[from].start(), clauses[to].start() + clauses[to].chars().len());
            let places: Vec<usize> = (start..end).filter(|&place| is_han(line.chars()[place])).collect();
            is_palindrome(line, &places).then_some((to, places))
        });
        from = match longest {
            Some((to, places)) => {
                found.push(Device::Palindrome { places });
                to + 1
            }
            None => from + 1,
        };
    }
    found
}

fn is_palindrome(line: &Line, places: &[usize]) -> bool {
    let text = line.chars();
    let mirrored = places.iter().zip(places.iter().rev()).all(|(&a, &b)| text[a] == text[b]);
    mirrored
        && places.len() >= SHORTEST_PALINDROME
        && places.iter().any(|&place| text[place] != text[places[0]])
}

/// Two clauses X M Y and Y N X: as much as possible at the outer ends, X and Y not empty; M counts if it equals N.
fn chiasmus(first: &Clause<'_>, second: &Clause<'_>) -> Option<Device> {
    let (a, b) = (first.chars(), second.chars());
    let length = a.len();
    if length != b.len() || length < 3 || a == b {
        return None;
    }
    // X is the beginning of a and the end of b, Y the end of a and the beginning of b.
    let (x, y) = (1..length)
        .flat_map(|x| (1..=length - x).map(move |y| (x, y)))
        .filter(|&(x, y)| a[..x] == b[length - x..] && a[length - y..] == b[..y] && a[..x] != a[length - y..])
        .max_by_key(|&(x, y)| x + y)?;
    let (middle, other) = (&a[x..length - y], &b[y..length - x]);
    // One character kept at each end of long clauses is chance.
    if 2 * (x + y) < length || (middle != other && middle.len() > 2) {
        return None;
    }
    let mut places: Vec<(usize, usize)> = (0..x).map(|i| (i, length - x + i)).collect();
    if middle == other {
        places.extend((0..middle.len()).map(|i| (x + i, y + i)));
    }
    places.extend((0..y).map(|i| (length - y + i, i)));
    let (first, second) = places.into_iter().map(|(i, j)| (first.start() + i, second.start() + j)).unzip();
    Some(Device::Chiasmus { first, second })
}

/// Runs and patterns of a clause from left to right, none within another.
fn reduplicated(clause: &Clause<'_>) -> Vec<Device> {
    let text = clause.chars();
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let run = text[at..].iter().take_while(|&&c| c == text[at]).count();
        if run > 2 {
            found.push(Device::Run { places: places(clause, at, run) });
            at += run;
        } else if let Some(pattern) = pattern(text, at) {
            let length = pattern.letters().len();
            found.push(Device::Reduplication { pattern, places: places(clause, at, length) });
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

fn places(clause: &Clause<'_>, at: usize, length: usize) -> Vec<usize> {
    (clause.start() + at..clause.start() + at + length).collect()
}

/// The longest pattern that begins at an index of a clause.
fn pattern(text: &[char], at: usize) -> Option<Reduplication> {
    if let Some(pattern) = text.get(at..at + 4).and_then(|four| pattern_of_four(four, text.len(), at)) {
        return Some(pattern);
    }
    if text.get(at) == text.get(at + 1) {
        return Some(Reduplication::Aa);
    }
    (text.len() == 3 && text.first() == text.last() && at == 0).then_some(Reduplication::Aba)
}

fn pattern_of_four(four: &[char], clause: usize, at: usize) -> Option<Reduplication> {
    let &[a, b, c, d] = four else { return None };
    if a == b {
        return (c == d && a != c).then_some(Reduplication::Aabb);
    }
    match (a == c, b == d, a == d) {
        (true, true, _) => Some(Reduplication::Abab),
        (true, false, false) => Some(Reduplication::Abac),
        (false, false, true) if b != c && clause == 4 => Some(Reduplication::Abca),
        // Elsewhere the places would not be those of words.
        (false, true, _) if b != c && clause.is_multiple_of(2) && at.is_multiple_of(2) => {
            Some(Reduplication::Abcb)
        }
        _ => None,
    }
}

fn anadiplosis(first: &Clause<'_>, second: &Clause<'_>) -> Option<Device> {
    let (a, b) = (first.chars(), second.chars());
    let length = (1..=a.len().min(b.len())).rev().find(|&k| a[a.len() - k..] == b[..k])?;
    // The same clause again is repeated, not linked.
    if length == a.len() && a == b {
        return None;
    }
    let closing = places(first, a.len() - length, length);
    Some(Device::Anadiplosis { closing, opening: places(second, 0, length) })
}

/// Whether one of the devices has all the places.
fn is_told(told: &[Device], places: &[usize]) -> bool {
    told.iter().any(|device| {
        let told = device.places();
        places.iter().all(|place| told.contains(place))
    })
}

/// Characters that come again, unless one of the devices covers all their places.
fn repeated(line: &Line, told: &[Device]) -> Vec<Device> {
    let text = line.chars();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for &c in text.iter().filter(|&&c| is_han(c)) {
        if !seen.insert(c) {
            continue;
        }
        let places: Vec<usize> = (0..text.len()).filter(|&place| text[place] == c).collect();
        if places.len() > 1 && !is_told(told, &places) {
            found.push(Device::RepeatedCharacter { places });
        }
    }
    found
}
