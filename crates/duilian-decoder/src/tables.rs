//! Tables of a vocabulary that only some questions need: made when first asked for, then shared.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use duilian_core::{Line, TokenId};
use duilian_prosody::{
    Device, Element, Tone, ToneBook, WordClass, elements, is_split, number_value, splits, syllables, tones,
    visible_components, word_classes,
};

use crate::{Lexicon, RelationTable, TokenSet};

/// Parts of a character beyond which no table of splits is made: three parts and the whole fill a clause.
const MOST_PARTS: usize = 4;

/// Sets of one [`WordClass`].
#[derive(Debug)]
struct Class {
    members: TokenSet,
    answering: TokenSet,
}

#[derive(Debug, Default)]
pub(crate) struct Tables {
    tones: OnceLock<[[TokenSet; 2]; 3]>,
    classes: OnceLock<[Class; 4]>,
    elements: OnceLock<[TokenSet; 5]>,
    components: OnceLock<Arc<RelationTable>>,
    homophones: OnceLock<Arc<RelationTable>>,
    splits: OnceLock<BTreeMap<usize, Arc<RelationTable>>>,
    numbers: OnceLock<BTreeMap<u64, Vec<TokenId>>>,
}

impl Lexicon {
    fn set_of(&self, member: impl Fn(char) -> bool) -> TokenSet {
        let han = self.han();
        TokenSet::from_fn(self.size(), |id| han.contains(id) && self.character(id).is_some_and(&member))
    }

    /// The Han characters with their ids.
    fn characters(&self) -> impl Iterator<Item = (TokenId, char)> + '_ {
        self.han().iter().filter_map(|id| Some((id, self.character(id)?)))
    }

    /// The ids of Han characters that can be read with the tone.
    pub fn tone(&self, tone: Tone, book: ToneBook) -> &TokenSet {
        const BOOKS: [ToneBook; 3] = [ToneBook::Pingshui, ToneBook::Modern, ToneBook::Either];
        let tables = self.tables().tones.get_or_init(|| {
            BOOKS.map(|book| Tone::ALL.map(|tone| self.set_of(|c| tones(c, book).contains(tone))))
        });
        let book = BOOKS.iter().position(|&b| b == book).unwrap_or(2);
        &tables[book][usize::from(tone == Tone::Oblique)]
    }

    fn class(&self, class: WordClass) -> &Class {
        let tables = self.tables().classes.get_or_init(|| {
            WordClass::ALL.map(|class| {
                let device = if class == WordClass::Number {
                    Device::Numbers { places: vec![0], progression: None }
                } else {
                    Device::Words { class, places: vec![0] }
                };
                let answers = |c| Line::from_chars(vec![c]).is_ok_and(|line| device.is_met_by(&line));
                Class {
                    members: self.set_of(|c| word_classes(c).any(|own| own == class)),
                    answering: self.set_of(answers),
                }
            })
        });
        &tables[WordClass::ALL.iter().position(|&c| c == class).unwrap_or(0)]
    }

    /// The ids of members of a word class.
    pub fn class_members(&self, class: WordClass) -> &TokenSet {
        &self.class(class).members
    }

    /// The ids of characters that answer members of a word class: its own, and those that may stand for one.
    pub fn class_answers(&self, class: WordClass) -> &TokenSet {
        &self.class(class).answering
    }

    /// The ids of characters that show an element.
    pub fn element(&self, element: Element) -> &TokenSet {
        let tables = self.tables().elements.get_or_init(|| {
            Element::ALL.map(|element| self.set_of(|c| elements(c).any(|own| own == element)))
        });
        &tables[Element::ALL.iter().position(|&e| e == element).unwrap_or(0)]
    }

    /// One column; a row for each component, with the characters in which it is seen.
    pub fn shared_components(&self) -> &Arc<RelationTable> {
        self.tables().components.get_or_init(|| {
            let mut rows = BTreeMap::<char, Vec<TokenId>>::new();
            for (id, c) in self.characters() {
                for part in visible_components(c) {
                    rows.entry(part).or_default().push(id);
                }
            }
            Arc::new(RelationTable::from_products(1, rows.into_values().map(|row| vec![row])))
        })
    }

    /// One column; a row for each syllable, with the characters that can be read so, whatever the tone.
    pub fn homophones(&self) -> &Arc<RelationTable> {
        self.tables().homophones.get_or_init(|| {
            let mut rows = BTreeMap::<&str, Vec<TokenId>>::new();
            for (id, c) in self.characters() {
                for syllable in syllables(c) {
                    rows.entry(syllable.text()).or_default().push(id);
                }
            }
            Arc::new(RelationTable::from_products(1, rows.into_values().map(|row| vec![row])))
        })
    }

    /// A character in the first column, its parts in the others, in every order; one table for each number of
    /// parts, two to four.
    pub fn splits(&self, parts: usize) -> Option<&Arc<RelationTable>> {
        let tables = self.tables().splits.get_or_init(|| {
            let mut tuples = BTreeMap::<usize, Vec<Vec<TokenId>>>::new();
            let mut known = HashMap::<char, Vec<Vec<TokenId>>>::new();
            for (id, c) in self.characters() {
                for way in splits(c) {
                    let tokens: Option<Vec<TokenId>> = way.iter().map(|&part| self.id(part)).collect();
                    let Some(mut tokens) = tokens.filter(|_| way.len() <= MOST_PARTS && is_split(c, &way))
                    else {
                        continue;
                    };
                    tokens.sort_unstable();
                    let ways = known.entry(c).or_default();
                    if !ways.contains(&tokens) {
                        let orders =
                            permutations(&tokens).into_iter().map(|order| [vec![id], order].concat());
                        tuples.entry(way.len()).or_default().extend(orders);
                        ways.push(tokens);
                    }
                }
            }
            let table = |(parts, tuples)| (parts, Arc::new(RelationTable::from_tuples(parts + 1, tuples)));
            tuples.into_iter().map(table).collect()
        });
        tables.get(&parts)
    }

    /// The ids of number characters by value.
    pub(crate) fn numbers(&self) -> &BTreeMap<u64, Vec<TokenId>> {
        self.tables().numbers.get_or_init(|| {
            let mut numbers = BTreeMap::<u64, Vec<TokenId>>::new();
            for (id, c) in self.characters() {
                if let Some(value) = number_value(c) {
                    numbers.entry(value).or_default().push(id);
                }
            }
            numbers
        })
    }
}

/// All orders of sorted tokens, each once.
fn permutations(tokens: &[TokenId]) -> Vec<Vec<TokenId>> {
    if tokens.is_empty() {
        return vec![Vec::new()];
    }
    let mut orders = Vec::new();
    for (i, &first) in tokens.iter().enumerate() {
        if i > 0 && tokens[i - 1] == first {
            continue;
        }
        let rest = [&tokens[..i], &tokens[i + 1..]].concat();
        orders.extend(permutations(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_once() {
        let orders = |tokens: &[u16]| permutations(&tokens.iter().copied().map(TokenId).collect::<Vec<_>>());
        assert_eq!(orders(&[1, 2, 3]).len(), 6);
        assert_eq!(orders(&[1, 1, 2]).len(), 3);
        assert_eq!(orders(&[]).len(), 1);
    }
}
