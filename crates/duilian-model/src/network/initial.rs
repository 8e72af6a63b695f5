//! First weights, drawn from a stream of their own: burn's generator is one for the whole process, so other threads
//! could draw from it in between.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Replaces all weights by random ones that depend on nothing but sizes and seed.
/// `layers` are those on whose residual stream branches are added up.
pub(crate) fn draw_weights<B: Backend, M: Module<B>>(module: M, width: usize, layers: usize, seed: u64) -> M {
    module.map(&mut Drawer { width, layers, random: ChaCha8Rng::seed_from_u64(seed), path: Vec::new() })
}

struct Drawer {
    width: usize,
    layers: usize,
    random: ChaCha8Rng,
    path: Vec<String>,
}

impl Drawer {
    /// Standard deviation of a parameter; `None` for the scales of norms, which start at one.
    fn deviation(&self, inputs: usize) -> Option<f64> {
        let name = self.path.last().map_or("", String::as_str);
        let layer = self.path.iter().rev().nth(1).map_or("", String::as_str);
        match (layer, name) {
            (_, "gamma") => None,
            // Scaled by the root of the width where it is read, so that its rows have unit variance there.
            (_, "embedding") => Some((self.width as f64).powf(-0.5)),
            (_, "weight") => {
                // Outputs keep the variance of inputs (LeCun et al. 1998); residual branches start small so that
                // the sum over layers keeps its scale (as in GPT-2).
                let branch = matches!(layer, "self_out" | "ff_out" | "out");
                let gain = if branch { 1.0 / (2.0 * self.layers as f64).sqrt() } else { 1.0 };
                Some(gain / (inputs as f64).sqrt())
            }
            // Gates of a recurrent layer: none at the start, but what is to be kept (Jozefowicz et al. 2015).
            (_, "bias") => Some(0.0),
            // Positions and directions.
            _ => Some(0.1),
        }
    }

    /// Two independent normal numbers (Box & Muller 1958).
    fn normal_pair(&mut self) -> [f64; 2] {
        let radius = (-2.0 * (1.0 - self.random.random::<f64>()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.random.random::<f64>()).sin_cos();
        [radius * cos, radius * sin]
    }
}

impl<B: Backend> ModuleMapper<B> for Drawer {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let shape = param.lazy_shape().dims::<D>();
        let count: usize = shape.iter().product();
        let values: Vec<f32> = match self.deviation(shape[0]) {
            None => vec![1.0; count],
            Some(deviation) => {
                let pairs = (0..count.div_ceil(2)).flat_map(|_| self.normal_pair());
                pairs.take(count).map(|v| (v * deviation) as f32).collect()
            }
        };
        let tensor = Tensor::from_data(TensorData::new(values, shape), &param.lazy_device());
        Param::initialized(param.id, tensor.require_grad())
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use crate::network::collect_parameters;
    use crate::{AlignedTransformer, DefaultBackend, ModelConfig};

    fn weights(seed: u64) -> std::collections::BTreeMap<String, Vec<f32>> {
        let config = ModelConfig { vocabulary_size: 4_000, ..ModelConfig::tiny(0) };
        let model =
            AlignedTransformer::<DefaultBackend>::new(&config, seed, &crate::DefaultDevice::default())
                .expect("valid");
        collect_parameters(&model).into_iter().map(|(k, v)| (k, v.into_vec().expect("f32"))).collect()
    }

    #[test]
    fn weights_follow_from_the_seed() {
        assert_eq!(weights(1), weights(1));
        assert_ne!(weights(1), weights(2));
    }

    #[test]
    fn spread_is_as_wanted() {
        let weights = weights(3);
        let deviation = |name: &str| {
            let values = &weights[name];
            (values.iter().map(|v| f64::from(v * v)).sum::<f64>() / values.len() as f64).sqrt()
        };
        for (name, expected) in [
            ("embedding", 32_f64.powf(-0.5)),
            ("from_start", 0.1),
            ("encoder.0.self_qkv.weight", 32_f64.powf(-0.5)),
            ("decoder.0.cross.out.weight", 32_f64.powf(-0.5) / 2.0),
            ("decoder.0.ff_out.weight", 64_f64.powf(-0.5) / 2.0),
        ] {
            assert!((deviation(name) / expected - 1.0).abs() < 0.1, "{name}: {}", deviation(name));
        }
        assert!(weights["decoder.0.ff_norm.gamma"].iter().all(|v| v.to_bits() == 1.0_f32.to_bits()));
    }
}
