//! What a plan offers, against all lines written out.

use std::collections::BTreeSet;
use std::sync::Arc;

use duilian_core::{Direction, Line, TokenId};
use proptest::collection::vec;
use proptest::prelude::*;

use super::Plan;
use crate::words::BlockedWord;
use crate::{Constraint, DecodeError, Demands, Draft, Lexicon, Question, Relation, RelationTable, TokenSet};

/// A relation of a small random problem: rows of products on places, or one class for all places.
#[derive(Debug, Clone)]
struct Rows {
    places: Vec<usize>,
    products: Vec<Vec<Vec<TokenId>>>,
    one_class: bool,
    distinct: bool,
}

impl Rows {
    fn relation(&self) -> Relation {
        let columns = if self.one_class { 1 } else { self.places.len() };
        let rows = self.products.iter().map(|row| row[..columns].to_vec());
        let table = Arc::new(RelationTable::from_products(columns, rows));
        let relation = if self.one_class {
            Relation::of_one_class(table, &self.places)
        } else {
            Relation::new(table, &self.places)
        };
        if self.distinct { relation.distinct() } else { relation }
    }

    fn holds(&self, line: &[TokenId]) -> bool {
        let column = |i: usize| if self.one_class { 0 } else { i };
        let fits = |row: &Vec<Vec<TokenId>>| {
            self.places.iter().enumerate().all(|(i, &place)| row[column(i)].contains(&line[place]))
        };
        let n = self.places.len();
        let differ = |i: usize| (0..i).all(|j| line[self.places[i]] != line[self.places[j]]);
        self.products.iter().any(fits) && (!self.distinct || (0..n).all(differ))
    }
}

/// Demands of a small random problem.
#[derive(Debug, Clone)]
struct Problem {
    size: u16,
    /// What may stand at each place, as bits.
    sets: Vec<u16>,
    ties: Vec<(usize, usize)>,
    all_different: bool,
    /// Which places have the same token, and only they.
    classes: Option<Vec<usize>>,
    words: Option<Vec<BlockedWord>>,
    relations: Vec<Rows>,
}

impl Constraint for Problem {
    fn name(&self) -> String {
        "the problem".into()
    }

    fn restrict(&self, _: &Question, lexicon: &Lexicon, demands: &mut Demands) {
        for (place, bits) in self.sets.iter().enumerate() {
            demands.keep(place, &TokenSet::from_fn(lexicon.size(), |id| bits >> id.0 & 1 == 1));
        }
        for &(a, b) in &self.ties {
            demands.tie(a, b);
        }
        if self.all_different {
            demands.all_different();
        }
        if let Some(classes) = &self.classes {
            demands.repeat_like(classes);
        }
        if self.words.is_some() {
            demands.no_blocked_words();
        }
        for relation in &self.relations {
            demands.relate(relation.relation());
        }
    }
}

impl Problem {
    fn plain(size: u16, sets: Vec<u16>) -> Self {
        let (ties, relations) = (Vec::new(), Vec::new());
        Self { size, sets, ties, all_different: true, classes: None, words: None, relations }
    }

    fn tied(&self) -> Vec<Vec<bool>> {
        let n = self.sets.len();
        let mut tied: Vec<Vec<bool>> = (0..n).map(|i| (0..n).map(|j| i == j).collect()).collect();
        let classes = self.classes.iter().flat_map(|classes| {
            (0..n).flat_map(move |a| (0..n).map(move |b| (a, b))).filter(|&(a, b)| classes[a] == classes[b])
        });
        for (a, b) in self.ties.iter().copied().chain(classes) {
            (tied[a][b], tied[b][a]) = (true, true);
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    tied[i][j] |= tied[i][k] && tied[k][j];
                }
            }
        }
        tied
    }

    fn has_word(&self, line: &[TokenId]) -> bool {
        self.words.iter().flatten().any(|word| {
            let covered = |start: usize| {
                word.contexts
                    .iter()
                    .any(|(context, offset)| start >= *offset && line[start - offset..].starts_with(context))
            };
            (0..line.len()).any(|start| line[start..].starts_with(&word.tokens) && !covered(start))
        })
    }

    fn holds(&self, line: &[TokenId]) -> bool {
        let tied = self.tied();
        let pairs = (0..line.len()).flat_map(|i| (0..line.len()).map(move |j| (i, j)));
        let all_different = self.all_different || self.classes.is_some();
        line.iter().zip(&self.sets).all(|(id, bits)| bits >> id.0 & 1 == 1)
            && pairs.into_iter().all(|(i, j)| {
                let unlike = self.classes.as_ref().is_some_and(|classes| classes[i] != classes[j]);
                let equal = line[i] == line[j];
                if tied[i][j] { equal && !unlike } else { !all_different || !equal }
            })
            && !self.has_word(line)
            && self.relations.iter().all(|relation| relation.holds(line))
    }

    fn all_lines(&self) -> BTreeSet<Vec<TokenId>> {
        let mut lines = vec![Vec::new()];
        for _ in &self.sets {
            let longer = |line: &Vec<TokenId>| {
                let line = line.clone();
                (0..self.size).map(move |id| [&line[..], &[TokenId(id)]].concat())
            };
            lines = lines.iter().flat_map(longer).collect();
        }
        lines.into_iter().filter(|line| self.holds(line)).collect()
    }
}

type Tokens = Vec<TokenId>;

/// Words of one to three tokens, some with a context of one or two tokens more.
fn words(size: u16) -> impl Strategy<Value = Vec<BlockedWord>> {
    let token = move || (0..size).prop_map(TokenId);
    let word = (vec(token(), 1..4), vec((vec(token(), 0..2), vec(token(), 0..2)), 0..3));
    let blocked = |(tokens, around): (Tokens, Vec<(Tokens, Tokens)>)| {
        let longer = around.into_iter().filter(|(before, after)| before.len() + after.len() > 0);
        let contexts = longer
            .map(|(before, after)| {
                let offset = before.len();
                ([before, tokens.clone(), after].concat().into_boxed_slice(), offset)
            })
            .collect();
        BlockedWord { tokens: tokens.into_boxed_slice(), contexts }
    };
    vec(word.prop_map(blocked), 0..8)
}

fn relations(size: u16, length: usize) -> impl Strategy<Value = Vec<Rows>> {
    let list = vec((0..size).prop_map(TokenId), 1..4);
    let place = 0..length;
    let relation = (1_usize..4).prop_flat_map(move |width| {
        let rows = vec(vec(list.clone(), width), 1..6);
        (vec(place.clone(), width), rows, any::<bool>(), any::<bool>())
    });
    let rows = |(places, rows, one_class, distinct)| Rows { places, products: rows, one_class, distinct };
    vec(relation.prop_map(rows), 0..3)
}

fn problems() -> impl Strategy<Value = Problem> {
    (3_u16..7, 1_usize..6).prop_flat_map(|(size, length)| {
        let full = (1_u16 << size) - 1;
        let set = prop_oneof![2 => Just(full), 1 => 1..=full];
        let ties = vec((0..length, 0..length), 0..3);
        let classes = proptest::option::of(vec(0..length, length));
        (
            vec(set, length),
            ties,
            any::<bool>(),
            classes,
            proptest::option::of(words(size)),
            relations(size, length),
        )
            .prop_map(move |(sets, ties, all_different, classes, words, relations)| Problem {
                size,
                sets,
                ties,
                all_different,
                classes,
                words,
                relations,
            })
    })
}

/// All lines that come of taking what is offered, at the places in the given order.
fn reachable(plan: &Plan<'_>, order: &[usize], draft: &Draft, lines: &mut BTreeSet<Vec<TokenId>>) {
    let Some((&place, rest)) = order.split_first() else {
        lines.insert(draft.tokens().iter().copied().flatten().collect());
        return;
    };
    let mut allowed = TokenSet::default();
    plan.allowed(draft, place, &mut allowed);
    assert!(!allowed.is_empty(), "dead end at place {place} of {draft:?}");
    for token in allowed.iter() {
        let mut next = draft.clone();
        assert!(plan.choose(&mut next, place, token));
        reachable(plan, rest, &next, lines);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn offers_exactly_what_can_be_finished(problem in problems(), backwards in any::<bool>()) {
        let lexicon = Lexicon::of_han(usize::from(problem.size), problem.words.as_deref().unwrap_or_default());
        let line = Line::from_chars(('\u{5000}'..).take(problem.sets.len()).collect()).expect("Han");
        let lines = problem.all_lines();
        match Plan::new(Question::new(line, Direction::UpperToLower), &lexicon, &[&problem]) {
            Ok(plan) => {
                let mut order: Vec<usize> = (0..problem.sets.len()).collect();
                if backwards {
                    order.reverse();
                }
                let mut found = BTreeSet::new();
                reachable(&plan, &order, &plan.draft(), &mut found);
                prop_assert_eq!(found, lines);
            }
            Err(DecodeError::Conflict { place, .. }) => {
                prop_assert!(lines.is_empty());
                prop_assert!((1..=problem.sets.len()).contains(&place));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

#[test]
fn tokens_that_are_not_allowed_change_nothing() {
    let problem = Problem::plain(3, vec![0b111, 0b001]);
    let lexicon = Lexicon::of_han(3, &[]);
    let line = Line::parse("天地").expect("valid");
    let plan = Plan::new(Question::new(line, Direction::UpperToLower), &lexicon, &[&problem]).expect("valid");
    let mut draft = plan.draft();
    assert_eq!(plan.free_places(), 1);
    assert!(!plan.choose(&mut draft, 0, TokenId(0)), "the last place needs it");
    assert!(!plan.choose(&mut draft, 7, TokenId(1)));
    assert_eq!(draft, plan.draft());
    assert!(plan.choose(&mut draft, 0, TokenId(2)));
    assert!(!plan.choose(&mut draft, 0, TokenId(1)), "already filled");
}

#[test]
fn the_last_free_token_is_kept_for_the_place_that_needs_it() {
    // The last place takes one of two tokens; the first choice leaves it only one of them.
    let problem = Problem::plain(3, vec![0b111, 0b111, 0b110]);
    let lexicon = Lexicon::of_han(3, &[]);
    let line = Line::parse("天地人").expect("valid");
    let plan = Plan::new(Question::new(line, Direction::UpperToLower), &lexicon, &[&problem]).expect("valid");
    let mut draft = plan.draft();
    assert!(plan.choose(&mut draft, 0, TokenId(1)));
    let mut allowed = TokenSet::default();
    plan.allowed(&draft, 1, &mut allowed);
    assert_eq!(allowed.iter().collect::<Vec<_>>(), [TokenId(0)]);
}
