//! What a plan offers, against all lines written out.

use std::collections::BTreeSet;

use duilian_core::{Direction, Line, TokenId};
use proptest::collection::vec;
use proptest::prelude::*;

use super::Plan;
use crate::{Constraint, DecodeError, Demands, Draft, Lexicon, Question, TokenSet};

/// Demands of a small random problem.
#[derive(Debug, Clone)]
struct Problem {
    size: u16,
    /// What may stand at each place, as bits.
    sets: Vec<u16>,
    ties: Vec<(usize, usize)>,
    all_different: bool,
    words: Option<Vec<Vec<TokenId>>>,
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
        if self.words.is_some() {
            demands.no_blocked_words();
        }
    }
}

impl Problem {
    fn tied(&self) -> Vec<Vec<bool>> {
        let n = self.sets.len();
        let mut tied: Vec<Vec<bool>> = (0..n).map(|i| (0..n).map(|j| i == j).collect()).collect();
        for &(a, b) in &self.ties {
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

    fn holds(&self, line: &[TokenId]) -> bool {
        let tied = self.tied();
        let pairs = (0..line.len()).flat_map(|i| (0..line.len()).map(move |j| (i, j)));
        line.iter().zip(&self.sets).all(|(id, bits)| bits >> id.0 & 1 == 1)
            && pairs.into_iter().all(|(i, j)| {
                if tied[i][j] { line[i] == line[j] } else { !self.all_different || line[i] != line[j] }
            })
            && !self.words.iter().flatten().any(|word| line.windows(word.len()).any(|window| window == word))
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

fn problems() -> impl Strategy<Value = Problem> {
    (3_u16..7, 1_usize..6).prop_flat_map(|(size, length)| {
        let full = (1_u16 << size) - 1;
        let set = prop_oneof![Just(full), 1..=full];
        let word = vec((0..size).prop_map(TokenId), 1..4);
        let words = proptest::option::of(vec(word, 0..8));
        let ties = vec((0..length, 0..length), 0..3);
        (vec(set, length), ties, any::<bool>(), words).prop_map(move |(sets, ties, all_different, words)| {
            Problem { size, sets, ties, all_different, words }
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
    #![proptest_config(ProptestConfig::with_cases(1500))]

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
    let problem =
        Problem { size: 3, sets: vec![0b111, 0b001], ties: vec![], all_different: true, words: None };
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
    let problem =
        Problem { size: 3, sets: vec![0b111, 0b111, 0b110], ties: vec![], all_different: true, words: None };
    let lexicon = Lexicon::of_han(3, &[]);
    let line = Line::parse("天地人").expect("valid");
    let plan = Plan::new(Question::new(line, Direction::UpperToLower), &lexicon, &[&problem]).expect("valid");
    let mut draft = plan.draft();
    assert!(plan.choose(&mut draft, 0, TokenId(1)));
    let mut allowed = TokenSet::default();
    plan.allowed(&draft, 1, &mut allowed);
    assert_eq!(allowed.iter().collect::<Vec<_>>(), [TokenId(0)]);
}
