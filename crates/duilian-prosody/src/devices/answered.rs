//! Whether an answer has a device too.

use duilian_core::Line;

use super::{Confidence, Device, Progression, classes, shape};
use crate::character::{
    are_homophones, commonest_component, elements, has_component, is_split, number_value,
};
use crate::word_class::answers;
use crate::{Outcome, WordClass};

impl Device {
    /// How the answer to the line with this device stands to it: whether it does the same at the same places. Lines of
    /// another length miss what they lack. The places of the outcome count from 1.
    ///
    /// ```
    /// use duilian_core::Line;
    /// use duilian_prosody::{Outcome, devices};
    ///
    /// let split = &devices(&Line::parse("日月明")?)[0];
    /// assert_eq!(split.outcome(&Line::parse("小大尖")?), Outcome::Met);
    /// assert_eq!(split.outcome(&Line::parse("山水清")?), Outcome::Missed { places: vec![1, 2, 3] });
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn outcome(&self, answer: &Line) -> Outcome {
        let text = answer.chars();
        let at = |place: usize| text.get(place).copied();
        let missed =
            |places: &[usize]| Outcome::Missed { places: places.iter().map(|place| place + 1).collect() };
        let rate = |places: &[usize], kept: &dyn Fn(char) -> bool| {
            Outcome::rate_of(places.iter().map(|&place| (place + 1, at(place).is_some_and(kept))))
        };
        let met_if = |kept: bool| if kept { Outcome::Met } else { missed(&self.places()) };
        match self {
            Self::SharedRadical { places, .. } => {
                let characters: Vec<char> = places.iter().filter_map(|&place| at(place)).collect();
                match commonest_component(&characters) {
                    Some(part) => rate(places, &|c| has_component(c, part)),
                    None => missed(places),
                }
            }
            Self::FiveElements { places, .. } => {
                let characters: Option<Vec<char>> = places.iter().map(|&place| at(place)).collect();
                if characters.is_some_and(|characters| shape::assigned(&characters).is_some()) {
                    return Outcome::Met;
                }
                let without: Vec<usize> = places
                    .iter()
                    .copied()
                    .filter(|&place| at(place).is_none_or(|c| elements(c).next().is_none()))
                    .collect();
                missed(if without.is_empty() { places } else { &without })
            }
            Self::CharacterSplit { whole, parts, .. } => {
                let parts: Option<Vec<char>> = parts.iter().map(|&place| at(place)).collect();
                met_if(at(*whole).zip(parts).is_some_and(|(whole, parts)| is_split(whole, &parts)))
            }
            Self::Homophones { pairs, .. } => {
                let differing: Vec<usize> = pairs
                    .iter()
                    .filter(|&&(a, b)| !at(a).zip(at(b)).is_some_and(|(a, b)| are_homophones(a, b, false)))
                    .map(|&(_, b)| b + 1)
                    .collect();
                Outcome::missed_at(differing)
            }
            Self::Numbers { places, progression: None } => rate(places, &|c| answers(c, WordClass::Number)),
            Self::Numbers { places, progression: Some(progression) } => {
                let values: Option<Vec<u64>> = places.iter().map(|&place| number_value(at(place)?)).collect();
                let own = values.and_then(|values| classes::progression(&values));
                met_if(own.is_some_and(|own| own.answers(*progression)))
            }
            Self::Words { class, places } => rate(places, &|c| answers(c, *class)),
            _ => {
                let differing =
                    self.equal_places().into_iter().filter(|&(a, b)| at(a).is_none() || at(a) != at(b));
                let mut places: Vec<usize> = differing.map(|(_, b)| b + 1).collect();
                places.sort_unstable();
                places.dedup();
                Outcome::missed_at(places)
            }
        }
    }

    /// Whether the answer has the device at all its places.
    ///
    /// ```
    /// use duilian_core::Line;
    /// let device = &duilian_prosody::devices(&Line::parse("江河湖海")?)[0];
    /// assert!(device.is_met_by(&Line::parse("松柏桃梅")?));
    /// assert!(!device.is_met_by(&Line::parse("松柏桃花")?));
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn is_met_by(&self, answer: &Line) -> bool {
        !self.outcome(answer).is_missed()
    }

    /// Pairs of places, the earlier one first, whose characters are equal by this device; together they tie all equal
    /// characters. Empty for the devices that are no repetition.
    ///
    /// ```
    /// use duilian_core::Line;
    /// let device = &duilian_prosody::devices(&Line::parse("人来人往")?)[0];
    /// assert_eq!(device.equal_places(), [(0, 2)]);
    /// # Ok::<(), duilian_core::LineError>(())
    /// ```
    pub fn equal_places(&self) -> Vec<(usize, usize)> {
        match self {
            Self::Palindrome { places } => {
                let half = places.len() / 2;
                places.iter().copied().zip(places.iter().rev().copied()).take(half).collect()
            }
            Self::Chiasmus { first: a, second: b } | Self::Anadiplosis { closing: a, opening: b } => {
                a.iter().copied().zip(b.iter().copied()).collect()
            }
            Self::Reduplication { pattern, places } => {
                let letters = pattern.letters().as_bytes();
                let first = |i: usize| letters.iter().position(|letter| *letter == letters[i]).unwrap_or(i);
                (0..places.len().min(letters.len()))
                    .filter(|&i| first(i) != i)
                    .map(|i| (places[first(i)], places[i]))
                    .collect()
            }
            Self::Run { places } | Self::RepeatedCharacter { places } => {
                places.windows(2).map(|pair| (pair[0], pair[1])).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Progression {
    /// Whether numbers that follow each other like this answer such ones: the same way up or down, and by the same
    /// steps.
    ///
    /// ```
    /// use duilian_prosody::Progression;
    /// assert!(Progression::Steps(1).answers(Progression::Steps(1)));
    /// assert!(!Progression::Steps(-1).answers(Progression::Steps(1)));
    /// ```
    #[must_use]
    pub fn answers(self, given: Self) -> bool {
        let (up, given_up) = (self.is_rising(), given.is_rising());
        match (self, given) {
            (Self::Steps(a), Self::Steps(b)) => a == b,
            // Where no step is asked for, any will do.
            (_, Self::Rising | Self::Falling) => up == given_up,
            (a, b) => a == b,
        }
    }

    fn is_rising(self) -> bool {
        match self {
            Self::Steps(step) => step > 0,
            Self::Tens | Self::Rising => true,
            Self::Falling => false,
        }
    }
}

impl std::fmt::Display for Device {
    /// The term, the places from 1, and what the answer should do.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let places: Vec<String> = self.places().iter().map(|place| (place + 1).to_string()).collect();
        write!(f, "{} at {}: ", self.kind().term(), places.join(", "))?;
        match self {
            Self::Palindrome { .. } => f.write_str("reads the same backwards, and so should the answer"),
            Self::Chiasmus { .. } => {
                f.write_str("the second clause turns the first round, as the answer's should")
            }
            Self::Reduplication { pattern, .. } => write!(f, "a pattern {0} asks for {0}", pattern.letters()),
            Self::Run { .. } => f.write_str("a repeated sound asks for another"),
            Self::Anadiplosis { .. } => {
                f.write_str("the next clause begins as this one ends, as the answer's should")
            }
            Self::RepeatedCharacter { .. } => {
                f.write_str("a character comes again, and another in the answer")
            }
            Self::SharedRadical { component, .. } => {
                write!(f, "all have {component}; those of the answer should share a part, too")
            }
            Self::FiveElements { elements, .. } => {
                f.write_str("the elements ")?;
                elements.iter().try_for_each(|element| write!(f, "{}", element.character()))?;
                f.write_str(" ask for five characters with all of them, best in this order")
            }
            Self::CharacterSplit { whole, .. } => {
                write!(f, "the others make up the one at {}, as the answer's should", whole + 1)
            }
            Self::Homophones { .. } => f.write_str("characters that sound alike ask for such"),
            Self::Numbers { progression: None, .. } => f.write_str("numbers answer numbers"),
            Self::Numbers { progression: Some(_), .. } => {
                f.write_str("numbers in order answer numbers in order")
            }
            Self::Words { .. } => f.write_str("answered by their own class"),
        }?;
        f.write_str(if self.confidence() == Confidence::Sure { "" } else { " (may be chance)" })
    }
}
