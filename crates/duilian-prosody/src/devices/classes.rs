//! Numbers, colours, directions, function words.

use duilian_core::Line;

use super::{Device, Progression};
use crate::{WordClass, number_value, word_classes};

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
            let progression = if values.len() == places.len() { progression(&values) } else { None };
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
    if pairs().all(|(a, b)| a < b) {
        return Some(Progression::Rising);
    }
    pairs().all(|(a, b)| a > b).then_some(Progression::Falling)
}
