//! Constraints that a question or a user may ask for: forbidden characters, a mirrored line, a tone pattern; and
//! preferences: opposed tones, word classes, a theme.

use std::collections::{BTreeMap, BTreeSet};

use duilian_core::{is_han, is_mark};
use duilian_prosody::{Tone, ToneBook, TonePattern, WordClass, tones, word_classes};

use crate::{Constraint, Demands, Lexicon, Question, TokenSet};

/// Characters that may not stand in the answer.
///
/// ```
/// use duilian_decoder::{Constraint, ForbiddenCharacters};
/// let forbidden: ForbiddenCharacters = "死病".chars().collect();
/// assert_eq!(forbidden.name(), "forbidden characters");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForbiddenCharacters(BTreeSet<char>);

impl FromIterator<char> for ForbiddenCharacters {
    fn from_iter<I: IntoIterator<Item = char>>(characters: I) -> Self {
        Self(characters.into_iter().collect())
    }
}

impl Constraint for ForbiddenCharacters {
    fn name(&self) -> String {
        "forbidden characters".into()
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        for token in self.0.iter().filter_map(|&c| lexicon.id(c)) {
            (0..question.line().len()).for_each(|place| demands.forbid(place, token));
        }
    }
}

/// 回文: the answer reads the same from both ends, marks left out. Under R2 only a line that mirrors itself can be
/// answered so, and then it is anyway; alone, it makes palindromes of any length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mirror;

impl Constraint for Mirror {
    fn name(&self) -> String {
        "mirrored line (回文)".into()
    }

    fn restrict(&self, question: &Question, _: &Lexicon, demands: &mut Demands) {
        let han = han_places(question);
        for (&one, &other) in han.iter().zip(han.iter().rev()).take(han.len() / 2) {
            demands.tie(one, other);
        }
    }
}

/// The answer has a tone pattern: each character can be read with the tone of its place. A pattern of another
/// length than the line cannot be kept.
///
/// ```
/// use duilian_decoder::{Constraint, Tones};
/// use duilian_prosody::ToneBook;
/// let tones = Tones { pattern: "平平仄仄平".parse()?, book: ToneBook::Either };
/// assert_eq!(tones.name(), "tone pattern 平平仄仄平");
/// # Ok::<(), duilian_prosody::ProsodyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tones {
    /// The pattern, one place a Han character.
    pub pattern: TonePattern,
    /// Which readings count.
    pub book: ToneBook,
}

impl Constraint for Tones {
    fn name(&self) -> String {
        format!("tone pattern {}", self.pattern)
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        let places = han_places(question);
        if places.len() != self.pattern.places().len() {
            demands.keep(question.last_han_place(), &TokenSet::default());
        }
        for (place, tone) in places.into_iter().zip(self.pattern.places()) {
            if let Some(tone) = tone {
                demands.keep(place, lexicon.tone(*tone, self.book));
            }
        }
    }
}

/// R6 as a preference: at the even places of each clause and at its last character, a token whose tone opposes the
/// given character's gets `weight` nats more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToneOpposition {
    /// Nats.
    pub weight: f32,
    /// Which readings count.
    pub book: ToneBook,
}

impl Constraint for ToneOpposition {
    fn name(&self) -> String {
        "tone opposition (R6)".into()
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        for clause in question.line().clauses() {
            let last = clause.chars().len() - 1;
            for (i, &c) in clause.chars().iter().enumerate() {
                let own = tones(c, self.book);
                let only = Tone::ALL.into_iter().find(|&tone| own.only(tone));
                if let Some(tone) = only.filter(|_| i % 2 == 1 || i == last) {
                    demands.prefer(clause.start() + i, lexicon.tone(tone.opposite(), self.book), self.weight);
                }
            }
        }
    }
}

/// R7 as a preference: where the given character is a number, colour, direction or function word, tokens that
/// answer it get `weight` nats more; where it answers none, members of these classes get as much less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordClasses {
    /// Nats.
    pub weight: f32,
}

impl Constraint for WordClasses {
    fn name(&self) -> String {
        "word classes (R7)".into()
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        for (place, &c) in question.line().chars().iter().enumerate().filter(|&(_, &c)| is_han(c)) {
            let mut kept = TokenSet::empty(lexicon.size());
            let mut any = false;
            for class in word_classes(c) {
                kept.unite(lexicon.class_answers(class));
                any = true;
            }
            if any {
                demands.prefer(place, &kept, self.weight);
                continue;
            }
            let own = lexicon.id(c);
            for class in WordClass::ALL {
                // What may stand for a member is answered by members.
                if own.is_none_or(|own| !lexicon.class_answers(class).contains(own)) {
                    kept.unite(lexicon.class_members(class));
                }
            }
            demands.prefer(place, &kept, -self.weight);
        }
    }
}

/// A theme as a preference: its own characters get `weight` nats more at every place, characters that go with them
/// a share of that, from a table that the caller gives.
///
/// ```
/// use duilian_decoder::Theme;
/// let theme = Theme::new("丰收", 2.0).with_associations([('丰', '稻', 0.5), ('收', '仓', 0.8), ('海', '船', 1.0)]);
/// assert_eq!((theme.weight('收'), theme.weight('稻'), theme.weight('船')), (2.0, 1.0, 0.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    weight: f32,
    /// Share of the weight by character.
    shares: BTreeMap<char, f32>,
    own: BTreeSet<char>,
}

impl Theme {
    /// A theme of words, whose Han characters count.
    pub fn new(words: &str, weight: f32) -> Self {
        let own: BTreeSet<char> = words.chars().filter(|&c| is_han(c)).collect();
        Self { weight, shares: own.iter().map(|&c| (c, 1.0)).collect(), own }
    }

    /// Adds pairs that go together, with how strongly, from 0 to 1: a character of the theme lends the other one of
    /// the pair that share of the weight. Of several shares the greatest counts; pairs without a character of the
    /// theme do not.
    #[must_use]
    pub fn with_associations(mut self, pairs: impl IntoIterator<Item = (char, char, f32)>) -> Self {
        for (of, with, share) in pairs {
            if self.own.contains(&of) && share > 0.0 {
                let known = self.shares.entry(with).or_default();
                *known = known.max(share.min(1.0));
            }
        }
        self
    }

    /// What a character gets, in nats.
    pub fn weight(&self, character: char) -> f32 {
        self.weight * self.shares.get(&character).copied().unwrap_or_default()
    }
}

impl Constraint for Theme {
    fn name(&self) -> String {
        format!("theme {}", self.own.iter().collect::<String>())
    }

    fn restrict(&self, question: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        for (&c, &share) in &self.shares {
            if let Some(token) = lexicon.id(c) {
                for place in han_places(question) {
                    demands.prefer_token(place, token, self.weight * share);
                }
            }
        }
    }
}

fn han_places(question: &Question) -> Vec<usize> {
    let characters = question.line().chars();
    (0..characters.len()).filter(|&place| !is_mark(characters[place])).collect()
}
