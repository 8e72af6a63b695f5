//! Relations over several places: which combinations of tokens may stand there together.

use std::collections::HashMap;
use std::sync::Arc;

use duilian_core::TokenId;

/// Combinations of tokens, written as rows of products: a row has a list of tokens for each column, and a
/// combination is in the table if some row has each of its tokens in the list of the token's column.
///
/// A table is made once and shared by all questions; it is indexed by token and column.
///
/// ```
/// use duilian_core::TokenId;
/// use duilian_decoder::RelationTable;
///
/// let ids = |ids: &[u16]| ids.iter().copied().map(TokenId).collect::<Vec<_>>();
/// let table = RelationTable::from_products(2, [vec![ids(&[1, 2]), ids(&[3])], vec![ids(&[4]), ids(&[4, 5])]]);
/// assert_eq!(table.len(), 2);
/// assert!(table.contains(&ids(&[2, 3])) && table.contains(&ids(&[4, 5])));
/// assert!(!table.contains(&ids(&[1, 5])));
/// ```
#[derive(Debug, Clone, Default)]
pub struct RelationTable {
    columns: usize,
    rows: usize,
    /// All lists, row by row, ascending.
    tokens: Vec<TokenId>,
    /// Where the lists end.
    ends: Vec<u32>,
    /// For each column the rows that have a token there, ascending.
    index: Vec<HashMap<TokenId, Vec<u32>>>,
}

impl RelationTable {
    /// One row a combination. Combinations of another length than `columns` are left out.
    pub fn from_tuples(columns: usize, tuples: impl IntoIterator<Item = Vec<TokenId>>) -> Self {
        let singletons = |tuple: Vec<TokenId>| tuple.into_iter().map(|token| vec![token]).collect();
        Self::from_products(columns, tuples.into_iter().map(singletons))
    }

    /// Rows of lists, one a column. Rows of another length than `columns`, and rows with an empty list, are
    /// left out.
    pub fn from_products(columns: usize, rows: impl IntoIterator<Item = Vec<Vec<TokenId>>>) -> Self {
        let index = vec![HashMap::new(); columns];
        let mut table = Self { columns, index, ..Self::default() };
        for row in rows {
            if row.len() != columns || row.iter().any(Vec::is_empty) {
                continue;
            }
            let number = table.rows as u32;
            for (column, mut list) in row.into_iter().enumerate() {
                list.sort_unstable();
                list.dedup();
                for &token in &list {
                    table.index[column].entry(token).or_default().push(number);
                }
                table.tokens.extend(list);
                table.ends.push(table.tokens.len() as u32);
            }
            table.rows += 1;
        }
        table
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row: a relation with this table never holds.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether a combination, one token a column, is in the table.
    pub fn contains(&self, combination: &[TokenId]) -> bool {
        combination.len() == self.columns
            && (0..self.rows).any(|row| {
                combination.iter().enumerate().all(|(column, &token)| self.has(row as u32, column, token))
            })
    }

    /// The tokens of a row in a column, ascending.
    pub(crate) fn list(&self, row: u32, column: usize) -> &[TokenId] {
        let cell = row as usize * self.columns + column;
        let from = if cell == 0 { 0 } else { self.ends[cell - 1] as usize };
        &self.tokens[from..self.ends[cell] as usize]
    }

    pub(crate) fn has(&self, row: u32, column: usize, token: TokenId) -> bool {
        self.list(row, column).binary_search(&token).is_ok()
    }

    /// The rows that have the token in the column, ascending.
    pub(crate) fn rows_with(&self, column: usize, token: TokenId) -> &[u32] {
        self.index[column].get(&token).map_or(&[], Vec::as_slice)
    }
}

/// A [`RelationTable`] laid on places of an answer.
///
/// ```
/// use std::sync::Arc;
/// use duilian_core::TokenId;
/// use duilian_decoder::{Relation, RelationTable};
///
/// // Places 0 and 3 rhyme: both have tokens of one class.
/// let classes = [vec![TokenId(1), TokenId(2)], vec![TokenId(3), TokenId(4)]];
/// let table = Arc::new(RelationTable::from_products(1, classes.map(|class| vec![class])));
/// let relation = Relation::of_one_class(table, &[0, 3]).distinct();
/// assert_eq!(relation.places().collect::<Vec<_>>(), [0, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct Relation {
    pub(crate) table: Arc<RelationTable>,
    /// Places with their columns.
    pub(crate) terms: Vec<(usize, usize)>,
    pub(crate) distinct: bool,
}

impl Relation {
    /// The columns of the table at `places`, in order; places without a column, and columns without a place,
    /// are free.
    pub fn new(table: Arc<RelationTable>, places: &[usize]) -> Self {
        let columns = table.columns();
        let terms = places.iter().copied().zip(0..columns).collect();
        Self { table, terms, distinct: false }
    }

    /// The first column of the table at all places: some row has the tokens of all of them.
    pub fn of_one_class(table: Arc<RelationTable>, places: &[usize]) -> Self {
        let terms = if table.columns() == 0 { Vec::new() } else { places.iter().map(|&p| (p, 0)).collect() };
        Self { table, terms, distinct: false }
    }

    /// Asks in addition that the places have different tokens, whatever else holds.
    #[must_use]
    pub fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }

    /// The places, in the order of the columns.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.terms.iter().map(|&(place, _)| place)
    }
}
