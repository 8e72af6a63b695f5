//! What a trained network is made of, on the host and without tensors: its sizes and its named weights, in files
//! that are checked when they are read.
//!
//! Weights keep the precision in which their file stores them, so that a program that computes with 8-bit numbers
//! never makes others; [`StoredTensor::to_f32`] gives single precision to those who want it.
//!
//! ```
//! use std::collections::BTreeMap;
//! use duilian_weights::{ModelConfig, ModelWeights, StoredTensor, TensorValues, WeightFormat};
//!
//! let table = StoredTensor::from_f32(vec![2, 3], vec![1.0, -0.5, 0.0, 4.0, 2.0, -4.0])?;
//! let tensors = BTreeMap::from([("table".to_owned(), table)]);
//! let weights = ModelWeights::new(ModelConfig::tiny(2), "two rows", tensors);
//! let bytes = weights.to_bytes(WeightFormat::Int8)?;
//! let again = ModelWeights::from_bytes(&bytes, "memory")?;
//! let table = again.tensor("table")?;
//! assert_eq!(table.shape(), [2, 3]);
//! assert!(matches!(table.values(), TensorValues::Int8 { .. }));
//! assert!((table.to_f32()[1] + 0.5).abs() < 0.005);
//! # Ok::<(), duilian_weights::WeightsError>(())
//! ```

mod config;
mod container;
mod error;
mod file;
mod tensor;
mod weights;

pub use config::{ModelConfig, NetworkConfig};
pub use container::{Container, RawTensor, f32_values};
pub use error::WeightsError;
pub use file::write_atomically;
pub use safetensors::tensor::Dtype;
pub use tensor::{StoredTensor, TensorValues};
pub use weights::{ModelWeights, NetworkWeights, WeightFormat};
