//! Searches over a batch of questions of one length.

mod batch;
mod beam;
mod nbest;
mod sample;

pub(crate) use self::beam::{BeamJob, beam};
pub(crate) use self::nbest::{NBest, min_difference};
pub(crate) use self::sample::{SampleJob, sample};
