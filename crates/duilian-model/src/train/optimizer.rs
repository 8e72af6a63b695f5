//! `AdamW` with global-norm clipping and the moving average of the weights in one pass.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Tensor, TensorData};
use rayon::prelude::*;

use super::TrainConfig;
use super::gradients::FlatGradients;
use crate::network::parameter_shapes;

/// What the optimizer keeps for one parameter, each as long as the flattened parameter.
#[derive(Debug, Clone)]
pub(crate) struct ParameterState<B: Backend> {
    pub(crate) first: Tensor<B, 1>,
    pub(crate) second: Tensor<B, 1>,
    pub(crate) average: Tensor<B, 1>,
}

/// Numbers of one step that are the same for all parameters.
#[derive(Debug, Clone, Copy)]
struct Step {
    rate: f32,
    decay: f32,
    beta_1: f32,
    beta_2: f32,
    /// `1 / (1 - beta_1^t)` and `1 / (1 - beta_2^t)`.
    correct_1: f32,
    correct_2: f32,
    clip: f32,
    average_decay: f32,
}

const EPSILON: f32 = 1e-8;

/// Numbers that a thread updates at a time.
const CHUNK: usize = 1 << 14;

/// `AdamW` (Loshchilov & Hutter 2019). burn's own clips each tensor by itself and walks a parameter a dozen
/// times; this one clips the whole gradient and, where the backend computes in host memory, reads and writes
/// everything once.
#[derive(Debug)]
pub(crate) struct Optimizer<B: Backend> {
    /// By the path of the parameter.
    pub(crate) states: BTreeMap<String, ParameterState<B>>,
    on_host: bool,
}

impl<B: Backend> Optimizer<B> {
    /// Zero moments and an average that starts at the weights.
    pub(crate) fn new<M: Module<B>>(model: &M, on_host: bool) -> Self {
        struct Starter<B: Backend>(BTreeMap<String, ParameterState<B>>, Vec<String>);
        impl<B: Backend> ModuleVisitor<B> for Starter<B> {
            fn enter_module(&mut self, name: &str, _container: &str) {
                self.1.push(name.to_owned());
            }
            fn exit_module(&mut self, _name: &str, _container: &str) {
                self.1.pop();
            }
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
                let values = param.val();
                let count = values.shape().num_elements();
                let zeros = || Tensor::zeros([count], &values.device());
                let copy =
                    TensorData::new(values.to_data().into_vec::<f32>().expect("weights are f32"), [count]);
                let average = Tensor::from_data(copy, &values.device());
                let state = ParameterState { first: zeros(), second: zeros(), average };
                self.0.insert(self.1.join("."), state);
            }
        }
        let mut starter = Starter(BTreeMap::new(), Vec::new());
        model.visit(&mut starter);
        Self { states: starter.0, on_host }
    }

    /// One step. `step` counts from 0. Returns the model and the norm of the gradient before clipping.
    pub(crate) fn step<A, M>(
        &mut self,
        model: M,
        gradients: FlatGradients<A>,
        config: &TrainConfig,
        step: u64,
        rate: f64,
    ) -> (M, f32)
    where
        A: AutodiffBackend<InnerBackend = B>,
        M: Module<A>,
    {
        let norm = self.norm(&gradients);
        let clip = if norm > config.clip_norm as f32 { config.clip_norm as f32 / norm } else { 1.0 };
        let t = (step + 1) as f64;
        let numbers = Step {
            rate: rate as f32,
            decay: config.weight_decay as f32,
            beta_1: config.beta_1 as f32,
            beta_2: config.beta_2 as f32,
            correct_1: (1.0 / (1.0 - config.beta_1.powf(t))) as f32,
            correct_2: (1.0 / (1.0 - config.beta_2.powf(t))) as f32,
            clip,
            // The average of the first steps follows quickly (as in TensorFlow's `num_updates`).
            average_decay: config.ema_decay.min((1.0 + t) / (10.0 + t)) as f32,
        };
        let mut updater = Updater { optimizer: self, gradients, numbers, path: Vec::new() };
        (model.map(&mut updater), norm)
    }

    fn norm(&self, gradients: &BTreeMap<ParamId, Tensor<B, 1>>) -> f32 {
        if self.on_host {
            let squares = |g: &Tensor<B, 1>| {
                let data = g.to_data();
                let values = data.as_slice::<f32>().expect("the backend computes in f32");
                // Chunks of fixed size, added in order: the same sum for any number of threads.
                let parts: Vec<f64> = values
                    .par_chunks(1 << 16)
                    .map(|c| {
                        f64::from(c.chunks(16).map(|s| s.iter().map(|v| v * v).sum::<f32>()).sum::<f32>())
                    })
                    .collect();
                parts.iter().sum::<f64>()
            };
            return gradients.values().map(squares).sum::<f64>().sqrt() as f32;
        }
        let total = gradients.values().map(|g| g.clone().square().sum()).reduce(|a, b| a + b);
        total.map_or(0.0, |t| burn::tensor::ElementConversion::elem::<f32>(t.sqrt().into_scalar()))
    }
}

/// Gradients as flat tensors by parameter.
pub(crate) fn flatten<A: AutodiffBackend, M: Module<A>>(
    model: &M,
    gradients: &mut GradientsParams,
) -> BTreeMap<ParamId, Tensor<A::InnerBackend, 1>> {
    let mut flat = BTreeMap::new();
    for (_, shape, id) in parameter_shapes::<A, M>(model) {
        let gradient = match shape.len() {
            1 => gradients.remove::<A::InnerBackend, 1>(id),
            _ => gradients.remove::<A::InnerBackend, 2>(id).map(|g| {
                let count = g.shape().num_elements();
                g.reshape([count])
            }),
        };
        if let Some(gradient) = gradient {
            flat.insert(id, gradient);
        }
    }
    flat
}

struct Updater<'a, B: Backend> {
    optimizer: &'a mut Optimizer<B>,
    gradients: BTreeMap<ParamId, Tensor<B, 1>>,
    numbers: Step,
    path: Vec<String>,
}

impl<A: AutodiffBackend> ModuleMapper<A> for Updater<'_, A::InnerBackend> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<A, D>>) -> Param<Tensor<A, D>> {
        // A parameter that no row of the batch used (the hint layer, say) has no gradient and stays.
        let Some(gradient) = self.gradients.remove(&param.id) else { return param };
        let path = self.path.join(".");
        let state = self.optimizer.states.remove(&path).expect("states were made from the same model");
        let (id, value, mapper) = param.consume();
        let shape = value.shape();
        let mut numbers = self.numbers;
        if D < 2 {
            numbers.decay = 0.0;
        }
        let value = value.inner().reshape([shape.num_elements()]);
        let (value, state) = if self.optimizer.on_host {
            update_on_host(value, gradient, state, numbers)
        } else {
            update_on_device(value, gradient, state, numbers)
        };
        self.optimizer.states.insert(path, state);
        Param::from_mapped_value(id, Tensor::from_inner(value.reshape(shape)).require_grad(), mapper)
    }
}

fn update_on_device<B: Backend>(
    value: Tensor<B, 1>,
    gradient: Tensor<B, 1>,
    state: ParameterState<B>,
    n: Step,
) -> (Tensor<B, 1>, ParameterState<B>) {
    let gradient = gradient * n.clip;
    let first = state.first * n.beta_1 + gradient.clone() * (1.0 - n.beta_1);
    let second = state.second * n.beta_2 + gradient.square() * (1.0 - n.beta_2);
    let change = first.clone() * n.correct_1 / ((second.clone() * n.correct_2).sqrt() + EPSILON);
    let value = value * (1.0 - n.rate * n.decay) - change * n.rate;
    let average = state.average * n.average_decay + value.clone() * (1.0 - n.average_decay);
    (value, ParameterState { first, second, average })
}

fn update_on_host<B: Backend>(
    value: Tensor<B, 1>,
    gradient: Tensor<B, 1>,
    state: ParameterState<B>,
    n: Step,
) -> (Tensor<B, 1>, ParameterState<B>) {
    let device = value.device();
    let mut data: [TensorData; 4] =
        [value.into_data(), state.first.into_data(), state.second.into_data(), state.average.into_data()];
    let gradient = gradient.into_data();
    {
        let g = gradient.as_slice::<f32>().expect("the backend computes in f32");
        let [value, first, second, average] =
            data.each_mut().map(|d| d.as_mut_slice::<f32>().expect("the backend computes in f32"));
        value
            .par_chunks_mut(CHUNK)
            .zip(first.par_chunks_mut(CHUNK))
            .zip(second.par_chunks_mut(CHUNK))
            .zip(average.par_chunks_mut(CHUNK))
            .zip(g.par_chunks(CHUNK))
            .for_each(|((((value, first), second), average), g)| {
                for i in 0..g.len() {
                    let gradient = g[i] * n.clip;
                    first[i] = first[i] * n.beta_1 + gradient * (1.0 - n.beta_1);
                    second[i] = second[i] * n.beta_2 + gradient * gradient * (1.0 - n.beta_2);
                    let change = first[i] * n.correct_1 / ((second[i] * n.correct_2).sqrt() + EPSILON);
                    value[i] = value[i] * (1.0 - n.rate * n.decay) - change * n.rate;
                    average[i] = average[i] * n.average_decay + value[i] * (1.0 - n.average_decay);
                }
            });
    }
    let [value, first, second, average] = data.map(|d| Tensor::from_data(d, &device));
    (value, ParameterState { first, second, average })
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use super::*;

    type B = burn_flex::Flex;

    #[test]
    fn both_paths_make_the_same_step() {
        let device = burn::tensor::Device::<B>::default();
        let tensor = |seed: f32| {
            let values: Vec<f32> = (0..1_000).map(|i| ((i as f32) * seed).sin()).collect();
            Tensor::<B, 1>::from_floats(values.as_slice(), &device)
        };
        let state = ParameterState { first: tensor(0.3), second: tensor(0.7).square(), average: tensor(0.9) };
        let numbers = Step {
            rate: 0.01,
            decay: 0.1,
            beta_1: 0.9,
            beta_2: 0.98,
            correct_1: 2.0,
            correct_2: 5.0,
            clip: 0.5,
            average_decay: 0.9,
        };
        let (a, s) = update_on_host(tensor(1.1), tensor(1.3), state.clone(), numbers);
        let (b, t) = update_on_device(tensor(1.1), tensor(1.3), state, numbers);
        for (x, y) in [(a, b), (s.first, t.first), (s.second, t.second), (s.average, t.average)] {
            assert!((x - y).abs().max().into_scalar() < 1e-6);
        }
    }

    #[test]
    fn first_step_of_adam_moves_by_the_rate() {
        let device = burn::tensor::Device::<B>::default();
        let zeros = || Tensor::<B, 1>::zeros([3], &device);
        let state = ParameterState { first: zeros(), second: zeros(), average: zeros() };
        let numbers = Step {
            rate: 0.5,
            decay: 0.0,
            beta_1: 0.9,
            beta_2: 0.98,
            correct_1: 10.0,
            correct_2: 50.0,
            clip: 1.0,
            average_decay: 0.0,
        };
        let gradient = Tensor::from_floats([2.0, -0.1, 0.0], &device);
        let (value, _) = update_on_host(zeros(), gradient, state, numbers);
        let moved = value.into_data().into_vec::<f32>().expect("f32");
        for (a, b) in moved.iter().zip([-0.5, 0.5, 0.0]) {
            assert!((a - b).abs() < 1e-4, "{moved:?}");
        }
    }
}
