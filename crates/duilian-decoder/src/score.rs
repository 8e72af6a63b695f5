//! How probable a model finds lines that are given.

use std::collections::BTreeMap;

use duilian_core::{Line, TokenId, is_mark};
use serde::Serialize;

use crate::decoder::check_model;
use crate::search::{ForcedJob, forced};
use crate::{CancelToken, DecodeError, Lexicon, Question, Source, StepModel};

/// What a model thinks of a line as the answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineScore {
    /// Natural logarithm of the probability of each character, given those before it; 0 at marks. A character
    /// outside the vocabulary counts as its unknown token.
    pub place_log_probs: Vec<f32>,
    /// Sum over the Han places, in nats.
    pub log_prob: f64,
    /// [`Self::log_prob`] divided by the number of Han places.
    pub log_prob_per_character: f64,
}

impl LineScore {
    /// The log-probability of the least likely character.
    pub fn weakest(&self) -> f32 {
        self.place_log_probs.iter().copied().fold(0.0, f32::min)
    }
}

/// Scores lines as answers to one question, in one batch. With the question and the line changed, and the direction
/// reversed, it scores the other way: P(U|L) beside P(L|U).
///
/// Locked characters are given to the model as hints where all lines have them.
///
/// # Errors
/// [`DecodeError::LineLength`], [`DecodeError::TooLong`], [`DecodeError::VocabularySize`],
/// [`DecodeError::ScoreCount`], [`DecodeError::Model`].
pub fn score<M: StepModel>(
    model: &M,
    lexicon: &Lexicon,
    question: &Question,
    lines: &[Line],
) -> Result<Vec<LineScore>, DecodeError> {
    let pair = [(question.clone(), lines.to_vec())];
    Ok(score_batch(model, lexicon, &pair, usize::MAX, &CancelToken::new())?.swap_remove(0))
}

/// As [`score`] for many questions with lines of their own; questions of one length share batches, `batch` at most
/// (0 counts as 1). The results are in the order of the questions.
///
/// # Errors
/// As [`score`], for any of the questions; [`DecodeError::Cancelled`].
pub fn score_batch<M: StepModel>(
    model: &M,
    lexicon: &Lexicon,
    questions: &[(Question, Vec<Line>)],
    batch: usize,
    cancel: &CancelToken,
) -> Result<Vec<Vec<LineScore>>, DecodeError> {
    let mut results: Vec<Vec<LineScore>> = vec![Vec::new(); questions.len()];
    let mut by_length = BTreeMap::<usize, Vec<usize>>::new();
    for (i, (question, lines)) in questions.iter().enumerate() {
        check_model(model, lexicon, question)?;
        let expected = question.line().len();
        if let Some(line) = lines.iter().find(|line| line.len() != expected) {
            return Err(DecodeError::LineLength { got: line.len(), expected });
        }
        if !lines.is_empty() {
            by_length.entry(expected).or_default().push(i);
        }
    }
    for batch in by_length.values().flat_map(|indices| indices.chunks(batch.max(1))) {
        let jobs = batch.iter().map(|&i| job(lexicon, &questions[i].0, &questions[i].1)).collect();
        for (&i, log_probs) in batch.iter().zip(forced(model, cancel, jobs)?) {
            let given = questions[i].0.line();
            results[i] = log_probs.into_iter().map(|log_probs| line_score(given, log_probs)).collect();
        }
    }
    Ok(results)
}

fn job(lexicon: &Lexicon, question: &Question, lines: &[Line]) -> ForcedJob {
    let tokens = |line: &Line| line.chars().iter().map(|&c| lexicon.token(c)).collect::<Vec<TokenId>>();
    let lock = |place| {
        let lock = question.lock(place).filter(|&c| lines.iter().all(|line| line.chars()[place] == c));
        lock.and_then(|c| lexicon.id(c))
    };
    let hints = (0..question.line().len()).map(lock).collect();
    let source = Source { tokens: tokens(question.line()), hints, direction: question.direction() };
    ForcedJob { source, lines: lines.iter().map(tokens).collect() }
}

fn line_score(given: &Line, mut place_log_probs: Vec<f32>) -> LineScore {
    for (log_prob, &c) in place_log_probs.iter_mut().zip(given.chars()) {
        if is_mark(c) {
            *log_prob = 0.0;
        }
    }
    let log_prob: f64 = place_log_probs.iter().copied().map(f64::from).sum();
    LineScore { place_log_probs, log_prob, log_prob_per_character: log_prob / given.han_len() as f64 }
}
