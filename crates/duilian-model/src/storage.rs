//! Weights between host and device.

use std::collections::BTreeMap;
use std::path::Path;

use burn::tensor::TensorData;
use burn::tensor::backend::Backend;
use duilian_weights::{NetworkConfig, NetworkWeights, StoredTensor};

use crate::network::{collect_parameters, load_parameters};
use crate::{ModelError, Network};

/// What [`NetworkWeights`] can do where there is a device.
///
/// ```
/// use duilian_model::{
///     AlignedTransformer, DefaultBackend, ModelConfig, ModelWeights, NetworkWeightsExt, WeightFormat,
/// };
///
/// let device = Default::default();
/// let config = ModelConfig::tiny(50);
/// let model = AlignedTransformer::<DefaultBackend>::new(&config, 42, &device)?;
/// let weights = ModelWeights::from_model(&model, &config, "random");
/// let bytes = weights.to_bytes(WeightFormat::Int8)?;
/// let again = ModelWeights::from_bytes(&bytes, "memory")?;
/// assert_eq!(again.config(), &config);
/// let model: AlignedTransformer<DefaultBackend> = again.into_model(&device)?;
/// assert_eq!(model.width(), config.d_model);
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
pub trait NetworkWeightsExt<C: NetworkConfig>: Sized {
    /// Copies the weights out of a model, in single precision.
    fn from_model<B: Backend>(model: &impl Network<B, Config = C>, config: &C, description: &str) -> Self;

    /// Builds the model on a device.
    ///
    /// # Errors
    /// [`ModelError::Tensor`] if a tensor is missing, left over, or of another shape than the sizes say.
    fn into_model<B: Backend, M: Network<B, Config = C>>(self, device: &B::Device) -> Result<M, ModelError>;
}

impl<C: NetworkConfig> NetworkWeightsExt<C> for NetworkWeights<C> {
    fn from_model<B: Backend>(model: &impl Network<B, Config = C>, config: &C, description: &str) -> Self {
        host_weights(config.clone(), description, collect_parameters::<B, _>(model))
    }

    fn into_model<B: Backend, M: Network<B, Config = C>>(self, device: &B::Device) -> Result<M, ModelError> {
        let model = M::blank(self.config(), device)?;
        let origin = self.origin().to_owned();
        Ok(load_parameters(model, tensor_data(self), &origin)?.no_grad())
    }
}

/// Weights on the host from what [`collect_parameters`] gives, in single precision.
pub(crate) fn host_weights<C: NetworkConfig>(
    config: C,
    description: &str,
    parameters: BTreeMap<String, TensorData>,
) -> NetworkWeights<C> {
    let stored = |data: TensorData| {
        let shape = data.shape.to_vec();
        let values = data.convert::<f32>().into_vec().expect("was converted");
        StoredTensor::from_f32(shape, values).expect("data fill their shape")
    };
    let tensors = parameters.into_iter().map(|(name, data)| (name, stored(data))).collect();
    NetworkWeights::new(config, description, tensors)
}

/// Values in single precision for [`load_parameters`].
pub(crate) fn tensor_data<C: NetworkConfig>(weights: NetworkWeights<C>) -> BTreeMap<String, TensorData> {
    let data = |tensor: StoredTensor| {
        let shape = tensor.shape().to_vec();
        TensorData::new(tensor.into_f32(), shape)
    };
    weights.into_tensors().into_iter().map(|(name, tensor)| (name, data(tensor))).collect()
}

/// [`duilian_weights::write_atomically`] with this crate's error.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    Ok(duilian_weights::write_atomically(path, bytes)?)
}
