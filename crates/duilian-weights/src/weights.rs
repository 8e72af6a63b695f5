//! Trained weights in one small file.

use std::collections::BTreeMap;
use std::path::Path;

use half::f16;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};

use crate::container::{Container, RawTensor, f32_values};
use crate::{ModelConfig, NetworkConfig, StoredTensor, TensorValues, WeightsError, write_atomically};

/// How numbers are stored in a weights file.
///
/// ```
/// assert_eq!(duilian_weights::WeightFormat::default(), duilian_weights::WeightFormat::Int8);
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

/// Weights of the aligned transformer; the crate's first page has an example.
pub type ModelWeights = NetworkWeights<ModelConfig>;

/// Named weights of a network together with its sizes, on the host, in the precision in which they are stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkWeights<C> {
    config: C,
    description: String,
    origin: String,
    tensors: BTreeMap<String, StoredTensor>,
}

impl<C: NetworkConfig> NetworkWeights<C> {
    /// Joins sizes, a description of what the weights are and how they were made, and tensors by their paths in
    /// the network.
    pub fn new(config: C, description: &str, tensors: BTreeMap<String, StoredTensor>) -> Self {
        Self { config, description: description.to_owned(), origin: "memory".to_owned(), tensors }
    }

    /// Sizes of the network.
    pub fn config(&self) -> &C {
        &self.config
    }

    /// What the weights are and how they were made.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Where the weights come from, as errors name it: a path, "memory", or what [`NetworkWeights::from_bytes`] was told.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Number of weights.
    pub fn parameters(&self) -> usize {
        self.tensors.values().map(StoredTensor::len).sum()
    }

    /// All tensors by their paths, such as `encoder.0.self_qkv.weight`.
    pub fn tensors(&self) -> &BTreeMap<String, StoredTensor> {
        &self.tensors
    }

    /// All tensors by their paths.
    pub fn into_tensors(self) -> BTreeMap<String, StoredTensor> {
        self.tensors
    }

    /// One tensor.
    ///
    /// # Errors
    /// [`WeightsError::Tensor`] if there is none of this path.
    pub fn tensor(&self, name: &str) -> Result<&StoredTensor, WeightsError> {
        self.tensors.get(name).ok_or_else(|| self.wrong(name, "is missing"))
    }

    /// The bytes of a weights file; equal weights give equal bytes.
    ///
    /// # Errors
    /// [`WeightsError::Damaged`] if the description cannot be written.
    pub fn to_bytes(&self, format: WeightFormat) -> Result<Vec<u8>, WeightsError> {
        let content =
            WeightsHeader { config: self.config.clone(), format, description: self.description.clone() };
        let mut tensors = BTreeMap::new();
        for (name, tensor) in &self.tensors {
            let shape = tensor.shape().to_vec();
            let small = match format {
                WeightFormat::Int8 => tensor.to_int8(channel_axis(name)),
                WeightFormat::F16 | WeightFormat::F32 => tensor.clone(),
            };
            let raw = match (format, small.values()) {
                (WeightFormat::Int8, TensorValues::Int8 { bytes, scales, .. }) => {
                    tensors.insert(scale_name(name), f32_tensor(scales, vec![scales.len()]));
                    let bytes = bytes.iter().map(|b| b.cast_unsigned()).collect();
                    RawTensor { dtype: Dtype::I8, shape, bytes }
                }
                (WeightFormat::F16, _) => {
                    let bytes = small.to_f32().iter().flat_map(|&v| f16::from_f32(v).to_le_bytes()).collect();
                    RawTensor { dtype: Dtype::F16, shape, bytes }
                }
                (WeightFormat::Int8 | WeightFormat::F32, _) => f32_tensor(&small.to_f32(), shape),
            };
            tensors.insert(name.clone(), raw);
        }
        Container { content, tensors }.to_bytes(C::KIND)
    }

    /// Reads the bytes of a weights file. `origin` names their source in errors.
    ///
    /// # Errors
    /// [`WeightsError::Damaged`] if the bytes are cut off, damaged, foreign or of a newer version,
    /// [`WeightsError::InvalidConfig`] if its sizes do not fit together, [`WeightsError::Tensor`] for a tensor
    /// that cannot be read.
    pub fn from_bytes(bytes: &[u8], origin: &str) -> Result<Self, WeightsError> {
        let Container { content, tensors } =
            Container::<WeightsHeader<C>>::from_bytes(bytes, C::KIND, origin)?;
        content.config.check()?;
        let mut weights = Self::new(content.config, &content.description, BTreeMap::new());
        origin.clone_into(&mut weights.origin);
        let is_scale = |name: &str, raw: &RawTensor| raw.dtype == Dtype::F32 && name.ends_with(SCALE_SUFFIX);
        let (mut scales, values): (BTreeMap<_, _>, BTreeMap<_, _>) =
            tensors.into_iter().partition(|(name, raw)| is_scale(name, raw));
        for (name, RawTensor { dtype, shape, bytes }) in values {
            let values = match dtype {
                Dtype::F32 => TensorValues::F32(f32_values(&bytes)),
                Dtype::F16 => TensorValues::F16(
                    bytes.as_chunks::<2>().0.iter().map(|&b| f16::from_le_bytes(b)).collect(),
                ),
                Dtype::I8 => {
                    let axis = channel_axis(&name);
                    let scales = scales
                        .remove(&scale_name(&name))
                        .map(|raw| f32_values(&raw.bytes))
                        .filter(|scales| shape.len() == 2 && scales.len() == shape[axis])
                        .ok_or_else(|| weights.wrong(&name, "has no fitting scales"))?;
                    let bytes = bytes.into_iter().map(u8::cast_signed).collect();
                    TensorValues::Int8 { bytes, scales, axis }
                }
                other => return Err(weights.wrong(&name, &format!("has element type {other:?}"))),
            };
            let tensor =
                StoredTensor::new(shape, values).map_err(|e| weights.wrong(&name, &e.to_string()))?;
            if !tensor.is_finite() {
                return Err(weights.wrong(&name, "holds values that are not finite"));
            }
            weights.tensors.insert(name, tensor);
        }
        Ok(weights)
    }

    /// Writes a weights file beside its place and renames it.
    ///
    /// # Errors
    /// [`WeightsError::Io`], or as [`NetworkWeights::to_bytes`].
    pub fn save(&self, path: &Path, format: WeightFormat) -> Result<(), WeightsError> {
        write_atomically(path, &self.to_bytes(format)?)
    }

    /// Reads a weights file.
    ///
    /// # Errors
    /// [`WeightsError::Io`], or as [`NetworkWeights::from_bytes`].
    pub fn load(path: &Path) -> Result<Self, WeightsError> {
        let bytes = std::fs::read(path).map_err(WeightsError::io("read", path))?;
        Self::from_bytes(&bytes, &path.display().to_string())
    }

    /// The error that names a tensor of these weights.
    pub fn wrong(&self, name: &str, reason: &str) -> WeightsError {
        WeightsError::Tensor { origin: self.origin.clone(), name: name.to_owned(), reason: reason.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn weights() -> ModelWeights {
        let tensor = |shape: [usize; 2], step: f32| {
            let values = (0..shape[0] * shape[1]).map(|i| (i as f32 * step).sin()).collect();
            StoredTensor::from_f32(shape.to_vec(), values).expect("fits")
        };
        let vector = StoredTensor::from_f32(vec![3], vec![1.0, 0.5, -2.0]).expect("fits");
        let tensors = [
            ("embedding".to_owned(), tensor([50, 3], 0.3)),
            ("hint.weight".to_owned(), tensor([3, 5], 1.7)),
            ("norm.gamma".to_owned(), vector),
        ];
        ModelWeights::new(ModelConfig::tiny(50), "sines", BTreeMap::from(tensors))
    }

    #[test]
    fn precision_is_kept_as_stored() {
        let weights = weights();
        for format in [WeightFormat::Int8, WeightFormat::F16, WeightFormat::F32] {
            let bytes = weights.to_bytes(format).expect("writes");
            let read = ModelWeights::from_bytes(&bytes, "memory").expect("reads");
            assert_eq!(read.to_bytes(format).expect("writes"), bytes, "{format:?} is written as it was read");
            assert_eq!((read.config(), read.description()), (weights.config(), "sines"));
            assert_eq!(read.parameters(), 50 * 3 + 15 + 3);
            let axis = |name: &str| match read.tensor(name).expect("is there").values() {
                TensorValues::Int8 { axis, .. } => Some(*axis),
                _ => None,
            };
            let int8 = format == WeightFormat::Int8;
            assert_eq!(axis("embedding"), int8.then_some(0));
            assert_eq!(axis("hint.weight"), int8.then_some(1));
            assert_eq!(axis("norm.gamma"), None);
            for (name, tensor) in weights.tensors() {
                let (before, after) = (tensor.to_f32(), read.tensor(name).expect("is there").to_f32());
                let worst = before.iter().zip(after.iter()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(worst <= if format == WeightFormat::F32 { 0.0 } else { 0.005 }, "{name}: {worst}");
            }
        }
    }

    #[test]
    fn every_damage_is_named() {
        let bytes = weights().to_bytes(WeightFormat::Int8).expect("writes");
        let read = |bytes: &[u8]| ModelWeights::from_bytes(bytes, "memory");
        let whole = read(&bytes).expect("is whole");
        for cut in [0, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
            assert!(matches!(read(&bytes[..cut]), Err(WeightsError::Damaged { .. })), "cut at {cut}");
        }
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x40;
            // The description is for people, and not a part of the checksum.
            let harmless = |found: ModelWeights| {
                found.description() != "sines"
                    && found.tensors == whole.tensors
                    && found.config == whole.config
            };
            assert!(read(&damaged).map_or(true, harmless), "byte {place}");
        }
        let mut infinite = weights();
        let vector = StoredTensor::from_f32(vec![1], vec![f32::INFINITY]).expect("fits");
        infinite.tensors.insert("norm.gamma".to_owned(), vector);
        let error = read(&infinite.to_bytes(WeightFormat::F32).expect("writes")).expect_err("not finite");
        assert!(matches!(error, WeightsError::Tensor { ref name, .. } if name == "norm.gamma"), "{error}");
        assert!(matches!(weights().tensor("none"), Err(WeightsError::Tensor { .. })));
    }

    #[test]
    fn files_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("weights.safetensors");
        let missing = ModelWeights::load(&path).expect_err("is missing");
        assert!(matches!(missing, WeightsError::Io { action: "read", .. }));
        weights().save(&path, WeightFormat::F32).expect("writes");
        assert_eq!(ModelWeights::load(&path).expect("reads").tensors(), weights().tensors());
    }
}
