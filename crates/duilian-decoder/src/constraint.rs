//! What a constraint is.

use duilian_core::TokenId;

use crate::{Lexicon, Question, Relation, TokenSet};

/// A rule that answers must keep, or a preference among them.
///
/// All that does not depend on what is chosen is declared once a question ([`Constraint::restrict`]): sets of
/// tokens for places, ties, relations over several places, and weights. So a [`Plan`](crate::Plan) can look
/// ahead over all constraints at once: a token is offered only if the rest of the line can still be finished. A
/// preference that depends on what stands before ([`Constraint::weigh`]) sees the draft and changes the ranking,
/// never what is allowed.
///
/// ```
/// use duilian_decoder::{Constraint, Demands, Draft, Lexicon, Question};
///
/// /// Asks for one fixed character somewhere it must not be, and likes low ids.
/// struct NotAtTheStart(char);
///
/// impl Constraint for NotAtTheStart {
///     fn name(&self) -> String { format!("{} not at the start", self.0) }
///     fn restrict(&self, _: &Question, lexicon: &Lexicon, demands: &mut Demands) {
///         let mut others = lexicon.han().clone();
///         others.remove(lexicon.token(self.0));
///         demands.keep(0, &others);
///     }
///     fn weigh(&self, _: &Question, _: &Lexicon, _: &Draft, _: usize, weights: &mut [f32]) -> bool {
///         for (id, weight) in weights.iter_mut().enumerate() {
///             *weight -= id as f32 * 1e-3;
///         }
///         true
///     }
/// }
/// ```
pub trait Constraint: Send + Sync {
    /// The name by which errors call the constraint.
    fn name(&self) -> String;

    /// Whether the constraint is given up for a question that otherwise has no answer. Default: never.
    fn is_optional(&self, _question: &Question) -> bool {
        false
    }

    /// Declares what every answer to the question must keep, and what it had better have.
    fn restrict(&self, _question: &Question, _lexicon: &Lexicon, _demands: &mut Demands) {}

    /// Adds a weight in nats to each token for `place` after `draft`; `weights` has one entry an id. Returns
    /// whether anything was added. Default: nothing.
    fn weigh(
        &self,
        _question: &Question,
        _lexicon: &Lexicon,
        _draft: &Draft,
        _place: usize,
        _weights: &mut [f32],
    ) -> bool {
        false
    }
}

/// What the constraints together ask of the places of an answer. Places count from 0, marks included; those
/// out of range are left out.
#[derive(Debug, Clone)]
pub struct Demands {
    pub(crate) sets: Vec<TokenSet>,
    pub(crate) copied: Vec<bool>,
    /// For each place the first place with the same token.
    pub(crate) tied: Vec<usize>,
    /// Places of one class have the same token, and only they.
    pub(crate) classes: Option<Vec<usize>>,
    pub(crate) all_different: bool,
    pub(crate) no_blocked_words: bool,
    pub(crate) relations: Vec<Relation>,
    /// Weights in nats by id; empty where nothing is preferred.
    pub(crate) weights: Vec<Vec<f32>>,
}

impl Demands {
    /// Nothing is asked yet: every place takes every Han character and mark of the vocabulary.
    pub fn new(length: usize, lexicon: &Lexicon) -> Self {
        Self {
            sets: vec![lexicon.writable().clone(); length],
            copied: vec![false; length],
            tied: (0..length).collect(),
            classes: None,
            all_different: false,
            no_blocked_words: false,
            relations: Vec::new(),
            weights: vec![Vec::new(); length],
        }
    }

    /// Only tokens of the set may stand at the place.
    pub fn keep(&mut self, place: usize, set: &TokenSet) {
        if let Some(allowed) = self.sets.get_mut(place) {
            allowed.intersect(set);
        }
    }

    /// The token may not stand at the place.
    pub fn forbid(&mut self, place: usize, token: TokenId) {
        if let Some(allowed) = self.sets.get_mut(place) {
            allowed.remove(token);
        }
    }

    /// The answer has the question's own character at the place, in the vocabulary or not; nothing else that
    /// is asked of the place counts.
    pub fn copy(&mut self, place: usize) {
        if let Some(copied) = self.copied.get_mut(place) {
            *copied = true;
        }
    }

    /// Both places have the same token.
    pub fn tie(&mut self, one: usize, other: usize) {
        if let (Some(&a), Some(&b)) = (self.tied.get(one), self.tied.get(other)) {
            let first = a.min(b);
            if a == b {
                return;
            }
            for tied in &mut self.tied {
                if *tied == a || *tied == b {
                    *tied = first;
                }
            }
        }
    }

    /// Places that are not tied have different tokens; copied places do not take part.
    pub fn all_different(&mut self) {
        self.all_different = true;
    }

    /// Two places have the same token exactly if they have the same class; copied places do not take part.
    /// Ties beyond that are a conflict. A second call replaces the first.
    pub fn repeat_like(&mut self, classes: &[usize]) {
        for place in 0..self.tied.len().min(classes.len()) {
            if let Some(first) = classes[..place].iter().position(|&class| class == classes[place]) {
                self.tie(first, place);
            }
        }
        self.all_different = true;
        self.classes = Some(classes.to_vec());
    }

    /// No blocked word of the lexicon stands in the answer, but in its contexts.
    pub fn no_blocked_words(&mut self) {
        self.no_blocked_words = true;
    }

    /// The tokens at the places of the relation are a combination of its table. A relation with a place out of
    /// range is left out; one with a copied place cannot hold.
    pub fn relate(&mut self, relation: Relation) {
        if relation.places().all(|place| place < self.sets.len()) && !relation.terms.is_empty() {
            self.relations.push(relation);
        }
    }

    /// Adds `weight` nats to each token of the set at the place: a preference, never a demand.
    pub fn prefer(&mut self, place: usize, set: &TokenSet, weight: f32) {
        if let Some((weights, allowed)) = self.weights.get_mut(place).zip(self.sets.get(place)) {
            weights.resize(allowed.capacity(), 0.0);
            set.add_to(weights, weight);
        }
    }

    /// Adds `weight` nats to a token at the place.
    pub fn prefer_token(&mut self, place: usize, token: TokenId, weight: f32) {
        if let Some((weights, allowed)) = self.weights.get_mut(place).zip(self.sets.get(place)) {
            weights.resize(allowed.capacity(), 0.0);
            if let Some(slot) = weights.get_mut(token.index()) {
                *slot += weight;
            }
        }
    }
}

/// A partly filled answer. Choosing a token fills all places tied to its place at once, so later places may be
/// filled before earlier ones.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Draft {
    pub(crate) line: Vec<Option<TokenId>>,
    /// The line with a way to fill the places that are hard to fill; places filled since then count as in
    /// `line`.
    pub(crate) witness: Vec<Option<TokenId>>,
}

impl Draft {
    /// The tokens by place; `None` where nothing is chosen yet.
    pub fn tokens(&self) -> &[Option<TokenId>] {
        &self.line
    }
}

impl Clone for Draft {
    fn clone(&self) -> Self {
        Self { line: self.line.clone(), witness: self.witness.clone() }
    }

    // Searches copy drafts at every step: keep the memory.
    fn clone_from(&mut self, source: &Self) {
        self.line.clone_from(&source.line);
        self.witness.clone_from(&source.witness);
    }
}
