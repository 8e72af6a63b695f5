//! What the training loop asks of a network.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use duilian_weights::NetworkConfig;

use super::linear::Precision;
use crate::ModelError;
use crate::train::{Batch, PreparedBatch, Target};

/// A network that [`Trainer`](crate::Trainer) trains: it reads embedded tokens and gives hidden vectors, whose
/// products with the same embedding table are the scores of the tokens (Press & Wolf 2017).
///
/// The table stays outside of the network's own graph: the trainer looks up its rows, hands them to
/// [`Network::hidden`], and computes the loss and the gradient of the table itself.
pub trait Network<B: Backend>: Module<B> + std::fmt::Debug + Send + Sync {
    /// Its sizes.
    type Config: NetworkConfig;

    /// A network with random weights that depend on nothing but sizes and seed.
    ///
    /// # Errors
    /// [`ModelError::Weights`] if the sizes do not fit together.
    fn drawn(config: &Self::Config, seed: u64, device: &B::Device) -> Result<Self, ModelError>;

    /// A network whose weights are still to be set.
    ///
    /// # Errors
    /// [`ModelError::Weights`] if the sizes do not fit together.
    fn blank(config: &Self::Config, device: &B::Device) -> Result<Self, ModelError>;

    /// Embedding and output table, `[vocabulary, width]`.
    fn table(&self) -> &Param<Tensor<B, 2>>;

    /// The tokens of a batch that the network wants embedded, in an order of its own.
    fn tokens(batch: &Batch) -> Vec<u16>;

    /// What the network learns to predict from a batch; places are rows of [`Network::hidden`].
    fn targets(batch: &Batch) -> Vec<Target>;

    /// Hidden vectors, `[places, width]`, from the embedded [`Network::tokens`], `[tokens, width]`.
    fn hidden(&self, batch: &PreparedBatch<B>, embedded: Tensor<B, 2>) -> Tensor<B, 2>;

    /// Chooses the numbers in which products are computed. Does nothing unless the network knows more than one kind.
    fn set_precision(&mut self, _precision: Precision) {}

    /// Puts a batch on the device.
    fn prepare(batch: Batch, device: &B::Device) -> PreparedBatch<B> {
        let (tokens, targets) = (Self::tokens(&batch), Self::targets(&batch));
        PreparedBatch::new(batch, &tokens, targets, device)
    }
}
