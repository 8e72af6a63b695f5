//! The devices of a line: what it plays with besides its sense, and whether the other line plays along.

mod answered;
mod classes;
mod repetition;
mod shape;
mod sound;

use duilian_core::{Couplet, Direction, Line};
use serde::{Deserialize, Serialize};

use crate::{Element, Outcome, WordClass};

/// A device of a line. Places count the characters of the line, marks included, from 0.
///
/// What the answer should do, and whether it does, is told by [`Device::outcome`]; the devices that consist of equal
/// characters ([`DeviceKind::follows_from_repetition`]) are answered by every line that keeps R2.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Device {
    /// 回文: the characters at the places read the same from both ends (上海自来水来自海上), in one clause or over
    /// several.
    Palindrome {
        /// The places, from left to right.
        places: Vec<usize>,
    },
    /// 回环: two clauses change the order of their parts (老师教学生，学生教老师). The character at each place of `first` is
    /// the one at the same index of `second`.
    Chiasmus {
        /// Places in the first clause.
        first: Vec<usize>,
        /// The places of the same characters in the second clause.
        second: Vec<usize>,
    },
    /// 叠字: characters repeated after a pattern (人来人往).
    Reduplication {
        /// The pattern.
        pattern: Reduplication,
        /// The places, as many as the pattern has letters.
        places: Vec<usize>,
    },
    /// One character three times or more in a row, as sounds are written (喵喵喵).
    Run {
        /// The places.
        places: Vec<usize>,
    },
    /// 顶真: a clause begins with what the one before ends with (山连水，水连天).
    Anadiplosis {
        /// The places at the end of the earlier clause.
        closing: Vec<usize>,
        /// The places of the same characters at the beginning of the later one.
        opening: Vec<usize>,
    },
    /// 重字: one character at several places that no device above tells of.
    RepeatedCharacter {
        /// The places.
        places: Vec<usize>,
    },
    /// 同旁: the characters of a whole line, three different ones or more, or of a clause, four or more, share a part.
    SharedRadical {
        /// The part, as a character of its own: 水 for 氵.
        component: char,
        /// The places.
        places: Vec<usize>,
    },
    /// 五行: five characters in a row that show the five elements (烟锁池塘柳).
    FiveElements {
        /// The element at each place.
        elements: [Element; 5],
        /// The places.
        places: [usize; 5],
    },
    /// 拆字: a character and those that it is made of (女 and 子 make 好). See [`is_split`](crate::is_split).
    CharacterSplit {
        /// The place of the character that is made up.
        whole: usize,
        /// The places of its parts, from left to right.
        parts: Vec<usize>,
        /// How sure it is that this is not chance.
        confidence: Confidence,
    },
    /// 谐音: different characters that sound alike.
    Homophones {
        /// Pairs of places that sound alike.
        pairs: Vec<(usize, usize)>,
        /// How sure it is that this is not chance.
        confidence: Confidence,
    },
    /// Numbers, one at least.
    Numbers {
        /// The places.
        places: Vec<usize>,
        /// How they follow each other, if there are three or more in order.
        progression: Option<Progression>,
    },
    /// Colours, directions or function words, one at least.
    Words {
        /// The class; not [`WordClass::Number`].
        class: WordClass,
        /// The places.
        places: Vec<usize>,
    },
}

/// The kinds of [`Device`], without places: to switch them on and off by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeviceKind {
    /// [`Device::Palindrome`].
    Palindrome,
    /// [`Device::Chiasmus`].
    Chiasmus,
    /// [`Device::Reduplication`].
    Reduplication,
    /// [`Device::Run`].
    Run,
    /// [`Device::Anadiplosis`].
    Anadiplosis,
    /// [`Device::RepeatedCharacter`].
    RepeatedCharacter,
    /// [`Device::SharedRadical`].
    SharedRadical,
    /// [`Device::FiveElements`].
    FiveElements,
    /// [`Device::CharacterSplit`].
    CharacterSplit,
    /// [`Device::Homophones`].
    Homophones,
    /// [`Device::Numbers`].
    Numbers,
    /// [`Device::Words`] of the class [`WordClass::Colour`].
    Colours,
    /// [`Device::Words`] of the class [`WordClass::Direction`].
    Directions,
    /// [`Device::Words`] of the class [`WordClass::Function`].
    FunctionWords,
}

impl DeviceKind {
    /// All kinds, in the order in which [`devices`] gives them.
    pub const ALL: [Self; 14] = [
        Self::Palindrome,
        Self::Chiasmus,
        Self::Reduplication,
        Self::Run,
        Self::Anadiplosis,
        Self::RepeatedCharacter,
        Self::SharedRadical,
        Self::FiveElements,
        Self::CharacterSplit,
        Self::Homophones,
        Self::Numbers,
        Self::Colours,
        Self::Directions,
        Self::FunctionWords,
    ];

    /// Whether every line that repeats characters where the given one does (R2) answers the device.
    ///
    /// ```
    /// use duilian_prosody::DeviceKind;
    /// assert!(DeviceKind::Palindrome.follows_from_repetition());
    /// assert!(!DeviceKind::SharedRadical.follows_from_repetition());
    /// ```
    pub fn follows_from_repetition(self) -> bool {
        matches!(
            self,
            Self::Palindrome
                | Self::Chiasmus
                | Self::Reduplication
                | Self::Run
                | Self::Anadiplosis
                | Self::RepeatedCharacter
        )
    }

    /// The term of the art.
    pub fn term(self) -> &'static str {
        match self {
            Self::Palindrome => "回文",
            Self::Chiasmus => "回环",
            Self::Reduplication => "叠字",
            Self::Run => "拟声",
            Self::Anadiplosis => "顶真",
            Self::RepeatedCharacter => "重字",
            Self::SharedRadical => "同旁",
            Self::FiveElements => "五行",
            Self::CharacterSplit => "拆字",
            Self::Homophones => "谐音",
            Self::Numbers => "数字",
            Self::Colours => "颜色",
            Self::Directions => "方位",
            Self::FunctionWords => "虚词",
        }
    }
}

/// A pattern of reduplication; equal letters are equal characters, different letters different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Reduplication {
    /// 人人.
    Aa,
    /// 试一试, as a clause of three.
    Aba,
    /// 年年岁岁.
    Aabb,
    /// 研究研究.
    Abab,
    /// 人来人往.
    Abac,
    /// 天外有天, as a clause of four.
    Abca,
    /// 就事论事, from an odd place of a clause of an even number of characters.
    Abcb,
}

impl Reduplication {
    /// Whether each letter stands beside itself.
    fn is_plain(self) -> bool {
        matches!(self, Self::Aa | Self::Aabb)
    }

    /// Its letters.
    ///
    /// ```
    /// assert_eq!(duilian_prosody::Reduplication::Abac.letters(), "ABAC");
    /// ```
    pub fn letters(self) -> &'static str {
        match self {
            Self::Aa => "AA",
            Self::Aba => "ABA",
            Self::Aabb => "AABB",
            Self::Abab => "ABAB",
            Self::Abac => "ABAC",
            Self::Abca => "ABCA",
            Self::Abcb => "ABCB",
        }
    }
}

/// How sure it is that a device is meant. The rates by chance stand in `docs/rules.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// May be chance: one pair that sounds alike; the parts of a character at some distance.
    Possible,
    /// Hardly chance: two syllables in a row that come again, or several pairs; the parts of a character beside
    /// it, or two characters with their parts in one line.
    Sure,
}

/// How the values of the numbers of a line follow each other. Numbers of several characters (三千) follow nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Progression {
    /// By equal steps: 二、三、四、五 by 1, 九七五 by -2.
    Steps(i64),
    /// Each ten times the one before: 十百千万.
    Tens,
    /// Each greater than the one before, by unequal steps; four or more.
    Rising,
    /// Each smaller than the one before, by unequal steps; four or more.
    Falling,
}

impl Device {
    /// Its kind.
    pub fn kind(&self) -> DeviceKind {
        match self {
            Self::Palindrome { .. } => DeviceKind::Palindrome,
            Self::Chiasmus { .. } => DeviceKind::Chiasmus,
            Self::Reduplication { .. } => DeviceKind::Reduplication,
            Self::Run { .. } => DeviceKind::Run,
            Self::Anadiplosis { .. } => DeviceKind::Anadiplosis,
            Self::RepeatedCharacter { .. } => DeviceKind::RepeatedCharacter,
            Self::SharedRadical { .. } => DeviceKind::SharedRadical,
            Self::FiveElements { .. } => DeviceKind::FiveElements,
            Self::CharacterSplit { .. } => DeviceKind::CharacterSplit,
            Self::Homophones { .. } => DeviceKind::Homophones,
            Self::Words { class: WordClass::Colour, .. } => DeviceKind::Colours,
            Self::Words { class: WordClass::Direction, .. } => DeviceKind::Directions,
            Self::Words { class: WordClass::Function, .. } => DeviceKind::FunctionWords,
            Self::Numbers { .. } | Self::Words { class: WordClass::Number, .. } => DeviceKind::Numbers,
        }
    }

    /// How sure it is that the device is meant: what is repeated or counted is always so.
    pub fn confidence(&self) -> Confidence {
        match self {
            Self::CharacterSplit { confidence, .. } | Self::Homophones { confidence, .. } => *confidence,
            _ => Confidence::Sure,
        }
    }

    /// All places that take part, from left to right, each once.
    ///
    /// ```
    /// use duilian_core::Line;
    /// let line = Line::parse("女子好，少女更妙")?;
    /// let splits: Vec<_> = duilian_prosody::devices(&line)
    ///     .into_iter()
    ///     .filter(|device| device.kind() == duilian_prosody::DeviceKind::CharacterSplit)
    ///     .map(|device| device.places())
    ///     .collect();
    /// assert_eq!(splits, [vec![0, 1, 2], vec![4, 5, 7]]);
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn places(&self) -> Vec<usize> {
        let mut places = match self {
            Self::Palindrome { places }
            | Self::Reduplication { places, .. }
            | Self::Run { places }
            | Self::RepeatedCharacter { places }
            | Self::SharedRadical { places, .. }
            | Self::Numbers { places, .. }
            | Self::Words { places, .. } => places.clone(),
            Self::FiveElements { places, .. } => places.to_vec(),
            Self::Chiasmus { first: a, second: b } | Self::Anadiplosis { closing: a, opening: b } => {
                [a.as_slice(), b].concat()
            }
            Self::CharacterSplit { whole, parts, .. } => [&[*whole], parts.as_slice()].concat(),
            Self::Homophones { pairs, .. } => pairs.iter().flat_map(|&(a, b)| [a, b]).collect(),
        };
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// The devices of a line, in the order of [`DeviceKind::ALL`] and then of their places.
///
/// ```
/// use duilian_core::Line;
/// use duilian_prosody::{Device, DeviceKind, devices};
///
/// let line = Line::parse("烟锁池塘柳")?;
/// let found: Vec<DeviceKind> = devices(&line).iter().map(Device::kind).collect();
/// assert_eq!(found, [DeviceKind::FiveElements]);
/// # Ok::<(), duilian_core::LineError>(())
/// ```
pub fn devices(line: &Line) -> Vec<Device> {
    let mut found = repetition::find(line);
    found.extend(shape::find(line));
    found.extend(sound::find(line));
    found.extend(classes::find(line));
    found
}

/// A device of the given line, and how the answer stands to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceFinding {
    /// The device of the given line.
    pub device: Device,
    /// Whether the answer does the same. Its places count from 1, as everywhere in an [`Outcome`].
    pub outcome: Outcome,
}

/// For each device of the given line whether the answer has it too.
///
/// ```
/// use duilian_core::{Couplet, Direction};
/// use duilian_prosody::{DeviceKind, Outcome, device_report};
///
/// let couplet = Couplet::parse("烟锁池塘柳", "灯铺江坝树")?;
/// let report = device_report(&couplet, Direction::UpperToLower);
/// assert_eq!(report.len(), 1);
/// assert_eq!(report[0].device.kind(), DeviceKind::FiveElements);
/// assert_eq!(report[0].outcome, Outcome::Met);
/// # Ok::<(), duilian_core::LineError>(())
/// ```
pub fn device_report(couplet: &Couplet, direction: Direction) -> Vec<DeviceFinding> {
    let (given, answer) = couplet.oriented(direction);
    devices(given)
        .into_iter()
        .map(|device| {
            let outcome = device.outcome(answer);
            DeviceFinding { device, outcome }
        })
        .collect()
}
