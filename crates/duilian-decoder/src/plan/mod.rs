//! All constraints on one question, with look-ahead.

mod layout;
mod solve;
#[cfg(test)]
mod tests;

use duilian_core::{Line, TokenId};

use self::layout::{Failure, Layout};
pub use self::solve::SEARCH_LIMIT;
use crate::{Constraint, DecodeError, Demands, Draft, Lexicon, LockedCharacters, Question, Source, TokenSet};

/// All constraints on the answer to one question. It offers a token only if the line can still be finished
/// afterwards, so a search that takes what is offered never gets stuck, and never needs to go back.
///
/// ```
/// # use duilian_core::{Direction, Line, TokenId, Vocabulary};
/// # struct Characters(Vec<char>);
/// # impl Vocabulary for Characters {
/// #     fn size(&self) -> usize { self.0.len() }
/// #     fn character(&self, id: TokenId) -> Option<char> { self.0.get(id.index()).copied() }
/// #     fn id(&self, character: char) -> Option<TokenId> {
/// #         self.0.iter().position(|&c| c == character).map(|i| TokenId(i as u16))
/// #     }
/// # }
/// use duilian_decoder::{CleanOutput, Lexicon, NoSharedCharacter, Plan, Question, Repetition, TokenSet};
/// use duilian_prosody::BlockedWords;
///
/// let vocabulary = Characters("?天地人山水".chars().collect());
/// let lexicon = Lexicon::new(&vocabulary, TokenId(0), &BlockedWords::default());
/// let question = Question::new(Line::parse("天天地")?, Direction::UpperToLower);
/// let plan = Plan::new(
///     question,
///     &lexicon,
///     &[&Repetition, &NoSharedCharacter, &CleanOutput { blocked_words: false }],
/// )?;
///
/// let mut draft = plan.draft();
/// let mut allowed = TokenSet::default();
/// plan.allowed(&draft, 0, &mut allowed);
/// assert_eq!(allowed.iter().filter_map(|id| lexicon.character(id)).collect::<String>(), "人山水");
/// assert!(plan.choose(&mut draft, 0, lexicon.token('山')));
/// plan.allowed(&draft, 1, &mut allowed);
/// assert_eq!(allowed.only(), Some(lexicon.token('山')));
/// plan.allowed(&draft, 2, &mut allowed);
/// assert_eq!(allowed.iter().filter_map(|id| lexicon.character(id)).collect::<String>(), "人水");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<'a> {
    question: Question,
    lexicon: &'a Lexicon,
    constraints: Vec<&'a dyn Constraint>,
    layout: Layout,
    source: Source,
    waived: Vec<String>,
}

impl<'a> Plan<'a> {
    /// Puts the constraints together. Optional ones ([`Constraint::is_optional`]) are given up, last first,
    /// if there is no answer otherwise.
    ///
    /// # Errors
    /// [`DecodeError::LockUnknown`]; [`DecodeError::Conflict`] if no line keeps all constraints;
    /// [`DecodeError::Undecided`] if that was not found out.
    pub fn new(
        question: Question,
        lexicon: &'a Lexicon,
        constraints: &[&'a dyn Constraint],
    ) -> Result<Self, DecodeError> {
        let length = question.line().len();
        for place in 0..length {
            if let Some(character) = question.lock(place).filter(|&c| lexicon.id(c).is_none()) {
                return Err(DecodeError::LockUnknown { character, place: place + 1 });
            }
        }
        let tokens: Vec<TokenId> = question.line().chars().iter().map(|&c| lexicon.token(c)).collect();
        let mut kept = constraints.to_vec();
        let mut waived = Vec::new();
        let layout = loop {
            let failure = match lay_out(&question, lexicon, &tokens, &kept) {
                Ok(layout) => break layout,
                Err(failure) => failure,
            };
            let Some(optional) = kept.iter().rposition(|constraint| constraint.is_optional(&question)) else {
                return Err(explain(&question, lexicon, &tokens, kept, failure));
            };
            waived.push(kept.remove(optional).name());
        };
        let hints =
            layout.group_of.iter().zip(&layout.start.line).map(|(group, &token)| group.and(token)).collect();
        let source = Source { tokens, hints, direction: question.direction() };
        Ok(Self { question, lexicon, constraints: kept, layout, source, waived })
    }

    /// The question.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// The question as a model sees it. Hints stand at every Han place that has only one choice: locked ones
    /// and those that repeat them.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Names of the optional constraints that were given up.
    pub fn waived(&self) -> &[String] {
        &self.waived
    }

    /// Number of places at which answers can differ at all.
    pub fn free_places(&self) -> usize {
        self.layout.free_places().len()
    }

    /// An answer with nothing chosen yet: marks, locked characters and places with only one choice are
    /// filled.
    pub fn draft(&self) -> Draft {
        self.layout.start.clone()
    }

    /// Writes to `allowed` the tokens that may be put at `place` (from 0): those after which the line can be
    /// finished. Never empty for a draft of this plan; exactly one token where the place is filled. Empty if
    /// the place is out of range.
    pub fn allowed(&self, draft: &Draft, place: usize, allowed: &mut TokenSet) {
        let words = self.lexicon.words();
        let group = self.layout.group_of.get(place).copied().flatten();
        let (None, Some(g)) = (draft.line.get(place).copied().flatten(), group) else {
            *allowed = TokenSet::empty(self.lexicon.size());
            draft.line.get(place).copied().flatten().into_iter().for_each(|token| allowed.insert(token));
            return;
        };
        let group = &self.layout.groups[g];
        allowed.copy_from(&group.allowed);
        if self.layout.all_different {
            self.layout.taken(&draft.line).for_each(|token| allowed.remove(token));
        }
        if self.layout.no_blocked_words {
            words.forbid(&draft.line, &group.places, allowed);
        }
        if draft.witness.is_empty() {
            return;
        }
        let mut doubtful = allowed.clone();
        if !group.tight {
            doubtful.intersect(&self.layout.critical);
        }
        for token in doubtful.iter() {
            if !self.layout.can_choose(draft, g, token, words) {
                allowed.remove(token);
            }
        }
    }

    /// Puts `token` at `place` and all places tied to it. Returns false and leaves the draft as it is if the
    /// token is not allowed there.
    pub fn choose(&self, draft: &mut Draft, place: usize, token: TokenId) -> bool {
        let mut allowed = TokenSet::default();
        self.allowed(draft, place, &mut allowed);
        let fits = allowed.contains(token);
        if fits {
            self.fill(draft, place, token);
        }
        fits
    }

    /// As [`Self::choose`], for a token that is known to be allowed.
    pub(crate) fn fill(&self, draft: &mut Draft, place: usize, token: TokenId) {
        if let (Some(g), None) = (self.layout.group_of[place], draft.line[place]) {
            self.layout.fill(draft, g, token, self.lexicon.words());
        }
    }

    /// Number of places that a choice at `place` fills.
    pub(crate) fn multiplicity(&self, place: usize) -> usize {
        self.layout.group_of[place].map_or(1, |g| self.layout.groups[g].places.len())
    }

    /// Whether a place counts for the log-probability: Han places do, copied marks do not.
    pub(crate) fn counts(&self, place: usize) -> bool {
        self.layout.group_of[place].is_some()
    }

    /// Adds the weights of all constraints; returns whether there are any.
    pub(crate) fn weigh(&self, draft: &Draft, place: usize, weights: &mut [f32]) -> bool {
        let mut any = false;
        for constraint in &self.constraints {
            any |= constraint.weigh(&self.question, self.lexicon, draft, place, weights);
        }
        any
    }

    /// The line of a draft that is filled.
    pub(crate) fn line(&self, tokens: &[TokenId]) -> Result<Line, DecodeError> {
        let given = self.question.line().chars();
        let character = |(place, &token): (usize, &TokenId)| {
            let own = self.layout.group_of[place].is_none();
            // Allowed tokens are writable ones, so each has a character.
            if own { given[place] } else { self.lexicon.character(token).unwrap_or(given[place]) }
        };
        Ok(Line::from_chars(tokens.iter().enumerate().map(character).collect())?)
    }
}

fn lay_out(
    question: &Question,
    lexicon: &Lexicon,
    tokens: &[TokenId],
    constraints: &[&dyn Constraint],
) -> Result<Layout, Failure> {
    let mut demands = Demands::new(tokens.len(), lexicon);
    for constraint in constraints {
        constraint.restrict(question, lexicon, &mut demands);
    }
    Layout::new(&demands, lexicon, |place| tokens[place])
}

/// Finds a smallest set of constraints that cannot hold together: drops each one that is not needed for the
/// conflict.
fn explain(
    question: &Question,
    lexicon: &Lexicon,
    tokens: &[TokenId],
    mut constraints: Vec<&dyn Constraint>,
    failure: Failure,
) -> DecodeError {
    let Failure::Impossible { mut place } = failure else {
        return DecodeError::Undecided { limit: SEARCH_LIMIT };
    };
    for i in (0..constraints.len()).rev() {
        let candidate = constraints.remove(i);
        match lay_out(question, lexicon, tokens, &constraints) {
            Err(Failure::Impossible { place: other }) => place = other,
            _ => constraints.insert(i, candidate),
        }
    }
    // Of several places with the same character, the locked one is where a person would look.
    let first = question.first_places();
    let locked = LockedCharacters.name();
    if constraints.iter().any(|constraint| constraint.name() == locked) {
        let same = (0..tokens.len()).find(|&p| first[p] == first[place] && question.lock(p).is_some());
        place = same.unwrap_or(place);
    }
    let mut names: Vec<String> = constraints.iter().map(|constraint| constraint.name()).collect();
    if names.is_empty() {
        names.push("the vocabulary and a line of Chinese characters".into());
    }
    DecodeError::Conflict { constraints: names, place: place + 1 }
}
