//! What a run tells about itself.

use std::path::Path;

use serde::Serialize;

use super::{CurvePoint, TrainingCurve};

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// Go on. The default.
    #[default]
    Continue,
    /// Write a checkpoint and return.
    Stop,
}

/// What one step did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepReport {
    /// Steps done, this one included.
    pub step: u64,
    /// Characters learnt from, over all steps.
    pub characters: u64,
    /// Length of the run in characters.
    pub total_characters: u64,
    /// Loss of this step's batches per character in nats, smoothing left out.
    pub loss: f64,
    /// Learning rate of this step.
    pub rate: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f32,
    /// Characters per second since the run was started or resumed, validations and checkpoints left out.
    pub characters_per_second: f64,
    /// Share of that time in which the step waited for its batches.
    pub waiting_share: f64,
    /// Mean share of the queue of batches that was filled when one was asked for.
    pub queue_fill: f64,
}

/// Watches a run: progress bars, logs, stopping.
pub trait TrainObserver {
    /// After every step.
    fn on_step(&mut self, _report: &StepReport) -> Flow {
        Flow::Continue
    }

    /// After every validation.
    fn on_validation(&mut self, _point: &CurvePoint) -> Flow {
        Flow::Continue
    }

    /// After every checkpoint, with its file.
    fn on_checkpoint(&mut self, _path: &Path) {}
}

impl TrainObserver for () {}

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainSummary {
    /// Steps done.
    pub steps: u64,
    /// Characters learnt from.
    pub characters: u64,
    /// Whether the planned length was reached.
    pub finished: bool,
    /// The validations.
    pub curve: TrainingCurve,
}
