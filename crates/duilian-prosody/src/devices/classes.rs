//! Numbers, colours, directions, function words.

use duilian_core::Line;

use super::{Device, Progression};
use crate::{WordClass, number_value, word_classes};

/// Of fewer numbers with unequal steps, one of three is in order by chance.
const FEWEST_UNEQUAL: usize = 4;

pub(super) fn find(line: &Line) -> Vec<Device> {
    let mut found = Vec::new();
    for class in WordClass::ALL {
        let text = line.chars();
        let places: Vec<usize> =
            (0..text.len()).filter(|&place| word_classes(text[place]).any(|c| c == class)).collect();
        if places.is_empty() {
            continue;
        }
        found.push(if class == WordClass::Number {
            let values: Vec<u64> = places.iter().filter_map(|&place| number_value(text[place])).collect();
            // 三千 is one number; 二三里 are two.
            let compound =
                places.windows(2).zip(values.windows(2)).any(|(p, v)| p[0] + 1 == p[1] && v[0].max(v[1]) > 9);
            let progression =
                if values.len() == places.len() && !compound { progression(&values) } else { None };
            Device::Numbers { places, progression }
        } else {
            Device::Words { class, places }
        });
    }
    found
}

/// How three or more values follow each other.
pub(super) fn progression(values: &[u64]) -> Option<Progression> {
    let pairs = || values.windows(2).map(|pair| (pair[0], pair[1]));
    if values.len() < 3 {
        return None;
    }
    let step = i64::try_from(values[1]).ok()? - i64::try_from(values[0]).ok()?;
    if step != 0 && pairs().all(|(a, b)| a.checked_add_signed(step) == Some(b)) {
        return Some(Progression::Steps(step));
    }
    if pairs().all(|(a, b)| a > 0 && b == a.saturating_mul(10)) {
        return Some(Progression::Tens);
    }
    if values.len() < FEWEST_UNEQUAL {
        return None;
    }
    if pairs().all(|(a, b)| a < b) {
        return Some(Progression::Rising);
    }
    pairs().all(|(a, b)| a > b).then_some(Progression::Falling)
}
