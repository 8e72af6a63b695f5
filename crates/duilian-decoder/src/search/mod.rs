//! Searches over a batch of questions of one length.

mod batch;
mod beam;
mod forced;
mod nbest;
mod rescore;
mod sample;

pub(crate) use self::batch::{Job, log_prob, run};
pub(crate) use self::beam::{BeamJob, beam};
pub(crate) use self::forced::{ForcedJob, forced};
pub(crate) use self::nbest::{NBest, min_difference};
pub(crate) use self::rescore::{best_first, polish};
pub(crate) use self::sample::{SampleJob, sample};
