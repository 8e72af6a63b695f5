//! The demands on one answer, brought into the form in which they are kept.

use std::collections::BTreeSet;

use duilian_core::TokenId;

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
}

/// Why the demands cannot be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// There is no line; a place (from 0) that cannot be filled.
    Impossible { place: usize },
    /// Not found out.
    Exhausted,
}

/// The places of an answer as groups of equal ones.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) groups: Vec<Group>,
    /// The group of each place; `None` at copied places.
    pub(super) group_of: Vec<Option<usize>>,
    pub(super) all_different: bool,
    pub(super) no_blocked_words: bool,
    /// What all answers have, and a way to fill the tight groups.
    pub(super) start: Draft,
    /// Tokens that could take something away from tight groups; empty where no group is tight.
    pub(super) critical: TokenSet,
}

impl Layout {
    /// Brings demands into form and finds out whether they can be met. `copied` gives the token of a copied
    /// place.
    pub(super) fn new(
        demands: &Demands,
        lexicon: &Lexicon,
        copied: impl Fn(usize) -> TokenId,
    ) -> Result<Self, Failure> {
        let length = demands.sets.len();
        let mut layout = Self {
            groups: Vec::new(),
            group_of: vec![None; length],
            all_different: demands.all_different,
            no_blocked_words: demands.no_blocked_words,
            start: Draft { line: vec![None; length], witness: Vec::new() },
            critical: TokenSet::empty(lexicon.size()),
        };
        for place in 0..length {
            if demands.copied[place] {
                layout.start.line[place] = Some(copied(place));
            } else {
                layout.place_into_group(demands, place);
            }
        }
        if demands.no_blocked_words {
            let mut others = lexicon.writable().clone();
            lexicon.words().single().iter().for_each(|token| others.remove(token));
            layout.groups.iter_mut().for_each(|group| group.allowed.intersect(&others));
        }
        layout.fix_single_choices()?;
        layout.find_tight(lexicon.words());
        if let Some(word) =
            layout.no_blocked_words.then(|| lexicon.words().find(&layout.start.line)).flatten()
        {
            return Err(Failure::Impossible { place: word.start });
        }
        if layout.groups.iter().any(|group| group.tight) {
            layout.start.witness = layout.solve(&layout.start.line, lexicon.words())?;
        }
        Ok(layout)
    }

    fn place_into_group(&mut self, demands: &Demands, place: usize) {
        let same = |group: &Group| demands.tied[group.places[0]] == demands.tied[place];
        if let Some(g) = self.groups.iter().position(same) {
            self.groups[g].places.push(place);
            self.groups[g].allowed.intersect(&demands.sets[place]);
            self.group_of[place] = Some(g);
        } else {
            let allowed = demands.sets[place].clone();
            self.group_of[place] = Some(self.groups.len());
            self.groups.push(Group { places: vec![place], allowed, tight: false });
        }
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

    /// A group is not tight if, outside all blocked words, it has a token for itself whatever the other
    /// groups take: such a token always finishes the line, so nobody need look ahead for this group.
    fn find_tight(&mut self, words: &WordIndex) {
        let nothing = TokenSet::default();
        let parts = if self.no_blocked_words { words.parts() } else { &nothing };
        let open = |group: &Group| self.start.line[group.places[0]].is_none();
        let needed = if self.all_different { self.groups.iter().filter(|g| open(g)).count() } else { 1 };
        let tight: Vec<bool> =
            self.groups.iter().map(|g| open(g) && g.allowed.len_without(parts) < needed).collect();
        for (group, tight) in self.groups.iter_mut().zip(tight) {
            group.tight = tight;
            if tight {
                self.critical.unite(&group.allowed);
                self.critical.unite(parts);
            }
        }
    }

    /// The tokens chosen so far for groups.
    pub(super) fn taken<'a>(&'a self, line: &'a [Option<TokenId>]) -> impl Iterator<Item = TokenId> + 'a {
        self.groups.iter().filter_map(|group| line[group.places[0]])
    }

    /// Whether `token` can be put at the group, given that the line with the witness can be finished.
    pub(super) fn can_choose(&self, draft: &Draft, g: usize, token: TokenId, words: &WordIndex) -> bool {
        self.keeps_witness(draft, g, token, words) || self.solve(&self.with(draft, g, token), words).is_ok()
    }

    /// Puts `token`, which must be allowed, at the group.
    pub(super) fn fill(&self, draft: &mut Draft, g: usize, token: TokenId, words: &WordIndex) {
        let witness = if draft.witness.is_empty() || self.keeps_witness(draft, g, token, words) {
            None
        } else {
            self.solve(&self.with(draft, g, token), words).ok()
        };
        for &place in &self.groups[g].places {
            draft.line[place] = Some(token);
        }
        if let Some(witness) = witness {
            draft.witness = witness;
        }
    }

    fn with(&self, draft: &Draft, g: usize, token: TokenId) -> Vec<Option<TokenId>> {
        let mut line = draft.line.clone();
        self.groups[g].places.iter().for_each(|&place| line[place] = Some(token));
        line
    }

    /// Whether the witness still finishes the line after `token` is put at the group.
    fn keeps_witness(&self, draft: &Draft, g: usize, token: TokenId, words: &WordIndex) -> bool {
        let group = &self.groups[g];
        if draft.witness[group.places[0]] == Some(token) {
            return true;
        }
        let open = |other: &Group| other.tight && draft.line[other.places[0]].is_none();
        let clash = |(other, candidate): (usize, &Group)| {
            other != g && open(candidate) && draft.witness[candidate.places[0]] == Some(token)
        };
        if self.all_different && self.groups.iter().enumerate().any(clash) {
            return false;
        }
        if !self.no_blocked_words {
            return true;
        }
        let mut line = self.with(draft, g, token);
        for (slot, witness) in line.iter_mut().zip(&draft.witness) {
            *slot = slot.or(*witness);
        }
        words.find(&line).is_none()
    }

    /// Places (from 0) that are free to differ between answers.
    pub(super) fn free_places(&self) -> BTreeSet<usize> {
        (0..self.start.line.len()).filter(|&place| self.start.line[place].is_none()).collect()
    }
}
