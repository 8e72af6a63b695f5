//! The model of duilian: an encoder-decoder transformer aligned place by place, its training loop on burn, and
//! its step-by-step use by the decoder.
//!
//! Backends: feature `flex` (default) computes on the processor, feature `cuda` on NVIDIA devices with fusion
//! and autotune. Everything is generic over burn's `Backend`, so any other backend of burn 0.21 works as well.

mod error;
mod inference;
mod network;
mod seq2seq;
mod shard;
mod storage;
mod train;

pub use duilian_core::LossSum;
pub use duilian_weights::{
    ModelConfig, ModelWeights, NetworkConfig, NetworkWeights, WeightFormat, WeightsError,
};
pub use error::ModelError;
pub use inference::{AlignedModel, AlignedState};
pub use network::{AlignedTransformer, Network, Precision};
pub use seq2seq::{AttentionSeq2Seq, Seq2SeqConfig, Seq2SeqModel, Seq2SeqState};
pub use shard::{Segment, ShardSet, ShardWriter, TokenPair, Verification};
pub use storage::NetworkWeightsExt;
pub use train::{
    Batch, CurvePoint, Flow, PreparedBatch, StepReport, Target, TrainConfig, TrainObserver, TrainSummary,
    Trainable, Trainer, TrainerSetup, TrainingCurve, ValidationSet,
};

#[cfg(feature = "collective")]
pub use train::{DataParallel, train_on_devices};

/// The backend that computes without being asked for another: flex, on the processor.
#[cfg(feature = "flex")]
pub type DefaultBackend = burn_flex::Flex;

/// The device of [`DefaultBackend`].
#[cfg(feature = "flex")]
pub type DefaultDevice = burn_flex::FlexDevice;

/// The backend that trains without being asked for another.
#[cfg(feature = "flex")]
pub type AutodiffBackend = burn::backend::Autodiff<burn_flex::Flex>;

/// NVIDIA devices, in single precision.
#[cfg(feature = "cuda")]
pub type CudaBackend = burn::backend::Cuda<f32, i32>;

/// Training on NVIDIA devices.
#[cfg(feature = "cuda")]
pub type CudaAutodiffBackend = burn::backend::Autodiff<CudaBackend>;
