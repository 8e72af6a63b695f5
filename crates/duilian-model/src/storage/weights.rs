//! Trained weights in one small file.

use std::collections::BTreeMap;
use std::path::Path;

use burn::tensor::TensorData;
use burn::tensor::backend::Backend;
use half::f16;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};

use super::{Container, RawTensor};
use crate::network::{collect_parameters, load_parameters};
use crate::{ModelConfig, ModelError, Network, NetworkConfig};

/// How numbers are stored in a weights file.
///
/// ```
/// assert_eq!(duilian_model::WeightFormat::default(), duilian_model::WeightFormat::Int8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WeightFormat {
    /// Matrices as signed bytes with one `f32` scale an output channel, vectors as `f32`. The default: a
    /// quarter of the size of `f32`.
    #[default]
    Int8,
    /// Everything in half precision.
    F16,
    /// Everything in single precision.
    F32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct WeightsHeader<C> {
    config: C,
    format: WeightFormat,
    /// What the weights are and how they were made.
    description: String,
}

/// Weights of an [`AlignedTransformer`](crate::AlignedTransformer).
pub type ModelWeights = NetworkWeights<ModelConfig>;

/// Weights of a network together with its sizes, on the host.
///
/// ```
/// use duilian_model::{AlignedTransformer, DefaultBackend, ModelConfig, ModelWeights, WeightFormat};
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
#[derive(Debug, Clone)]
pub struct NetworkWeights<C> {
    config: C,
    description: String,
    origin: String,
    tensors: BTreeMap<String, TensorData>,
}

impl<C: NetworkConfig> NetworkWeights<C> {
    /// Copies the weights out of a model.
    pub fn from_model<B: Backend>(
        model: &impl Network<B, Config = C>,
        config: &C,
        description: &str,
    ) -> Self {
        Self::from_parts(config.clone(), description, collect_parameters::<B, _>(model))
    }

    pub(crate) fn from_parts(
        config: C,
        description: &str,
        tensors: BTreeMap<String, TensorData>,
    ) -> Self {
        Self { config, description: description.to_owned(), origin: "memory".to_owned(), tensors }
    }

    /// Sizes of the model.
    pub fn config(&self) -> &C {
        &self.config
    }

    /// What the weights are and how they were made.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Number of weights.
    pub fn parameters(&self) -> usize {
        self.tensors.values().map(TensorData::num_elements).sum()
    }

    pub(crate) fn into_tensors(self) -> BTreeMap<String, TensorData> {
        self.tensors
    }

    /// Builds the model on a device.
    ///
    /// # Errors
    /// [`ModelError::Tensor`] if a tensor is missing, left over, or of another shape than the sizes say.
    pub fn into_model<B: Backend, M: Network<B, Config = C>>(
        self,
        device: &B::Device,
    ) -> Result<M, ModelError> {
        let model = M::blank(&self.config, device)?;
        Ok(load_parameters(model, self.tensors, &self.origin)?.no_grad())
    }

    /// The bytes of a weights file; equal weights give equal bytes.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] if the description cannot be written.
    pub fn to_bytes(&self, format: WeightFormat) -> Result<Vec<u8>, ModelError> {
        let header =
            WeightsHeader { config: self.config.clone(), format, description: self.description.clone() };
        let mut tensors = BTreeMap::new();
        for (name, data) in &self.tensors {
            let values = data.as_slice::<f32>().map_err(|e| self.wrong(name, format!("{e:?}")))?;
            let shape = data.shape.to_vec();
            match format {
                WeightFormat::F16 => {
                    let bytes = values.iter().flat_map(|&v| f16::from_f32(v).to_le_bytes()).collect();
                    tensors.insert(name.clone(), RawTensor { dtype: Dtype::F16, shape, bytes });
                }
                WeightFormat::Int8 if shape.len() == 2 => {
                    let (quantised, scales) = quantise(values, shape[1], channel_axis(name));
                    tensors.insert(scale_name(name), f32_tensor(&scales, vec![scales.len()]));
                    tensors.insert(name.clone(), RawTensor { dtype: Dtype::I8, shape, bytes: quantised });
                }
                WeightFormat::Int8 | WeightFormat::F32 => {
                    tensors.insert(name.clone(), f32_tensor(values, shape));
                }
            }
        }
        Container { content: header, tensors }.to_bytes(C::KIND)
    }

    /// Reads the bytes of a weights file. `origin` names their source in errors.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] if the bytes are cut off, damaged, foreign or of a newer version,
    /// [`ModelError::InvalidConfig`] if its sizes do not fit together, [`ModelError::Tensor`] for a tensor
    /// that cannot be read.
    pub fn from_bytes(bytes: &[u8], origin: &str) -> Result<Self, ModelError> {
        let container = Container::<WeightsHeader<C>>::from_bytes(bytes, C::KIND, origin)?;
        let WeightsHeader { config, description, .. } = container.content;
        config.check()?;
        let mut weights = Self { config, description, origin: origin.to_owned(), tensors: BTreeMap::new() };
        for (name, raw) in &container.tensors {
            let values = match raw.dtype {
                Dtype::F32 if name.ends_with(SCALE_SUFFIX) => continue,
                Dtype::F32 => f32_values(&raw.bytes),
                Dtype::F16 => {
                    raw.bytes.as_chunks::<2>().0.iter().map(|&b| f16::from_le_bytes(b).to_f32()).collect()
                }
                Dtype::I8 => {
                    let axis = channel_axis(name);
                    let scales = container
                        .tensors
                        .get(&scale_name(name))
                        .filter(|s| s.dtype == Dtype::F32 && raw.shape.len() == 2)
                        .map(|s| f32_values(&s.bytes))
                        .filter(|s| s.len() == raw.shape[axis])
                        .ok_or_else(|| weights.wrong(name, "has no fitting scales".to_owned()))?;
                    dequantise(&raw.bytes, raw.shape[1], &scales, axis)
                }
                other => return Err(weights.wrong(name, format!("has element type {other:?}"))),
            };
            if values.iter().any(|v| !v.is_finite()) {
                return Err(weights.wrong(name, "holds values that are not finite".to_owned()));
            }
            weights.tensors.insert(name.clone(), TensorData::new(values, raw.shape.clone()));
        }
        Ok(weights)
    }

    /// Writes a weights file beside its place and renames it.
    ///
    /// # Errors
    /// [`ModelError::Io`], or as [`NetworkWeights::to_bytes`].
    pub fn save(&self, path: &Path, format: WeightFormat) -> Result<(), ModelError> {
        super::write_atomically(path, &self.to_bytes(format)?)
    }

    /// Reads a weights file.
    ///
    /// # Errors
    /// [`ModelError::Io`], or as [`NetworkWeights::from_bytes`].
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(ModelError::io("read", path))?;
        Self::from_bytes(&bytes, &path.display().to_string())
    }

    fn wrong(&self, name: &str, reason: String) -> ModelError {
        ModelError::Tensor { origin: self.origin.clone(), name: name.to_owned(), reason }
    }
}

const SCALE_SUFFIX: &str = ".scale";

fn scale_name(name: &str) -> String {
    format!("{name}{SCALE_SUFFIX}")
}

/// The axis of a matrix along which scales vary: linear layers hold `[input, output]`, tables `[row, width]`.
fn channel_axis(name: &str) -> usize {
    usize::from(name.ends_with(".weight"))
}

fn f32_tensor(values: &[f32], shape: Vec<usize>) -> RawTensor {
    RawTensor { dtype: Dtype::F32, shape, bytes: values.iter().flat_map(|v| v.to_le_bytes()).collect() }
}

pub(crate) fn f32_values(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
}

/// Symmetric 8-bit quantisation with one scale a channel: `value ≈ byte · scale`, bytes in -127..=127.
fn quantise(values: &[f32], columns: usize, axis: usize) -> (Vec<u8>, Vec<f32>) {
    let channel = |i: usize| if axis == 1 { i % columns } else { i / columns };
    let channels = if axis == 1 { columns } else { values.len() / columns.max(1) };
    let mut largest = vec![0.0_f32; channels];
    for (i, v) in values.iter().enumerate() {
        largest[channel(i)] = largest[channel(i)].max(v.abs());
    }
    let scales: Vec<f32> = largest.iter().map(|&l| if l > 0.0 { l / 127.0 } else { 1.0 }).collect();
    let bytes = values
        .iter()
        .enumerate()
        .map(|(i, v)| (v / scales[channel(i)]).round().clamp(-127.0, 127.0) as i8)
        .map(i8::cast_unsigned)
        .collect();
    (bytes, scales)
}

fn dequantise(bytes: &[u8], columns: usize, scales: &[f32], axis: usize) -> Vec<f32> {
    let mut values = Vec::with_capacity(bytes.len());
    for (row, line) in bytes.chunks(columns.max(1)).enumerate() {
        if axis == 1 {
            values.extend(line.iter().zip(scales).map(|(&b, s)| f32::from(b.cast_signed()) * s));
        } else {
            values.extend(line.iter().map(|&b| f32::from(b.cast_signed()) * scales[row]));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantisation_errs_by_half_a_step() {
        let values = [0.5_f32, -1.0, 0.25, 100.0, 3.0, -50.0];
        for axis in [0, 1] {
            let (bytes, scales) = quantise(&values, 2, axis);
            let back = dequantise(&bytes, 2, &scales, axis);
            for (i, (a, b)) in values.iter().zip(&back).enumerate() {
                let scale = scales[if axis == 1 { i % 2 } else { i / 2 }];
                assert!((a - b).abs() <= scale * 0.500_01, "axis {axis}: {a} became {b}");
            }
        }
    }
}
