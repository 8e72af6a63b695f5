//! The hard rules of couplets as constraints.

use duilian_core::is_mark;
use duilian_prosody::required_end_tone;

use crate::{Constraint, Demands, Lexicon, Question};

/// R1: the answer has the marks of the question at the same places. With [`CleanOutput`] it has them nowhere
/// else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MarksAtPlaces;

impl Constraint for MarksAtPlaces {
    fn name(&self) -> String {
        "marks at their places (R1)".into()
    }

    fn restrict(&self, question: &Question, _: &Lexicon, demands: &mut Demands) {
        for (place, &c) in question.line().chars().iter().enumerate() {
            if is_mark(c) {
                demands.copy(place);
            }
        }
    }
}

/// R2: two places of the answer have the same character exactly if they have the same one in the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repetition;

impl Constraint for Repetition {
    fn name(&self) -> String {
        "repetition as in the question (R2)".into()
    }

    fn restrict(&self, question: &Question, _: &Lexicon, demands: &mut Demands) {
        demands.repeat_like(&question.first_places());
    }
}

/// R3: no character of the question stands in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoSharedCharacter;

impl Constraint for NoSharedCharacter {
    fn name(&self) -> String {
        "no shared character (R3)".into()
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        let mut others = lexicon.writable().clone();
        for token in question.line().han().filter_map(|c| lexicon.id(c)) {
            others.remove(token);
        }
        for place in 0..question.line().len() {
            demands.keep(place, &others);
        }
    }
}

/// R4: the answer has only Han characters of the vocabulary (beside the marks of [`MarksAtPlaces`]) and, if
/// asked for, no blocked word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CleanOutput {
    /// Whether blocked words are kept out. Default true.
    pub blocked_words: bool,
}

impl Default for CleanOutput {
    fn default() -> Self {
        Self { blocked_words: true }
    }
}

impl Constraint for CleanOutput {
    fn name(&self) -> String {
        "only Chinese characters of the vocabulary, no blocked word (R4)".into()
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        for place in 0..question.line().len() {
            demands.keep(place, lexicon.han());
        }
        if self.blocked_words {
            demands.no_blocked_words();
        }
    }
}

/// R5: the last Han character has the tone that [`required_end_tone`] asks for; given up for want of any
/// other answer where that function does not call it hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndTone;

impl Constraint for EndTone {
    fn name(&self) -> String {
        "end tone (R5)".into()
    }

    fn is_optional(&self, question: &Question) -> bool {
        !required_end_tone(question.last_han(), question.direction()).1
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        let (tone, _) = required_end_tone(question.last_han(), question.direction());
        demands.keep(question.last_han_place(), lexicon.end_tone(tone));
    }
}

/// The characters that the question locks stand at their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockedCharacters;

impl Constraint for LockedCharacters {
    fn name(&self) -> String {
        "locked characters".into()
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        for place in 0..question.line().len() {
            if let Some(c) = question.lock(place) {
                let mut only = crate::TokenSet::empty(lexicon.size());
                if let Some(token) = lexicon.id(c) {
                    only.insert(token);
                }
                demands.keep(place, &only);
            }
        }
    }
}
