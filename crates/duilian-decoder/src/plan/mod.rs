//! All constraints on one question, with look-ahead.

mod layout;
mod related;
mod solve;
#[cfg(test)]
mod tests;

use duilian_core::{Line, TokenId};

pub(crate) use self::layout::Candidates;
use self::layout::{Failure, Layout};
pub use self::solve::SEARCH_LIMIT;
use crate::{Constraint, DecodeError, Demands, Draft, Lexicon, LockedCharacters, Question, Source, TokenSet};

/// Memory for weights that depend on the draft; all zero unless it is used.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    values: Vec<f32>,
    used: bool,
}

/// A constraint of the decoder, or one made for this question.
pub(crate) enum Rule<'a> {
    Shared(&'a dyn Constraint),
    Own(Box<dyn Constraint>),
}

impl Rule<'_> {
    fn get(&self) -> &dyn Constraint {
        match self {
            Self::Shared(constraint) => *constraint,
            Self::Own(constraint) => constraint.as_ref(),
        }
    }
}

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
    constraints: Vec<Rule<'a>>,
    layout: Layout,
    source: Source,
    waived: Vec<String>,
}

impl<'a> Plan<'a> {
    /// Puts the constraints together. Where not all can hold, optional ones ([`Constraint::is_optional`]) are
    /// given up: each that cannot hold together with those that are not optional and the optional ones before
    /// it.
    ///
    /// # Errors
    /// [`DecodeError::LockUnknown`]; [`DecodeError::Conflict`] if no line keeps all constraints;
    /// [`DecodeError::Undecided`] if that was not found out.
    pub fn new(
        question: Question,
        lexicon: &'a Lexicon,
        constraints: &[&'a dyn Constraint],
    ) -> Result<Self, DecodeError> {
        Self::of_rules(question, lexicon, constraints.iter().map(|&shared| Rule::Shared(shared)).collect())
    }

    pub(crate) fn of_rules(
        question: Question,
        lexicon: &'a Lexicon,
        mut rules: Vec<Rule<'a>>,
    ) -> Result<Self, DecodeError> {
        let length = question.line().len();
        for place in 0..length {
            if let Some(character) = question.lock(place).filter(|&c| lexicon.id(c).is_none()) {
                return Err(DecodeError::LockUnknown { character, place: place + 1 });
            }
        }
        let tokens: Vec<TokenId> = question.line().chars().iter().map(|&c| lexicon.token(c)).collect();
        let constraints: Vec<&dyn Constraint> = rules.iter().map(Rule::get).collect();
        let (layout, kept) = settle(&question, lexicon, &tokens, &constraints)?;
        let given_up = constraints.iter().zip(&kept).filter(|(_, kept)| !**kept);
        let waived = given_up.map(|(constraint, _)| constraint.name()).collect();
        let mut kept = kept.into_iter();
        rules.retain(|_| kept.next().unwrap_or(true));
        let hints = hints(&layout, &layout.start);
        let source = Source { tokens, hints, direction: question.direction() };
        Ok(Self { question, lexicon, constraints: rules, layout, source, waived })
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

    /// The question as a model sees it with what is filled in a draft as hints.
    pub(crate) fn source_of(&self, draft: &Draft) -> Source {
        Source { hints: hints(&self.layout, draft), ..self.source.clone() }
    }

    /// Writes to `allowed` the tokens that may be put at `place` (from 0): those after which the line can be
    /// finished. Never empty for a draft of this plan; exactly one token where the place is filled. Empty if
    /// the place is out of range.
    ///
    /// At places with relations each token is tried, which takes some milliseconds; searches try only those
    /// that they would take.
    pub fn allowed(&self, draft: &Draft, place: usize, allowed: &mut TokenSet) {
        let mut candidates = Candidates::default();
        self.candidates(draft, place, &mut candidates);
        allowed.copy_from(&candidates.tokens);
        for token in candidates.doubtful.iter() {
            if !self.confirm(draft, place, token) {
                allowed.remove(token);
            }
        }
    }

    /// What may be put at a place; doubtful tokens need [`Plan::confirm`].
    pub(crate) fn candidates(&self, draft: &Draft, place: usize, candidates: &mut Candidates) {
        let filled = draft.line.get(place).copied().flatten();
        let group = self.layout.group_of.get(place).copied().flatten();
        if let (None, Some(g)) = (filled, group) {
            self.layout.candidates(draft, g, self.lexicon.words(), candidates);
            return;
        }
        candidates.tokens.reset(self.lexicon.size());
        candidates.doubtful.reset(self.lexicon.size());
        if let Some(token) = filled {
            candidates.tokens.insert(token);
        }
    }

    /// Whether the line can be finished after a doubtful token.
    pub(crate) fn confirm(&self, draft: &Draft, place: usize, token: TokenId) -> bool {
        let group = self.layout.group_of.get(place).copied().flatten();
        group.is_some_and(|g| self.layout.can_choose(draft, g, token, self.lexicon.words()))
    }

    /// Puts `token` at `place` and all places tied to it. Returns false and leaves the draft as it is if the
    /// token is not allowed there.
    pub fn choose(&self, draft: &mut Draft, place: usize, token: TokenId) -> bool {
        let mut candidates = Candidates::default();
        self.candidates(draft, place, &mut candidates);
        let fits = candidates.tokens.contains(token)
            && (!candidates.doubtful.contains(token) || self.confirm(draft, place, token));
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

    /// The weights of all constraints for a place that is open, by id; `None` if there are none.
    pub(crate) fn weigh<'w>(
        &'w self,
        draft: &Draft,
        place: usize,
        memory: &'w mut Weights,
    ) -> Option<&'w [f32]> {
        let own = self.layout.group_of[place].map_or(&[][..], |g| &self.layout.groups[g].weights);
        let Weights { values, used } = memory;
        if *used || values.len() != self.lexicon.size() {
            values.clear();
            values.resize(self.lexicon.size(), 0.0);
            *used = false;
        }
        for constraint in &self.constraints {
            *used |= constraint.get().weigh(&self.question, self.lexicon, draft, place, values);
        }
        if *used {
            values.iter_mut().zip(own).for_each(|(sum, weight)| *sum += weight);
            return Some(values);
        }
        (!own.is_empty()).then_some(own)
    }

    /// The tables of the vocabulary.
    pub(crate) fn lexicon(&self) -> &Lexicon {
        self.lexicon
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

/// Filled Han places.
fn hints(layout: &Layout, draft: &Draft) -> Vec<Option<TokenId>> {
    layout.group_of.iter().zip(&draft.line).map(|(group, &token)| group.and(token)).collect()
}

/// Keeps as many constraints as can hold together, the earlier ones first; says of each whether it is kept.
fn settle(
    question: &Question,
    lexicon: &Lexicon,
    tokens: &[TokenId],
    constraints: &[&dyn Constraint],
) -> Result<(Layout, Vec<bool>), DecodeError> {
    let mut kept = vec![true; constraints.len()];
    let failure = match lay_out(question, lexicon, tokens, constraints) {
        Ok(layout) => return Ok((layout, kept)),
        Err(failure) => failure,
    };
    let optional: Vec<usize> =
        (0..constraints.len()).filter(|&i| constraints[i].is_optional(question)).collect();
    for &i in &optional {
        kept[i] = false;
    }
    let required = chosen(constraints, &kept);
    let mut layout =
        if optional.is_empty() { Err(failure) } else { lay_out(question, lexicon, tokens, &required) }
            .map_err(|failure| explain(question, lexicon, tokens, required, failure))?;
    for i in optional {
        kept[i] = true;
        match lay_out(question, lexicon, tokens, &chosen(constraints, &kept)) {
            Ok(narrower) => layout = narrower,
            Err(_) => kept[i] = false,
        }
    }
    Ok((layout, kept))
}

fn chosen<'a>(constraints: &[&'a dyn Constraint], kept: &[bool]) -> Vec<&'a dyn Constraint> {
    constraints.iter().zip(kept).filter(|&(_, &kept)| kept).map(|(&constraint, _)| constraint).collect()
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
    Layout::new(demands, lexicon, |place| tokens[place])
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
