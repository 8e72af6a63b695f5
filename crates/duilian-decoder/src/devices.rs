//! Devices of the given line as constraints on the answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use duilian_core::TokenId;
use duilian_prosody::{Confidence, Device, DeviceKind, Progression, devices};
use serde::{Deserialize, Serialize};

use crate::{Constraint, Demands, Lexicon, Question, Relation, RelationTable};

/// Which devices of the given line the answer must have.
///
/// ```
/// use duilian_decoder::DeviceOptions;
/// use duilian_prosody::{Confidence, DeviceKind};
///
/// let options = DeviceOptions::default();
/// assert!(DeviceKind::ALL.iter().all(|kind| options.kinds.contains(kind)));
/// assert_eq!((options.confidence, options.required), (Confidence::Sure, false));
/// assert!(DeviceOptions::none().kinds.is_empty());
/// let read: DeviceOptions = serde_json::from_str(r#"{"kinds": ["shared_radical", "numbers"]}"#)?;
/// assert_eq!(read.kinds.len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeviceOptions {
    /// The kinds that count. Default: all. Repetition of any kind is left to R2. Numbers that follow no order, colours, directions and function words
    /// make no constraint, whatever stands here: they are the business of
    /// [`WordClasses`](crate::WordClasses).
    pub kinds: BTreeSet<DeviceKind>,
    /// How sure it must be that a device is meant. Default [`Confidence::Sure`].
    pub confidence: Confidence,
    /// Whether a device that the vocabulary cannot answer is an error. Default false: it is waived, and the
    /// answer says so.
    pub required: bool,
}

impl Default for DeviceOptions {
    fn default() -> Self {
        Self { kinds: DeviceKind::ALL.into(), confidence: Confidence::Sure, required: false }
    }
}

impl DeviceOptions {
    /// No device counts.
    pub fn none() -> Self {
        Self { kinds: BTreeSet::new(), ..Self::default() }
    }
}

/// The answer has a device of the given line at the same places.
///
/// | device | what is asked of the answer |
/// |---|---|
/// | repetition of any kind (回文, 回环, 叠字, 顶真, …) | equal characters where the device has them; follows from R2 |
/// | shared radical (同旁) | one part, whichever, in all characters of the places |
/// | five elements (五行) | the same elements in the same order |
/// | split character (拆字) | a character at the place of the whole and its parts, in any order, at theirs |
/// | homophones (谐音) | two different characters with one syllable, tones aside, at each pair of places |
/// | numbers in order | numbers that follow each other in the same way |
///
/// ```
/// use duilian_core::{Direction, Line};
/// use duilian_decoder::{Constraint, DeviceConstraint, DeviceOptions, Question};
///
/// let question = Question::new(Line::parse("烟锁池塘柳")?, Direction::UpperToLower);
/// let found = DeviceConstraint::detect(&question, &DeviceOptions::default());
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].name(), "device 五行 at places 1, 2, 3, 4, 5");
/// assert!(found[0].is_optional(&question));
/// # Ok::<(), duilian_core::LineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceConstraint {
    device: Device,
    optional: bool,
}

impl DeviceConstraint {
    /// A constraint that cannot be waived, for any device.
    pub fn new(device: Device) -> Self {
        Self { device, optional: false }
    }

    /// The devices of the question's line that make a constraint under these options, in the order in which
    /// [`devices`] gives them.
    pub fn detect(question: &Question, options: &DeviceOptions) -> Vec<Self> {
        if options.kinds.is_empty() {
            return Vec::new();
        }
        let counts = |device: &Device| {
            let ordered = !matches!(device, Device::Words { .. } | Device::Numbers { progression: None, .. });
            ordered && device.confidence() >= options.confidence && options.kinds.contains(&device.kind())
        };
        let found = devices(question.line()).into_iter().filter(counts);
        found.map(|device| Self { device, optional: !options.required }).collect()
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl Constraint for DeviceConstraint {
    fn name(&self) -> String {
        let places: Vec<String> = self.device.places().iter().map(|place| (place + 1).to_string()).collect();
        format!("device {} at places {}", self.device.kind().term(), places.join(", "))
    }

    fn is_optional(&self, _: &Question) -> bool {
        self.optional
    }

    fn restrict(&self, _: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        match &self.device {
            Device::SharedRadical { places, .. } => {
                demands.relate(Relation::of_one_class(lexicon.shared_components().clone(), places));
            }
            Device::FiveElements { elements, places } => {
                for (&element, &place) in elements.iter().zip(places) {
                    demands.keep(place, lexicon.element(element));
                }
            }
            Device::CharacterSplit { whole, parts, .. } => {
                let places = [&[*whole], parts.as_slice()].concat();
                let table = lexicon.splits(parts.len()).cloned().unwrap_or_default();
                relate(demands, table, &places);
            }
            Device::Homophones { pairs, .. } => {
                for &(a, b) in pairs {
                    let table = lexicon.homophones().clone();
                    demands.relate(Relation::of_one_class(table, &[a, b]).distinct());
                }
            }
            Device::Numbers { places, progression: Some(progression) } => {
                let table = sequences(lexicon, *progression, places.len());
                relate(demands, Arc::new(table), places);
            }
            device => device.equal_places().into_iter().for_each(|(a, b)| demands.tie(a, b)),
        }
    }
}

/// As [`Demands::relate`]; a table without rows forbids all.
fn relate(demands: &mut Demands, table: Arc<RelationTable>, places: &[usize]) {
    if table.is_empty() {
        for &place in places {
            demands.keep(place, &crate::TokenSet::default());
        }
    } else {
        demands.relate(Relation::new(table, places));
    }
}

/// Numbers of the vocabulary that follow each other as asked, so many in a row.
fn sequences(lexicon: &Lexicon, progression: Progression, length: usize) -> RelationTable {
    let numbers = lexicon.numbers();
    let mut values: Vec<u64> = numbers.keys().copied().collect();
    let by = |next: &dyn Fn(u64) -> Option<u64>| -> Vec<Vec<u64>> {
        let from = |&value: &u64| {
            let sequence: Vec<u64> =
                std::iter::successors(Some(value), |&v| next(v).filter(|v| numbers.contains_key(v)))
                    .take(length)
                    .collect();
            (sequence.len() == length).then_some(sequence)
        };
        values.iter().filter_map(from).collect()
    };
    let rows = match progression {
        Progression::Steps(0) => Vec::new(),
        Progression::Steps(step) => by(&|value| value.checked_add_signed(step)),
        Progression::Tens => by(&|value| value.checked_mul(10).filter(|_| value > 0)),
        Progression::Falling => {
            values.reverse();
            choose(&values, length)
        }
        _ => choose(&values, length),
    };
    let row = |row: Vec<u64>| row.iter().map(|value| numbers[value].clone()).collect::<Vec<Vec<TokenId>>>();
    RelationTable::from_products(length, rows.into_iter().map(row))
}

/// All ways to take so many values, in their order.
fn choose(values: &[u64], length: usize) -> Vec<Vec<u64>> {
    if length == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (i, &first) in values.iter().enumerate() {
        if values.len() - i < length {
            break;
        }
        found.extend(
            choose(&values[i + 1..], length - 1).into_iter().map(|rest| [vec![first], rest].concat()),
        );
    }
    found
}
