//! Relations on groups of places.

use std::sync::Arc;

use duilian_core::TokenId;

use super::layout::Group;
use crate::{RelationTable, TokenSet};

/// A relation with groups in the place of places.
#[derive(Debug, Clone)]
pub(super) struct Related {
    table: Arc<RelationTable>,
    /// Groups with the columns of their tokens; a group that stands at several places has several columns.
    pub(super) terms: Vec<(usize, usize)>,
    /// Rows that what is allowed leaves possible.
    alive: Vec<u32>,
}

impl Related {
    pub(super) fn new(table: Arc<RelationTable>, terms: Vec<(usize, usize)>) -> Self {
        let alive = (0..table.len() as u32).collect();
        Self { table, terms, alive }
    }

    pub(super) fn involves(&self, group: usize) -> bool {
        self.terms.iter().any(|&(g, _)| g == group)
    }

    /// Leaves what some row supports in the allowed tokens of its groups. Returns whether anything changed.
    pub(super) fn make_consistent(&mut self, groups: &mut [Group]) -> bool {
        let Self { table, terms, alive } = self;
        let rows = alive.len();
        alive.retain(|&row| {
            let possible = |&(g, column): &(usize, usize)| {
                table.list(row, column).iter().any(|&token| groups[g].allowed.contains(token))
            };
            terms.iter().all(possible)
        });
        let mut changed = alive.len() < rows;
        for &(g, column) in terms.iter() {
            let mut support = TokenSet::empty(groups[g].allowed.capacity());
            for &row in alive.iter() {
                table.list(row, column).iter().for_each(|&token| support.insert(token));
            }
            let before = groups[g].allowed.len();
            groups[g].allowed.intersect(&support);
            changed |= groups[g].allowed.len() < before;
        }
        changed
    }

    /// Rows that may fit the tokens chosen so far: all that fit are among them.
    pub(super) fn rows(&self, token: impl Fn(usize) -> Option<TokenId>) -> &[u32] {
        let chosen = self.terms.iter().filter_map(|&(g, column)| Some((column, token(g)?)));
        let rows = chosen.map(|(column, token)| self.table.rows_with(column, token));
        rows.min_by_key(|rows| rows.len()).unwrap_or(&self.alive)
    }

    /// Whether a row has the tokens chosen so far.
    pub(super) fn fits(&self, row: u32, token: impl Fn(usize) -> Option<TokenId>) -> bool {
        self.terms.iter().all(|&(g, column)| token(g).is_none_or(|token| self.table.has(row, column, token)))
    }

    /// The tokens that the row has for a term.
    pub(super) fn list(&self, row: u32, column: usize) -> &[TokenId] {
        self.table.list(row, column)
    }

    /// Whether the tokens, which are all chosen, are a combination of the table.
    pub(super) fn holds(&self, token: impl Fn(usize) -> Option<TokenId>) -> bool {
        self.rows(&token).iter().any(|&row| self.fits(row, &token))
    }

    /// Takes out of `allowed` what no row that fits the tokens chosen so far has for the group.
    pub(super) fn restrict(
        &self,
        g: usize,
        token: impl Fn(usize) -> Option<TokenId>,
        allowed: &mut TokenSet,
    ) {
        // Where nothing is chosen, what is allowed is supported already.
        if !self.terms.iter().any(|&(other, _)| other != g && token(other).is_some()) {
            return;
        }
        for &(_, column) in self.terms.iter().filter(|&&(other, _)| other == g) {
            let mut support = TokenSet::empty(allowed.capacity());
            for &row in self.rows(&token) {
                if self.fits(row, &token) {
                    self.list(row, column).iter().for_each(|&token| support.insert(token));
                }
            }
            allowed.intersect(&support);
        }
    }
}
