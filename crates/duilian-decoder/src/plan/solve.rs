//! Finding a way to fill the groups that are hard to fill.

use std::collections::HashMap;

use duilian_core::TokenId;

use super::layout::{Failure, Layout};
use crate::TokenSet;
use crate::words::WordIndex;

/// Trials after which the search for a line that keeps all constraints is given up. Only blocked words in tiny
/// vocabularies make more than one trial necessary.
pub const SEARCH_LIMIT: usize = 10_000;

/// A group without a token yet, with what is left for it.
#[derive(Clone)]
struct Open {
    group: usize,
    domain: TokenSet,
}

impl Layout {
    /// The line with all tight groups filled so that no rule is broken. Groups that are not tight stay empty:
    /// they can be filled whatever the others take.
    pub(super) fn solve(
        &self,
        line: &[Option<TokenId>],
        words: &WordIndex,
    ) -> Result<Vec<Option<TokenId>>, Failure> {
        let mut open = Vec::new();
        for (g, group) in self.groups.iter().enumerate() {
            if !group.tight || line[group.places[0]].is_some() {
                continue;
            }
            let mut domain = group.allowed.clone();
            if self.all_different {
                self.taken(line).for_each(|token| domain.remove(token));
            }
            if self.no_blocked_words {
                words.forbid(line, &group.places, &mut domain);
            }
            open.push(Open { group: g, domain });
        }
        // Groups with few choices first: they are matched without moving others.
        open.sort_by_key(|open| open.domain.len());
        let mut left = SEARCH_LIMIT;
        self.search(line, &open, words, &mut left)
    }

    /// Fills the groups without regard to words; where a word arises, some group of it must have another
    /// token: tries each of them.
    fn search(
        &self,
        line: &[Option<TokenId>],
        open: &[Open],
        words: &WordIndex,
        left: &mut usize,
    ) -> Result<Vec<Option<TokenId>>, Failure> {
        *left = left.checked_sub(1).ok_or(Failure::Exhausted)?;
        let tokens = self.assign(open)?;
        let mut filled = line.to_vec();
        for (open, token) in open.iter().zip(&tokens) {
            for &place in &self.groups[open.group].places {
                filled[place] = Some(*token);
            }
        }
        let Some(word) = self.no_blocked_words.then(|| words.find(&filled)).flatten() else {
            return Ok(filled);
        };
        for (i, token) in tokens.into_iter().enumerate() {
            if self.groups[open[i].group].places.iter().any(|place| word.contains(place)) {
                let mut narrower = open.to_vec();
                narrower[i].domain.remove(token);
                match self.search(line, &narrower, words, left) {
                    Err(Failure::Impossible { .. }) => {}
                    found_or_given_up => return found_or_given_up,
                }
            }
        }
        Err(Failure::Impossible { place: word.start })
    }

    /// One token a group, all different where that is asked: bipartite matching by augmenting paths (Kuhn).
    fn assign(&self, open: &[Open]) -> Result<Vec<TokenId>, Failure> {
        let impossible = |open: &Open| Failure::Impossible { place: self.groups[open.group].places[0] };
        if !self.all_different {
            return open.iter().map(|open| open.domain.iter().next().ok_or(impossible(open))).collect();
        }
        let mut owners = HashMap::new();
        for (i, group) in open.iter().enumerate() {
            let free = group.domain.iter().find(|token| !owners.contains_key(token));
            if let Some(token) = free {
                owners.insert(token, i);
            } else if !augment(open, i, &mut owners, &mut TokenSet::empty(1 << 16)) {
                return Err(impossible(group));
            }
        }
        let mut tokens = vec![TokenId::default(); open.len()];
        for (token, i) in owners {
            tokens[i] = token;
        }
        Ok(tokens)
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
