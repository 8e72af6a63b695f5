//! What has been computed for a batch of answers.

use std::sync::{Arc, Mutex};

use crate::EngineError;
use crate::kernel::Codes;

/// All that has been computed for a batch of answers. Rows are hypotheses; what belongs to a given line is kept once
/// for all its rows, and what was computed for an earlier place stays where it is: a row knows by number which rows it
/// comes from.
#[derive(Debug, Clone)]
pub struct EngineState {
    pub(crate) rows: usize,
    pub(crate) length: usize,
    /// Places done.
    pub(crate) place: usize,
    /// For each row, the line that it answers.
    pub(crate) source_of: Vec<u32>,
    /// For each row and each place done, the row that computed the place: `[rows, length]`.
    pub(crate) ancestors: Vec<u32>,
    /// For each line and place, keys and values for each decoder layer and what is added to the decoder's input:
    /// `[lines * length, memory_width]`.
    pub(crate) memory: Vec<f32>,
    /// For each layer, keys and values of the places done: those of all rows of the first place, then of the next.
    pub(crate) answered: Vec<Vec<f32>>,
    /// Number of rows before each place in `answered`.
    pub(crate) place_starts: Vec<usize>,
    /// Tokens that are scored, by line and place; empty if all are.
    pub(crate) candidates: Candidates,
    pub(crate) scratch: Scratch,
    /// Memory of the last selection, for the next.
    spare: (Vec<u32>, Vec<u32>),
    pool: Pool,
}

/// Large pieces of memory of states that are done, for the next ones: the system takes long to hand out new pages.
pub(crate) type Pool = Arc<Mutex<Vec<Buffers>>>;

/// Bytes up to which the memory of a state is kept, and the number of states whose memory is.
const KEPT: (usize, usize) = (24 << 20, 4);

/// What a [`Pool`] keeps of a state.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    memory: Vec<f32>,
    answered: Vec<Vec<f32>>,
    scratch: Scratch,
}

impl Drop for EngineState {
    fn drop(&mut self) {
        let numbers = self.memory.capacity() + self.answered.iter().map(Vec::capacity).sum::<usize>();
        if numbers * size_of::<f32>() <= KEPT.0
            && let Ok(mut pool) = self.pool.lock()
            && pool.len() < KEPT.1
        {
            let (memory, answered) = (std::mem::take(&mut self.memory), std::mem::take(&mut self.answered));
            pool.push(Buffers { memory, answered, scratch: std::mem::take(&mut self.scratch) });
        }
    }
}

/// Lists of tokens one after another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Candidates {
    pub(crate) tokens: Vec<u16>,
    /// Where each list ends.
    pub(crate) ends: Vec<usize>,
}

impl Candidates {
    pub(crate) fn list(&self, index: usize) -> &[u16] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.tokens[start..self.ends[index]]
    }
}

/// Room for the numbers between two layers, so that a step allocates nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    pub(crate) x: Vec<f32>,
    pub(crate) normed: Vec<f32>,
    /// Queries, keys and values, or the inner layer of the feed-forward part.
    pub(crate) wide: Vec<f32>,
    pub(crate) offsets: Vec<usize>,
    pub(crate) scores: Vec<f32>,
    pub(crate) codes: Codes,
}

impl Scratch {
    /// Makes room for rows of hidden vectors.
    pub(crate) fn resize(&mut self, rows: usize, d_model: usize, wide: usize, scores: usize) {
        self.x.resize(rows * d_model, 0.0);
        self.normed.resize(rows * d_model, 0.0);
        self.wide.resize(rows * wide, 0.0);
        if self.scores.len() < scores {
            self.scores.resize(scores, 0.0);
        }
    }
}

impl EngineState {
    pub(crate) fn new(lines: usize, length: usize, layers: usize, pool: &Pool) -> Self {
        let kept = pool.lock().ok().and_then(|mut pool| pool.pop()).unwrap_or_default();
        let Buffers { memory, mut answered, scratch } = kept;
        answered.resize_with(layers, Vec::new);
        answered.iter_mut().for_each(Vec::clear);
        Self {
            rows: lines,
            length,
            place: 0,
            source_of: (0..lines as u32).collect(),
            ancestors: vec![0; lines * length],
            memory,
            answered,
            place_starts: Vec::with_capacity(length),
            candidates: Candidates::default(),
            scratch,
            spare: Default::default(),
            pool: Arc::clone(pool),
        }
    }

    /// Replaces the rows by some of them. Only numbers of rows are copied.
    pub(crate) fn select(&mut self, rows: &[usize]) -> Result<(), EngineError> {
        if let Some(row) = rows.iter().find(|&&row| row >= self.rows) {
            return Err(EngineError::malformed(format!("row {row} of {} is asked for", self.rows)));
        }
        let (source_of, ancestors) = &mut self.spare;
        source_of.clear();
        ancestors.clear();
        for &row in rows {
            source_of.push(self.source_of[row]);
            ancestors.extend_from_slice(&self.ancestors[row * self.length..][..self.length]);
        }
        std::mem::swap(&mut self.source_of, source_of);
        std::mem::swap(&mut self.ancestors, ancestors);
        self.rows = rows.len();
        Ok(())
    }
}
