//! What a model thinks of lines that are given.

use duilian_core::TokenId;

use super::batch::{Job, log_prob, run};
use crate::{CancelToken, DecodeError, Source, StepModel};

/// Lines that answer one source.
pub(crate) struct ForcedJob {
    pub(crate) source: Source,
    /// Each as long as the source.
    pub(crate) lines: Vec<Vec<TokenId>>,
}

/// The log-probability of each token of each line of each job, given those before it. Sources have one length.
pub(crate) fn forced<M: StepModel>(
    model: &M,
    cancel: &CancelToken,
    jobs: Vec<ForcedJob>,
) -> Result<Vec<Vec<Vec<f32>>>, DecodeError> {
    let mut rows: Vec<Forced> =
        jobs.into_iter().filter(|job| !job.lines.is_empty()).map(Forced::new).collect();
    run(model, cancel, &mut rows)?;
    Ok(rows.into_iter().map(|row| row.log_probs).collect())
}

struct Forced {
    job: ForcedJob,
    log_probs: Vec<Vec<f32>>,
    started: bool,
}

impl Forced {
    fn new(job: ForcedJob) -> Self {
        let log_probs = vec![Vec::with_capacity(job.source.tokens.len()); job.lines.len()];
        Self { job, log_probs, started: false }
    }
}

impl Job for Forced {
    fn source(&self) -> Source {
        self.job.source.clone()
    }

    fn rows(&self) -> usize {
        if self.started { self.job.lines.len() } else { 1 }
    }

    fn advance(&mut self, place: usize, scores: &[f32], parents: &mut Vec<usize>, tokens: &mut Vec<TokenId>) {
        let vocabulary = scores.len() / self.rows();
        for (i, (line, log_probs)) in self.job.lines.iter().zip(&mut self.log_probs).enumerate() {
            let parent = if self.started { i } else { 0 };
            log_probs.push(log_prob(&scores[parent * vocabulary..(parent + 1) * vocabulary], line[place]));
            parents.push(parent);
            tokens.push(line[place]);
        }
        self.started = true;
    }
}
