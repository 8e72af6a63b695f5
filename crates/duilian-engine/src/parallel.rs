//! Threads across lines.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use duilian_decoder::{Answer, DecodeError, Decoder, Question, StepModel};

/// Answers many questions on up to `threads` threads, in the order of the questions, as
/// [`Decoder::answer_batch`] does on one. Each thread takes batches of lines of one length; within a batch there is one
/// thread only, so that nothing waits. The crate's first page has an example.
///
/// With an [`Engine`](crate::Engine) the answers are the same for any number of threads.
pub fn answer_parallel<M: StepModel + Sync>(
    decoder: &Decoder,
    model: &M,
    questions: &[Question],
    threads: usize,
) -> Vec<Result<Vec<Answer>, DecodeError>> {
    if threads < 2 || questions.len() < 2 {
        return decoder.answer_batch(model, questions);
    }
    let mut by_length = BTreeMap::<usize, Vec<usize>>::new();
    for (i, question) in questions.iter().enumerate() {
        by_length.entry(question.line().len()).or_default().push(i);
    }
    let largest = questions.len().div_ceil(threads).min(decoder.options().max_batch_size).max(1);
    // Long lines first: a thread that ends early has short ones left to take.
    let batches: Vec<&[usize]> = by_length.values().rev().flat_map(|group| group.chunks(largest)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            let own: Vec<Question> = batch.iter().map(|&i| questions[i].clone()).collect();
            done.extend(batch.iter().copied().zip(decoder.answer_batch(model, &own)));
        }
        done
    };
    let mut results: Vec<_> = questions.iter().map(|_| Ok(Vec::new())).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(batches.len())).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok(done) => done.into_iter().for_each(|(i, result)| results[i] = result),
                // A model that panics does so on the caller's thread too.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    results
}
