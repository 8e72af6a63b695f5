//! Finding a way to fill the groups that are hard to fill.

use std::collections::HashMap;

use duilian_core::TokenId;

use super::layout::{Failure, Layout};
use crate::TokenSet;
use crate::words::{BlockedWord, WordIndex};

/// Trials after which the search for a line that keeps all constraints is given up. Only relations and blocked
/// words make more than one trial necessary.
pub const SEARCH_LIMIT: usize = 10_000;

/// A group without a token yet, with what is left for it.
#[derive(Clone)]
struct Open {
    group: usize,
    domain: TokenSet,
}

impl Layout {
    /// The line with all tight groups filled so that no rule is broken. Groups that are not tight stay empty,
    /// unless a word needs them for a context: they can be filled whatever the others take.
    pub(super) fn solve(
        &self,
        line: &[Option<TokenId>],
        words: &WordIndex,
    ) -> Result<Vec<Option<TokenId>>, Failure> {
        let mut search = Search { layout: self, line, words, left: SEARCH_LIMIT };
        let tight = |&g: &usize| self.groups[g].tight && self.token(line, g).is_none();
        let mut open: Vec<Open> =
            (0..self.groups.len()).filter(tight).map(|group| search.open(group)).collect();
        // Groups with few choices first: they are matched without moving others.
        open.sort_by_key(|open| open.domain.len());
        if !self.relations.is_empty() {
            // Where there is no line even without the relations, no row need be tried.
            search.assign(&open)?;
        }
        search.relate(0, &open)
    }
}

/// The line being solved.
struct Search<'a> {
    layout: &'a Layout,
    line: &'a [Option<TokenId>],
    words: &'a WordIndex,
    left: usize,
}

type Solution = Result<Vec<Option<TokenId>>, Failure>;

impl Search<'_> {
    fn open(&self, group: usize) -> Open {
        let mut domain = self.layout.groups[group].allowed.clone();
        self.layout.subtract_taken(self.line, group, &mut domain);
        Open { group, domain }
    }

    fn impossible(&self, group: usize) -> Failure {
        Failure::Impossible { place: self.layout.groups[group].places[0] }
    }

    /// Chooses a row for each relation from the given one on, then tokens.
    fn relate(&mut self, from: usize, open: &[Open]) -> Solution {
        let (layout, line) = (self.layout, self.line);
        let Some(relation) = layout.relations.get(from) else { return self.assign_words(open) };
        // Looking for the only token of a domain takes longer than looking at a row.
        let own = |&(g, _): &(usize, usize)| {
            let only = || open.iter().find(|open| open.group == g).and_then(|open| open.domain.only());
            (g, layout.token(line, g).or_else(only))
        };
        let tokens: Vec<(usize, Option<TokenId>)> = relation.terms.iter().map(own).collect();
        let chosen = |g: usize| tokens.iter().find(|&&(group, _)| group == g).and_then(|&(_, token)| token);
        for &row in relation.rows(chosen).iter().filter(|&&row| relation.fits(row, chosen)) {
            self.left = self.left.checked_sub(1).ok_or(Failure::Exhausted)?;
            let mut narrower = open.to_vec();
            let mut possible = true;
            for &(g, column) in &relation.terms {
                if let Some(open) = narrower.iter_mut().find(|open| open.group == g) {
                    let mut kept = TokenSet::empty(open.domain.capacity());
                    let both =
                        relation.list(row, column).iter().filter(|&&token| open.domain.contains(token));
                    both.for_each(|&token| kept.insert(token));
                    open.domain = kept;
                    possible &= !open.domain.is_empty();
                }
            }
            if possible {
                match self.relate(from + 1, &narrower) {
                    Err(Failure::Impossible { .. }) => {}
                    found_or_given_up => return found_or_given_up,
                }
            }
        }
        Err(self.impossible(relation.terms[0].0))
    }

    /// Fills the groups without regard to words; where a word arises, some group of it must have another
    /// token, or a context must cover it: tries each of them.
    fn assign_words(&mut self, open: &[Open]) -> Solution {
        self.left = self.left.checked_sub(1).ok_or(Failure::Exhausted)?;
        let tokens = self.assign(open)?;
        let mut filled = self.line.to_vec();
        for (open, &token) in open.iter().zip(&tokens) {
            for &place in &self.layout.groups[open.group].places {
                filled[place] = Some(token);
            }
        }
        let words = self.words;
        let Some((start, word)) = self.layout.no_blocked_words.then(|| words.find(&filled)).flatten() else {
            return Ok(filled);
        };
        let standing = start..start + word.tokens.len();
        for (i, token) in tokens.into_iter().enumerate() {
            if self.layout.groups[open[i].group].places.iter().any(|place| standing.contains(place)) {
                let mut narrower = open.to_vec();
                narrower[i].domain.remove(token);
                match self.assign_words(&narrower) {
                    Err(Failure::Impossible { .. }) => {}
                    found_or_given_up => return found_or_given_up,
                }
            }
        }
        for narrower in self.contexts(open, word, start) {
            match self.assign_words(&narrower) {
                Err(Failure::Impossible { .. }) => {}
                found_or_given_up => return found_or_given_up,
            }
        }
        Err(Failure::Impossible { place: start })
    }

    /// What is left for the groups if a context covers the word at `start`: one entry a context that can.
    fn contexts(&self, open: &[Open], word: &BlockedWord, start: usize) -> Vec<Vec<Open>> {
        let covered = |(context, offset): &(Box<[TokenId]>, usize)| {
            let from = start.checked_sub(*offset)?;
            let window = from..from + context.len();
            self.line.get(window.clone())?;
            let mut narrower = open.to_vec();
            for (place, &token) in window.zip(context) {
                let Some(group) = self.layout.group_of[place].filter(|_| self.line[place].is_none()) else {
                    if self.line[place] == Some(token) {
                        continue;
                    }
                    return None;
                };
                let at = narrower.iter().position(|open| open.group == group).unwrap_or_else(|| {
                    narrower.push(self.open(group));
                    narrower.len() - 1
                });
                if !narrower[at].domain.contains(token) {
                    return None;
                }
                narrower[at].domain.reset(self.layout.groups[group].allowed.capacity());
                narrower[at].domain.insert(token);
            }
            Some(narrower)
        };
        word.contexts.iter().filter_map(covered).collect()
    }

    /// One token a group, different where that is asked.
    fn assign(&mut self, open: &[Open]) -> Result<Vec<TokenId>, Failure> {
        if let Some(empty) = open.iter().find(|open| open.domain.is_empty()) {
            return Err(self.impossible(empty.group));
        }
        if !self.layout.all_different {
            let mut tokens = Vec::with_capacity(open.len());
            return self.assign_in_turn(open, &mut tokens).map(|()| tokens);
        }
        // Bipartite matching by augmenting paths (Kuhn).
        let mut owners = HashMap::new();
        for (i, group) in open.iter().enumerate() {
            let free = group.domain.iter().find(|token| !owners.contains_key(token));
            if let Some(token) = free {
                owners.insert(token, i);
            } else if !augment(open, i, &mut owners, &mut TokenSet::empty(group.domain.capacity())) {
                return Err(self.impossible(group.group));
            }
        }
        let mut tokens = vec![TokenId::default(); open.len()];
        for (token, i) in owners {
            tokens[i] = token;
        }
        Ok(tokens)
    }

    /// Where only some groups must differ, they are few: tries one after another.
    fn assign_in_turn(&mut self, open: &[Open], tokens: &mut Vec<TokenId>) -> Result<(), Failure> {
        let i = tokens.len();
        let Some(group) = open.get(i) else { return Ok(()) };
        let mut failure = self.impossible(group.group);
        for token in group.domain.iter() {
            let clash = |j: usize| tokens[j] == token && self.layout.differ(group.group, open[j].group);
            if (0..i).any(clash) {
                continue;
            }
            self.left = self.left.checked_sub(1).ok_or(Failure::Exhausted)?;
            tokens.push(token);
            match self.assign_in_turn(open, tokens) {
                Err(Failure::Impossible { place }) => failure = Failure::Impossible { place },
                found_or_given_up => return found_or_given_up,
            }
            tokens.pop();
            // Another token changes nothing for groups that need not differ from this one.
            if !open[i + 1..].iter().any(|later| self.layout.differ(group.group, later.group)) {
                break;
            }
        }
        Err(failure)
    }
}

/// Finds a token for group `i`, moving others to other tokens where needed.
fn augment(open: &[Open], i: usize, owners: &mut HashMap<TokenId, usize>, visited: &mut TokenSet) -> bool {
    for token in open[i].domain.iter() {
        if visited.contains(token) {
            continue;
        }
        visited.insert(token);
        let owner = owners.get(&token).copied();
        if owner.is_none_or(|other| augment(open, other, owners, visited)) {
            owners.insert(token, i);
            return true;
        }
    }
    false
}
