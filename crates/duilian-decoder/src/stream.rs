//! Answers one after another.

use std::collections::{BTreeMap, HashSet, VecDeque};

use duilian_core::TokenId;

use crate::decoder::{Run, SAMPLING_ROUNDS};
use crate::search::{NBest, polish};
use crate::{Answer, CancelToken, DecodeError, DecodeOptions, Plan, SearchMethod, StepModel};

/// Answers to one question as they are found; made by [`Decoder::stream`](crate::Decoder::stream).
///
/// After an error it ends.
pub struct Answers<'a, M: StepModel>(pub(crate) BatchAnswers<'a, M>);

impl<M: StepModel> Iterator for Answers<'_, M> {
    type Item = Result<Answer, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(_, answer)| answer)
    }
}

/// Answers to many questions as they are found, each with the index of its question; made by
/// [`Decoder::stream_batch`](crate::Decoder::stream_batch).
///
/// A question ends with its first error, the iterator when all questions have ended.
pub struct BatchAnswers<'a, M: StepModel> {
    model: &'a M,
    options: &'a DecodeOptions,
    cancel: CancelToken,
    /// Questions that have not ended.
    open: Vec<Entry<'a>>,
    ready: VecDeque<(usize, Result<Answer, DecodeError>)>,
}

struct Entry<'a> {
    question: usize,
    plan: Plan<'a>,
    list: NBest,
    round: usize,
    /// Lines given so far: polishing may lead to one of them.
    given: HashSet<Vec<TokenId>>,
    /// Rounds in a row that found nothing new.
    fruitless: usize,
}

impl<'a, M: StepModel> BatchAnswers<'a, M> {
    pub(crate) fn new(
        model: &'a M,
        options: &'a DecodeOptions,
        cancel: &CancelToken,
        plans: Vec<Result<Plan<'a>, DecodeError>>,
    ) -> Self {
        let mut answers =
            Self { model, options, cancel: cancel.clone(), open: Vec::new(), ready: VecDeque::new() };
        for (question, plan) in plans.into_iter().enumerate() {
            match plan {
                Ok(plan) => {
                    let run = Run { model, options, cancel };
                    let list = run.lists(&[&plan], usize::MAX).swap_remove(0);
                    answers.open.push(Entry {
                        question,
                        plan,
                        list,
                        round: 0,
                        given: HashSet::new(),
                        fruitless: 0,
                    });
                }
                Err(error) => answers.ready.push_back((question, Err(error))),
            }
        }
        answers
    }

    /// Runs one round for all open questions.
    fn advance(&mut self) {
        let mut by_length = BTreeMap::<usize, Vec<Entry<'a>>>::new();
        for entry in std::mem::take(&mut self.open) {
            by_length.entry(entry.plan.question().line().len()).or_default().push(entry);
        }
        for mut entries in by_length.into_values() {
            while !entries.is_empty() {
                let rest = entries.split_off(entries.len().min(self.options.max_batch_size));
                self.advance_batch(entries);
                entries = rest;
            }
        }
        // In the order of the questions, whatever their lengths; sorting keeps the order within a question.
        self.ready.make_contiguous().sort_by_key(|(question, _)| *question);
        self.open.sort_by_key(|entry| entry.question);
    }

    /// Questions of one length, and of one round as they all began together.
    fn advance_batch(&mut self, mut entries: Vec<Entry<'a>>) {
        match self.round(&mut entries) {
            Ok(found) => {
                for (mut entry, answers) in entries.into_iter().zip(found) {
                    entry.fruitless = if answers.is_empty() { entry.fruitless + 1 } else { 0 };
                    entry.round += 1;
                    let question = entry.question;
                    let given = &mut entry.given;
                    let new = answers.into_iter().filter(|answer| given.insert(answer.tokens.clone()));
                    self.ready.extend(new.map(|answer| (question, Ok(answer))));
                    let patience = match self.options.search {
                        SearchMethod::Sampling => SAMPLING_ROUNDS,
                        SearchMethod::Beam | SearchMethod::BestFirst => 1,
                    };
                    if entry.fruitless < patience {
                        self.open.push(entry);
                    }
                }
            }
            Err(error) => {
                let failed = entries.into_iter().map(|entry| (entry.question, Err(error.clone())));
                self.ready.extend(failed);
            }
        }
    }

    /// What is new, for each question.
    fn round(&self, entries: &mut [Entry<'a>]) -> Result<Vec<Vec<Answer>>, DecodeError> {
        let run = Run { model: self.model, options: self.options, cancel: &self.cancel };
        let round = entries.first().map_or(0, |entry| entry.round);
        let plans: Vec<&Plan<'_>> = entries.iter().map(|entry| &entry.plan).collect();
        let mut lists: Vec<NBest> = entries.iter().map(|entry| entry.list.clone()).collect();
        let all: Vec<usize> = (0..plans.len()).collect();
        let found = run.round(&plans, &lists, &all, round, |_| self.options.beam_size)?;
        let mut new = Vec::with_capacity(lists.len());
        for (list, answers) in lists.iter_mut().zip(found) {
            let before = list.chosen().len();
            list.add(answers);
            new.push(list.chosen()[before..].to_vec());
            list.forget_rest();
        }
        polish(self.model, &self.cancel, self.options, &plans, &mut new)?;
        for (entry, list) in entries.iter_mut().zip(lists) {
            entry.list = list;
        }
        Ok(new)
    }
}

impl<M: StepModel> Iterator for BatchAnswers<'_, M> {
    type Item = (usize, Result<Answer, DecodeError>);

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.open.is_empty() {
            self.advance();
        }
        self.ready.pop_front()
    }
}
