//! From characters to ids in two array accesses.

use duilian_core::TokenId;

const BLOCK: usize = 256;

/// A two-stage table: the upper bits of a code point choose a block, the lower bits a place in it. Han characters
/// lie close together, so 8,000 of them need about 100 blocks (50 kB).
#[derive(Debug, Clone)]
pub(crate) struct CharTable {
    /// Index of the block for each `code point / 256`; block 0 is empty. Shorter than the range of `char`.
    pages: Vec<u16>,
    /// Ids; 0 for "not here", which is free because id 0 is a special token.
    blocks: Vec<[u16; BLOCK]>,
}

impl CharTable {
    /// A table of these characters; of a character that comes twice, the last id stays. Ids are not 0.
    pub(crate) fn new(entries: impl Iterator<Item = (char, TokenId)>) -> Self {
        let mut table = Self { pages: Vec::new(), blocks: vec![[0; BLOCK]] };
        for (character, id) in entries {
            let (page, place) = position(character);
            if table.pages.len() <= page {
                table.pages.resize(page + 1, 0);
            }
            if table.pages[page] == 0 {
                table.pages[page] = table.blocks.len() as u16; // fewer than 4,352 pages exist
                table.blocks.push([0; BLOCK]);
            }
            table.blocks[usize::from(table.pages[page])][place] = id.0;
        }
        table
    }

    pub(crate) fn get(&self, character: char) -> Option<TokenId> {
        let (page, place) = position(character);
        let block = usize::from(*self.pages.get(page)?);
        let id = self.blocks[block][place];
        (id != 0).then_some(TokenId(id))
    }
}

fn position(character: char) -> (usize, usize) {
    let code = character as usize;
    (code / BLOCK, code % BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_map(
            entries in prop::collection::btree_map(any::<char>(), 1..=u16::MAX, 0..200),
            probes in prop::collection::vec(any::<char>(), 0..200),
        ) {
            let table = CharTable::new(entries.iter().map(|(&c, &id)| (c, TokenId(id))));
            for c in entries.keys().copied().chain(probes) {
                prop_assert_eq!(table.get(c).map(|id| id.0), entries.get(&c).copied());
            }
        }
    }
}
