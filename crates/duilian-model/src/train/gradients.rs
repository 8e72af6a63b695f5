//! Gradients of a batch, in parts that are computed side by side.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use burn::module::{ModuleMapper, Param, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::batch::PreparedBatch;
use super::loss::{LossOptions, smoothed_cross_entropy};
use super::optimizer::flatten;
use super::{TrainConfig, Trainable};
use crate::ModelError;

/// Gradients of flattened parameters.
pub(crate) type FlatGradients<A> = BTreeMap<ParamId, Tensor<<A as AutodiffBackend>::InnerBackend, 1>>;

/// Computes gradients of batches.
#[derive(Debug)]
pub(crate) struct GradientWorker<A: AutodiffBackend> {
    /// One pool a part; empty where parts are computed one after another.
    pools: Vec<ThreadPool>,
    options: LossOptions,
    backend: PhantomData<A>,
}

impl<A: AutodiffBackend> GradientWorker<A> {
    /// Makes the thread pools.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if the system refuses to start threads.
    pub(crate) fn new(train: &TrainConfig, on_host: bool) -> Result<Self, ModelError> {
        let parts = train.batch_parts;
        let side_by_side = on_host && parts > 1;
        let threads = (rayon::current_num_threads() / parts).max(1);
        let pools = (0..if side_by_side { parts } else { 0 })
            .map(|_| ThreadPoolBuilder::new().num_threads(threads).build())
            .collect::<Result<_, _>>()
            .map_err(|e| ModelError::Malformed { reason: format!("threads cannot be started: {e}") })?;
        let smoothing = train.label_smoothing as f32;
        let options = LossOptions { smoothing, scale: 1.0, on_host, precision: train.precision };
        Ok(Self { pools, options, backend: PhantomData })
    }

    /// Adds the gradient of the loss times `scale` over a batch's parts to `total`; returns the summed loss.
    pub(crate) fn accumulate<M: Trainable<A>>(
        &self,
        model: &M,
        parts: &[PreparedBatch<A>],
        scale: f32,
        total: &mut FlatGradients<A>,
    ) -> f32 {
        let options = LossOptions { scale, ..self.options };
        let mut results: Vec<Option<(f32, FlatGradients<A>)>> = Vec::new();
        results.resize_with(parts.len(), || None);
        if self.pools.is_empty() || parts.len() == 1 {
            for (prepared, result) in parts.iter().zip(&mut results) {
                *result = Some(part(model, prepared, options));
            }
        } else {
            rayon::scope(|scope| {
                for ((prepared, result), pool) in parts.iter().zip(&mut results).zip(&self.pools) {
                    // Parts must not share leaves: burn merges graphs that do, and locks them.
                    let model = model.clone().map(&mut FreshLeaves);
                    scope.spawn(move |_| {
                        *result = Some(pool.install(|| part(&model, prepared, options)));
                    });
                }
            });
        }
        // Added in order of the parts, whichever was ready first.
        let mut sum = 0.0;
        for (loss, gradients) in results.into_iter().flatten() {
            sum += loss;
            for (id, gradient) in gradients {
                let gradient = match total.remove(&id) {
                    Some(before) => before + gradient,
                    None => gradient,
                };
                total.insert(id, gradient);
            }
        }
        sum
    }
}

/// Summed loss and gradients of one part.
fn part<A: AutodiffBackend, M: Trainable<A>>(
    model: &M,
    prepared: &PreparedBatch<A>,
    options: LossOptions,
) -> (f32, FlatGradients<A>) {
    let (Some(places), Some(wanted)) = (&prepared.places, &prepared.wanted) else {
        return (0.0, FlatGradients::<A>::new());
    };
    // The embedding is a table of millions of numbers of which a batch touches few: its rows enter the graph
    // as leaves of their own, and their gradients are added to the output layer's, which is dense anyway.
    let tokens = prepared.tokens.clone().inner();
    let table = model.table().val().inner();
    let scale_in = (table.dims()[1] as f64).sqrt();
    let rows = Tensor::<A, 2>::from_inner(table.clone().select(0, tokens.clone()) * scale_in).require_grad();
    let hidden = model.hidden(prepared, rows.clone()).select(0, places.clone());
    let output = smoothed_cross_entropy(hidden, table, &prepared.targets, &wanted.clone().inner(), options);
    let mut graph = output.surrogate.backward();
    let mut table_gradient = output.table_gradient;
    if let Some(gradient) = rows.grad_remove(&mut graph) {
        let update = burn::tensor::IndexingUpdateOp::Add;
        table_gradient = table_gradient.select_assign(0, tokens, gradient * scale_in, update);
    }
    let mut gradients = GradientsParams::from_grads(graph, model);
    gradients.register::<A::InnerBackend, 2>(model.table().id, table_gradient);
    (output.negative_log_likelihood, flatten::<A, _>(model, &mut gradients))
}

/// Gives a copy of a model leaves of its own that share the values.
struct FreshLeaves;

impl<A: AutodiffBackend> ModuleMapper<A> for FreshLeaves {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<A, D>>) -> Param<Tensor<A, D>> {
        let (id, value, mapper) = param.consume();
        Param::from_mapped_value(id, Tensor::from_inner(value.inner()).require_grad(), mapper)
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use duilian_core::{Direction, TokenId};

    use super::*;
    use crate::network::parameter_shapes;
    use crate::{
        AlignedTransformer, AttentionSeq2Seq, AutodiffBackend as B, Batch, ModelConfig, Network, Precision,
        Seq2SeqConfig,
    };

    fn batch() -> Batch {
        let line = |ids: [u16; 4]| ids.map(TokenId);
        let mut batch = Batch::empty(4);
        batch.push(&line([14, 15, 4, 16]), &line([20, 21, 4, 22]), &[false; 4], Direction::UpperToLower);
        batch.push(
            &line([17, 18, 19, 16]),
            &line([23, 24, 25, 26]),
            &[false, true, false, false],
            Direction::LowerToUpper,
        );
        batch.push(
            &line([14, 14, 15, 1]),
            &line([20, 20, 27, 28]),
            &[true, true, false, false],
            Direction::UpperToLower,
        );
        batch
    }

    fn gradients<M: Trainable<B>>(
        config: &M::Config,
        parts: usize,
        precision: Precision,
    ) -> (M, f32, FlatGradients<B>) {
        let device = crate::DefaultDevice::default();
        let mut model = M::drawn(config, 3, &device).expect("valid");
        model.set_precision(precision);
        let train = TrainConfig { batch_parts: parts, precision, ..TrainConfig::default() };
        let worker = GradientWorker::<B>::new(&train, true).expect("starts");
        let prepared: Vec<_> = batch().split(parts).into_iter().map(|b| M::prepare(b, &device)).collect();
        let mut gradients = FlatGradients::<B>::new();
        let loss = worker.accumulate(&model, &prepared, 0.1, &mut gradients);
        (model, loss, gradients)
    }

    fn every_parameter_is_reached<M: Trainable<B>>(config: &M::Config) {
        let (model, loss, gradients) = gradients::<M>(config, 1, Precision::F32);
        assert!(loss > 0.0);
        for (path, _, id) in parameter_shapes::<B, _>(&model) {
            let gradient = gradients.get(&id).unwrap_or_else(|| panic!("{path} has no gradient"));
            assert!(gradient.clone().abs().max().into_scalar() > 0.0, "{path} has a gradient of zeros");
        }
    }

    #[test]
    fn every_parameter_of_both_networks_is_reached() {
        every_parameter_is_reached::<AlignedTransformer<B>>(&ModelConfig::tiny(40));
        every_parameter_is_reached::<AttentionSeq2Seq<B>>(&Seq2SeqConfig::tiny(40));
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        type Model = AlignedTransformer<B>;
        let config = ModelConfig::tiny(40);
        let (model, whole, expected) = gradients::<Model>(&config, 1, Precision::F32);
        for parts in [2, 3] {
            let (same, sum, found) = gradients::<Model>(&config, parts, Precision::F32);
            assert!((sum - whole).abs() < 1e-3, "{sum} {whole}");
            let ids = |m: &Model| parameter_shapes::<B, _>(m);
            for ((path, _, a), (_, _, b)) in ids(&model).into_iter().zip(ids(&same)) {
                let difference = (expected[&a].clone() - found[&b].clone()).abs().max().into_scalar();
                assert!(difference < 1e-5, "{path}: {difference}");
            }
        }
    }

    #[test]
    fn accumulated_batches_give_the_gradient_of_one_batch() {
        type Model = AlignedTransformer<B>;
        let config = ModelConfig::tiny(40);
        let (model, whole, expected) = gradients::<Model>(&config, 1, Precision::F32);
        let worker = GradientWorker::<B>::new(&TrainConfig::default(), true).expect("starts");
        let mut found = FlatGradients::<B>::new();
        let mut sum = 0.0;
        for small in batch().split(3) {
            let prepared = [Model::prepare(small, &crate::DefaultDevice::default())];
            sum += worker.accumulate(&model, &prepared, 0.1, &mut found);
        }
        assert!((sum - whole).abs() < 1e-3, "{sum} {whole}");
        for (id, gradient) in &expected {
            let difference = (gradient.clone() - found[id].clone()).abs().max().into_scalar();
            assert!(difference < 1e-5, "{difference}");
        }
    }

    #[test]
    fn mixed_precision_gives_nearly_the_same_gradients_in_single_precision() {
        type Model = AlignedTransformer<B>;
        let config = ModelConfig::tiny(40);
        let (model, exact, expected) = gradients::<Model>(&config, 1, Precision::F32);
        let (same, mixed, found) = gradients::<Model>(&config, 1, Precision::Bf16);
        assert!((exact - mixed).abs() < 0.02 * exact, "{exact} {mixed}");
        assert_ne!(exact.to_bits(), mixed.to_bits(), "the casts are there");
        let ids = |m: &Model| parameter_shapes::<B, _>(m);
        let square = |t: Tensor<_, 1>| f64::from(t.square().sum().into_scalar());
        let (mut error, mut whole) = (0.0, 0.0);
        for ((_, _, a), (_, _, b)) in ids(&model).into_iter().zip(ids(&same)) {
            error += square(expected[&a].clone() - found[&b].clone());
            whole += square(expected[&a].clone());
        }
        // bfloat16 has 8 significant bits.
        assert!((error / whole).sqrt() < 0.03, "{}", (error / whole).sqrt());
    }
}
