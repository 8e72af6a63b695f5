//! Training: batches, loss, optimizer, checkpoints and the loop.

mod batch;
mod checkpoint;
mod config;
mod curve;
mod evaluation;
mod gradients;
mod loss;
mod optimizer;
mod trainer;

pub(crate) use batch::{HostBatch, ids};
pub use config::TrainConfig;
pub use curve::{CurvePoint, TrainingCurve};
pub use evaluation::LossSum;
pub(crate) use evaluation::loss_of_pairs;
pub use trainer::{Flow, StepReport, TrainObserver, TrainSummary, Trainer, TrainerSetup, ValidationSet};
