//! The demands on one answer, brought into the form in which they are kept.

use std::collections::BTreeSet;

use duilian_core::TokenId;

use super::related::Related;
use crate::constraint::Demands;
use crate::words::WordIndex;
use crate::{Draft, Lexicon, TokenSet};

/// Places that have the same token.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) places: Vec<usize>,
    /// What may stand at all of them.
    pub(super) allowed: TokenSet,
    /// Whether other places could use up what is allowed here, so that looking ahead is needed.
    pub(super) tight: bool,
    /// Weights in nats by id, summed over the places; empty if there are none.
    pub(super) weights: Vec<f32>,
}

/// Why the demands cannot be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// There is no line; a place (from 0) that cannot be filled.
    Impossible { place: usize },
    /// Not found out.
    Exhausted,
}

/// What may be put at a place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Candidates {
    /// All that is allowed, and perhaps more.
    pub(crate) tokens: TokenSet,
    /// Those of the tokens of which it is not sure that the line can be finished.
    pub(crate) doubtful: TokenSet,
}

/// The places of an answer as groups of equal ones.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) groups: Vec<Group>,
    /// The group of each place; `None` at copied places.
    pub(super) group_of: Vec<Option<usize>>,
    pub(super) all_different: bool,
    /// Pairs of groups that have different tokens even where not all have.
    distinct: Vec<(usize, usize)>,
    pub(super) no_blocked_words: bool,
    pub(super) relations: Vec<Related>,
    /// What all answers have, and a way to fill the tight groups.
    pub(super) start: Draft,
}

impl Layout {
    /// Brings demands into form and finds out whether they can be met. `copied` gives the token of a copied
    /// place.
    pub(super) fn new(
        mut demands: Demands,
        lexicon: &Lexicon,
        copied: impl Fn(usize) -> TokenId,
    ) -> Result<Self, Failure> {
        let length = demands.sets.len();
        let mut layout = Self {
            groups: Vec::new(),
            group_of: vec![None; length],
            all_different: demands.all_different,
            distinct: Vec::new(),
            no_blocked_words: demands.no_blocked_words,
            relations: Vec::new(),
            start: Draft { line: vec![None; length], witness: Vec::new() },
        };
        for place in 0..length {
            if demands.copied[place] {
                layout.start.line[place] = Some(copied(place));
            } else {
                layout.place_into_group(&mut demands, place)?;
            }
        }
        if demands.no_blocked_words {
            layout.groups.iter_mut().for_each(|group| group.allowed.subtract(lexicon.words().single()));
        }
        layout.bind_relations(&demands)?;
        layout.fix_single_choices()?;
        layout.check_distinct()?;
        layout.find_tight(lexicon.words());
        layout.start.witness = layout.solve(&layout.start.line, lexicon.words())?;
        Ok(layout)
    }

    fn place_into_group(&mut self, demands: &mut Demands, place: usize) -> Result<(), Failure> {
        let same = |group: &Group| demands.tied[group.places[0]] == demands.tied[place];
        let found = self.groups.iter().position(same);
        let weights = std::mem::take(&mut demands.weights[place]);
        let Some(g) = found else {
            let allowed = std::mem::take(&mut demands.sets[place]);
            self.group_of[place] = Some(self.groups.len());
            self.groups.push(Group { places: vec![place], allowed, tight: false, weights });
            return Ok(());
        };
        let group = &mut self.groups[g];
        let class = |place: usize| demands.classes.as_ref().and_then(|classes| classes.get(place));
        if class(group.places[0]) != class(place) {
            return Err(Failure::Impossible { place });
        }
        group.places.push(place);
        group.allowed.intersect(&demands.sets[place]);
        group.weights.resize(group.weights.len().max(weights.len()), 0.0);
        group.weights.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        self.group_of[place] = Some(g);
        Ok(())
    }

    fn bind_relations(&mut self, demands: &Demands) -> Result<(), Failure> {
        for relation in &demands.relations {
            let mut terms = Vec::with_capacity(relation.terms.len());
            for &(place, column) in &relation.terms {
                let g = self.group_of[place].ok_or(Failure::Impossible { place })?;
                if relation.distinct {
                    for &(other, _) in &terms {
                        if other == g {
                            return Err(Failure::Impossible { place });
                        }
                        self.distinct.push((other, g));
                    }
                }
                terms.push((g, column));
            }
            self.relations.push(Related::new(relation.table.clone(), terms));
        }
        while self
            .relations
            .iter_mut()
            .fold(false, |changed, r| changed | r.make_consistent(&mut self.groups))
        {}
        Ok(())
    }

    /// Fills groups that have only one choice, until none is left.
    fn fix_single_choices(&mut self) -> Result<(), Failure> {
        loop {
            if let Some(group) = self.groups.iter().find(|group| group.allowed.is_empty()) {
                return Err(Failure::Impossible { place: group.places[0] });
            }
            let open = |g: &usize| self.start.line[self.groups[*g].places[0]].is_none();
            let single = |g: usize| self.groups[g].allowed.only().map(|token| (g, token));
            let Some((g, token)) = (0..self.groups.len()).filter(open).find_map(single) else {
                return Ok(());
            };
            for &place in &self.groups[g].places {
                self.start.line[place] = Some(token);
            }
            if self.all_different {
                let others = self.groups.iter_mut().enumerate().filter(|&(other, _)| other != g);
                others.for_each(|(_, group)| group.allowed.remove(token));
            }
        }
    }

    /// Whether groups that must differ have different tokens where both are filled.
    fn check_distinct(&self) -> Result<(), Failure> {
        let same = |&&(a, b): &&(usize, usize)| {
            let token = self.token(&self.start.line, a);
            token.is_some() && token == self.token(&self.start.line, b)
        };
        match self.distinct.iter().find(same) {
            Some(&(_, g)) => Err(Failure::Impossible { place: self.groups[g].places[0] }),
            None => Ok(()),
        }
    }

    /// A group is not tight if it is in no relation and, outside all blocked words, has a token for itself
    /// whatever the other groups take: such a token always finishes the line, so nobody need look ahead for
    /// this group.
    fn find_tight(&mut self, words: &WordIndex) {
        let nothing = TokenSet::default();
        let parts = if self.no_blocked_words { words.parts() } else { &nothing };
        let open = |group: &Group| self.start.line[group.places[0]].is_none();
        let needed = if self.all_different { self.groups.iter().filter(|g| open(g)).count() } else { 1 };
        let related = |g: usize| self.relations.iter().any(|relation| relation.involves(g));
        let is_tight = |(g, group): (usize, &Group)| {
            open(group) && (related(g) || group.allowed.len_without(parts) < needed)
        };
        let tight: Vec<bool> = self.groups.iter().enumerate().map(is_tight).collect();
        self.groups.iter_mut().zip(tight).for_each(|(group, tight)| group.tight = tight);
    }

    /// The token of a group in a line.
    pub(super) fn token(&self, line: &[Option<TokenId>], g: usize) -> Option<TokenId> {
        line[self.groups[g].places[0]]
    }

    /// Whether two groups must have different tokens.
    pub(super) fn differ(&self, a: usize, b: usize) -> bool {
        a != b && (self.all_different || self.distinct.contains(&(a, b)) || self.distinct.contains(&(b, a)))
    }

    /// Takes out of `allowed` the tokens of groups from which the group must differ.
    pub(super) fn subtract_taken(&self, line: &[Option<TokenId>], g: usize, allowed: &mut TokenSet) {
        if !self.all_different && self.distinct.is_empty() {
            return;
        }
        for other in 0..self.groups.len() {
            if let Some(token) = self.token(line, other).filter(|_| self.differ(g, other)) {
                allowed.remove(token);
            }
        }
    }

    /// What may be put at a group that is open.
    pub(super) fn candidates(&self, draft: &Draft, g: usize, words: &WordIndex, candidates: &mut Candidates) {
        let Candidates { tokens, doubtful } = candidates;
        let group = &self.groups[g];
        tokens.copy_from(&group.allowed);
        self.subtract_taken(&draft.line, g, tokens);
        for relation in self.relations.iter().filter(|relation| relation.involves(g)) {
            relation.restrict(g, |other| self.token(&draft.line, other).filter(|_| other != g), tokens);
        }
        if let Some(own) = draft.witness[group.places[0]] {
            doubtful.copy_from(tokens);
            doubtful.remove(own);
            return;
        }
        // Without a token of its own in the witness, the group is free to take all that the witness does not need
        // and that completes no word.
        doubtful.reset(tokens.capacity());
        for other in 0..self.groups.len() {
            if let Some(token) = self.token(&draft.witness, other).filter(|_| self.differ(g, other)) {
                doubtful.insert(token);
            }
        }
        if self.no_blocked_words {
            words.completions(&draft.witness, &group.places, doubtful);
        }
        doubtful.intersect(tokens);
    }

    /// Whether a candidate can be put at the group, given that the line with the witness can be finished.
    pub(super) fn can_choose(&self, draft: &Draft, g: usize, token: TokenId, words: &WordIndex) -> bool {
        self.keeps_witness(draft, g, token, words)
            || self.solve(&self.with(&draft.line, g, token), words).is_ok()
    }

    /// Puts `token`, which must be allowed, at the group.
    pub(super) fn fill(&self, draft: &mut Draft, g: usize, token: TokenId, words: &WordIndex) {
        let kept = self.keeps_witness(draft, g, token, words);
        for &place in &self.groups[g].places {
            draft.line[place] = Some(token);
            draft.witness[place] = Some(token);
        }
        if !kept {
            // An allowed token leaves a solution.
            draft.witness = self.solve(&draft.line, words).unwrap_or_else(|_| draft.line.clone());
        }
    }

    fn with(&self, line: &[Option<TokenId>], g: usize, token: TokenId) -> Vec<Option<TokenId>> {
        let mut line = line.to_vec();
        self.groups[g].places.iter().for_each(|&place| line[place] = Some(token));
        line
    }

    /// Whether the witness still finishes the line after `token` is put at the group.
    fn keeps_witness(&self, draft: &Draft, g: usize, token: TokenId, words: &WordIndex) -> bool {
        let own = self.token(&draft.witness, g);
        if own == Some(token) {
            return true;
        }
        let clash = |other| self.token(&draft.witness, other) == Some(token) && self.differ(g, other);
        if (0..self.groups.len()).any(clash) {
            return false;
        }
        let chosen = |other| if other == g { Some(token) } else { self.token(&draft.witness, other) };
        if self.relations.iter().any(|relation| relation.involves(g) && !relation.holds(chosen)) {
            return false;
        }
        if !self.no_blocked_words || (own.is_none() && !words.parts().contains(token)) {
            return true;
        }
        words.find(&self.with(&draft.witness, g, token)).is_none()
    }

    /// Places (from 0) that are free to differ between answers.
    pub(super) fn free_places(&self) -> BTreeSet<usize> {
        (0..self.start.line.len()).filter(|&place| self.start.line[place].is_none()).collect()
    }
}
