//! Batches made ahead of their use by threads of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::ModelError;

/// What a loader makes for a number.
type Made<T> = Result<T, ModelError>;

/// Makes the items of consecutive numbers in several threads and hands them out in order, at most so many ahead.
///
/// Thread `t` of `n` makes every `n`th item, into a queue of its own, so the order does not depend on who is
/// faster, and a full queue stops its thread.
#[derive(Debug)]
pub(crate) struct Loader<T> {
    queues: Vec<Receiver<Made<T>>>,
    /// Items that are ready or being handed over.
    ready: Arc<AtomicUsize>,
    capacity: usize,
    next: usize,
    waited: Duration,
    /// Sum over all requests of the share of the queue that was filled, and the number of requests.
    fill: (f64, u64),
}

impl<T: Send + 'static> Loader<T> {
    /// Starts the threads. They end when the loader is dropped, and after the first error.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if the system refuses to start a thread.
    pub(crate) fn start(
        threads: usize,
        batches_ahead: usize,
        first: u64,
        make: impl Fn(u64) -> Made<T> + Send + Sync + 'static,
    ) -> Made<Self> {
        let threads = threads.max(1);
        let depth = batches_ahead.div_ceil(threads).max(1);
        let make = Arc::new(make);
        let ready = Arc::new(AtomicUsize::new(0));
        let mut queues = Vec::with_capacity(threads);
        for thread in 0..threads as u64 {
            let (sender, receiver) = sync_channel(depth);
            let (make, ready) = (Arc::clone(&make), Arc::clone(&ready));
            let numbers = (first + thread..).step_by(threads);
            std::thread::Builder::new()
                .name(format!("duilian-loader-{thread}"))
                .spawn(move || fill(&*make, numbers, &sender, &ready))
                .map_err(|e| ModelError::Malformed { reason: format!("threads cannot be started: {e}") })?;
            queues.push(receiver);
        }
        let capacity = depth * threads;
        Ok(Self { queues, ready, capacity, next: 0, waited: Duration::ZERO, fill: (0.0, 0) })
    }

    /// The next item; waits for it if it is not ready.
    ///
    /// # Errors
    /// What the maker of the item says.
    pub(crate) fn next(&mut self) -> Made<T> {
        let started = Instant::now();
        self.fill.0 += self.ready.load(Ordering::Relaxed).min(self.capacity) as f64 / self.capacity as f64;
        self.fill.1 += 1;
        let item = self.queues[self.next]
            .recv()
            .map_err(|_| ModelError::Malformed { reason: "a loader thread has ended".to_owned() })?;
        self.ready.fetch_sub(1, Ordering::Relaxed);
        self.next = (self.next + 1) % self.queues.len();
        self.waited += started.elapsed();
        item
    }

    /// Time spent waiting for items so far.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// Mean share of the queue that was filled when an item was asked for.
    pub(crate) fn mean_fill(&self) -> f64 {
        if self.fill.1 == 0 { 0.0 } else { self.fill.0 / self.fill.1 as f64 }
    }
}

fn fill<T>(
    make: &(impl Fn(u64) -> Made<T> + ?Sized),
    numbers: impl Iterator<Item = u64>,
    sender: &SyncSender<Made<T>>,
    ready: &AtomicUsize,
) {
    for number in numbers {
        let item = make(number);
        let failed = item.is_err();
        // Counted before it is sent: the receiver must not take away what was never added.
        ready.fetch_add(1, Ordering::Relaxed);
        if sender.send(item).is_err() || failed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_the_same_for_any_number_of_threads() {
        for threads in [1, 2, 3, 4, 7] {
            let mut loader = Loader::start(threads, 4, 10, |number| {
                // Some items take longer than others.
                std::thread::sleep(Duration::from_micros(number * 7_919 % 300));
                Ok(number * number)
            })
            .expect("starts");
            let found: Vec<u64> = (0..100).map(|_| loader.next().expect("is made")).collect();
            assert_eq!(found, (10..110).map(|n| n * n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_more_is_made_ahead_than_asked_for() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&made);
        let mut loader = Loader::start(2, 4, 0, move |number| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(number * number)
        })
        .expect("starts");
        assert_eq!(loader.next().expect("is made"), 0);
        std::thread::sleep(Duration::from_millis(50));
        // One taken, four in the queues, and one in the hands of each thread.
        assert!(made.load(Ordering::SeqCst) <= 7, "{}", made.load(Ordering::SeqCst));
        assert_eq!(loader.next().expect("is made"), 1);
        assert!(loader.mean_fill() > 0.0 && loader.mean_fill() <= 1.0);
    }

    #[test]
    fn an_error_arrives_in_its_turn() {
        let make = |number| if number == 3 { Err(ModelError::NoTrainingData) } else { Ok(number * number) };
        let mut loader = Loader::start(2, 4, 0, make).expect("starts");
        for number in 0..3 {
            assert_eq!(loader.next().expect("is made"), number * number);
        }
        assert!(matches!(loader.next(), Err(ModelError::NoTrainingData)));
    }
}
