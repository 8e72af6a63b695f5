//! All that a stopped run needs to go on as if it had not stopped.

use std::collections::BTreeMap;
use std::path::Path;

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Tensor, TensorData};
use duilian_weights::{Container, Dtype, RawTensor, f32_values};
use serde::{Deserialize, Serialize};

use super::optimizer::{Optimizer, ParameterState};
use super::{TrainConfig, TrainingCurve};
use crate::network::{collect_parameters, load_parameters};
use crate::{ModelError, Network};

const KIND: &str = "checkpoint";

/// Where a run stands, beside its tensors. Order and augmentation of batches and the places of dropout follow
/// from seed and step, so there is no other random state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunState<C> {
    pub(crate) model: C,
    pub(crate) train: TrainConfig,
    /// Pairs and vocabulary of the training shards, to notice other data.
    pub(crate) pairs: usize,
    /// Steps done.
    pub(crate) step: u64,
    /// Characters learnt from.
    pub(crate) characters: u64,
    /// Loss, as the bits of an `f64`, and characters since the last validation: a decimal number in JSON may come
    /// back with another last bit.
    pub(crate) recent: (u64, u64),
    /// The best validations so far, best first: step and loss.
    pub(crate) best: Vec<(u64, f64)>,
    pub(crate) curve: TrainingCurve,
}

/// Writes a checkpoint.
pub(crate) fn save<A: AutodiffBackend, M: Network<A>>(
    path: &Path,
    state: &RunState<M::Config>,
    model: &M,
    optimizer: &Optimizer<A::InnerBackend>,
) -> Result<(), ModelError> {
    let mut tensors = BTreeMap::new();
    for (name, data) in collect_parameters::<A, _>(model) {
        tensors.insert(format!("model/{name}"), raw(&data)?);
    }
    for (name, s) in &optimizer.states {
        for (part, tensor) in [("first", &s.first), ("second", &s.second), ("average", &s.average)] {
            tensors.insert(format!("{part}/{name}"), raw(&tensor.to_data())?);
        }
    }
    Ok(Container { content: state.clone(), tensors }.save(KIND, path)?)
}

fn raw(data: &TensorData) -> Result<RawTensor, ModelError> {
    let values = data
        .as_slice::<f32>()
        .map_err(|e| ModelError::Malformed { reason: format!("a parameter is not f32: {e:?}") })?;
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Ok(RawTensor { dtype: Dtype::F32, shape: data.shape.to_vec(), bytes })
}

/// Reads a checkpoint into a model and an optimizer that were made for the same sizes.
pub(crate) fn load<A: AutodiffBackend, M: Network<A>>(
    path: &Path,
    model: M,
    optimizer: &mut Optimizer<A::InnerBackend>,
    device: &A::Device,
) -> Result<(M, RunState<M::Config>), ModelError> {
    let container = Container::<RunState<M::Config>>::load(KIND, path)?;
    let origin = path.display().to_string();
    let mut parts = BTreeMap::<&str, BTreeMap<String, TensorData>>::new();
    for (name, tensor) in &container.tensors {
        let fail = |reason: &str| ModelError::Tensor {
            origin: origin.clone(),
            name: name.clone(),
            reason: reason.to_owned(),
        };
        let (part, path) = name.split_once('/').ok_or_else(|| fail("belongs to no part"))?;
        if tensor.dtype != Dtype::F32 {
            return Err(fail("is not f32"));
        }
        let data = TensorData::new(f32_values(&tensor.bytes), tensor.shape.clone());
        parts.entry(part).or_default().insert(path.to_owned(), data);
    }
    let mut part = |name: &str| parts.remove(name).unwrap_or_default();
    let model = load_parameters(model, part("model"), &origin)?;
    let (mut first, mut second, mut average) = (part("first"), part("second"), part("average"));
    for (name, state) in &mut optimizer.states {
        let count = state.first.shape().num_elements();
        let take = |from: &mut BTreeMap<String, TensorData>| {
            from.remove(name)
                .filter(|d| d.num_elements() == count)
                .map(|d| flat::<A::InnerBackend>(d, device))
                .ok_or_else(|| ModelError::Tensor {
                    origin: origin.clone(),
                    name: name.clone(),
                    reason: "has no fitting optimizer state".to_owned(),
                })
        };
        *state = ParameterState {
            first: take(&mut first)?,
            second: take(&mut second)?,
            average: take(&mut average)?,
        };
    }
    Ok((model, container.content))
}

fn flat<B: Backend>(data: TensorData, device: &B::Device) -> Tensor<B, 1> {
    let count = data.num_elements();
    let values = data.into_vec::<f32>().expect("read as f32");
    Tensor::from_data(TensorData::new(values, [count]), device)
}
