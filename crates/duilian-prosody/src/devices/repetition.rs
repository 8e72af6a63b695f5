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
            if matches!(device, Device::Run { .. }) { runs.push(device) } else { reduplications.push(device) }
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
        let four = text.get(at..at + 4).and_then(|four| pattern(four, text.len() == 4));
        let (device, length) = match (run, four) {
            (3.., _) => (Some(Device::Run { places: places(clause, at, run) }), run),
            (_, Some(pattern)) => (Some(Device::Reduplication { pattern, places: places(clause, at, 4) }), 4),
            (2, None) => {
                let places = places(clause, at, 2);
                (Some(Device::Reduplication { pattern: Reduplication::Aa, places }), 2)
            }
            _ => (None, 1),
        };
        found.extend(device);
        at += length;
    }
    found
}

fn places(clause: &Clause<'_>, at: usize, length: usize) -> Vec<usize> {
    (clause.start() + at..clause.start() + at + length).collect()
}

fn pattern(four: &[char], is_clause: bool) -> Option<Reduplication> {
    let &[a, b, c, d] = four else { return None };
    if a == b {
        return (c == d && a != c).then_some(Reduplication::Aabb);
    }
    match (a == c, b == d, a == d) {
        (true, true, _) => Some(Reduplication::Abab),
        (true, false, false) => Some(Reduplication::Abac),
        (false, false, true) if b != c && is_clause => Some(Reduplication::Abca),
        (false, true, _) if b != c && is_clause => Some(Reduplication::Abcb),
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

/// Characters that come again, unless one of the devices covers all their places.
fn repeated(line: &Line, told: &[Device]) -> Vec<Device> {
    let told: Vec<HashSet<usize>> = told.iter().map(|device| device.places().into_iter().collect()).collect();
    let text = line.chars();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for &c in text.iter().filter(|&&c| is_han(c)) {
        if !seen.insert(c) {
            continue;
        }
        let places: Vec<usize> = (0..text.len()).filter(|&place| text[place] == c).collect();
        let is_told = told.iter().any(|told| places.iter().all(|place| told.contains(place)));
        if places.len() > 1 && !is_told {
            found.push(Device::RepeatedCharacter { places });
        }
    }
    found
}
