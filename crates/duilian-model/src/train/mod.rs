//! Training: batches, loss, optimizer, checkpoints and the loop.

mod batch;
mod checkpoint;
mod config;
mod curve;
mod evaluation;
#[cfg(feature = "collective")]
mod exchange;
mod folder;
mod gradients;
mod loader;
mod loss;
mod observer;
mod optimizer;
mod permutation;
mod plan;
mod setup;
mod trainer;

pub use batch::{Batch, PreparedBatch, Target};
pub(crate) use batch::{FIRST_HAN, ids};
pub use config::TrainConfig;
pub use curve::{CurvePoint, TrainingCurve};
pub(crate) use evaluation::loss_of_pairs;
#[cfg(feature = "collective")]
pub use exchange::{DataParallel, train_on_devices};
pub use observer::{Flow, StepReport, TrainObserver, TrainSummary};
#[cfg(test)]
pub(crate) use plan::BatchPlan;
pub use setup::{Trainable, TrainerSetup, ValidationSet};
pub use trainer::Trainer;
