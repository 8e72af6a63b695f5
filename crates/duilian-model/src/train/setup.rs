//! What a run is made of.

use std::path::PathBuf;
use std::sync::Arc;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;

use super::TrainConfig;
use crate::{ModelConfig, ModelError, Network, NetworkConfig, ShardSet};

/// A network on a backend with gradients whose plain side is the same kind of network. Nothing needs to be written
/// for it: every such [`Network`] is one.
pub trait Trainable<A: AutodiffBackend>:
    Network<A> + AutodiffModule<A, InnerModule: Network<A::InnerBackend, Config = <Self as Network<A>>::Config>>
{
}

impl<A, M> Trainable<A> for M
where
    A: AutodiffBackend,
    M: Network<A> + AutodiffModule<A>,
    M::InnerModule: Network<A::InnerBackend, Config = <M as Network<A>>::Config>,
{
}

/// Pairs to measure the loss on, with a name for the curve.
#[derive(Debug, Clone)]
pub struct ValidationSet {
    /// Short name without commas.
    pub name: String,
    /// The pairs.
    pub shards: Arc<ShardSet>,
}

/// Everything that a run is made of.
#[derive(Debug, Clone)]
pub struct TrainerSetup<C = ModelConfig> {
    /// Sizes of the network.
    pub model: C,
    /// Settings of the run.
    pub train: TrainConfig,
    /// Training pairs.
    pub shards: Arc<ShardSet>,
    /// Validation pairs; the first set decides which weights are best.
    pub validation: Vec<ValidationSet>,
    /// Folder of the run: checkpoint, weights, curve, measurements.
    pub folder: PathBuf,
    /// Go on from the checkpoint in the folder if there is one; otherwise a folder with a checkpoint is refused.
    /// Length of the run, the intervals of validations, checkpoints and measurements, and the loader's threads may
    /// differ from the run before.
    pub resume: bool,
    /// Weights to start from instead of random ones.
    pub start_from: Option<PathBuf>,
}

impl<C: NetworkConfig> TrainerSetup<C> {
    pub(crate) fn validate(&self) -> Result<(), ModelError> {
        self.train.validate()?;
        self.model.check()?;
        let (found, wanted) = (self.shards.vocabulary_size(), self.model.vocabulary_size());
        if found == wanted {
            return Ok(());
        }
        let reason = format!("the shards have {found}, the model {wanted}");
        Err(ModelError::InvalidConfig { field: "vocabulary_size", reason })
    }
}
