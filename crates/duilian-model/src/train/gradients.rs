//! Gradients of a batch, in parts that are computed side by side.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::TrainerSetup;
use super::batch::{HostBatch, ids};
use super::loss::smoothed_cross_entropy;
use super::optimizer::flatten;
use crate::{AlignedTransformer, ModelError};

/// Gradients of flattened parameters.
pub(crate) type FlatGradients<A> = BTreeMap<ParamId, Tensor<<A as AutodiffBackend>::InnerBackend, 1>>;

/// Computes gradients of batches.
#[derive(Debug)]
pub(crate) struct GradientWorker<A: AutodiffBackend> {
    /// One pool a part; empty where parts are computed one after another.
    pools: Vec<ThreadPool>,
    on_host: bool,
    device: A::Device,
}

impl<A: AutodiffBackend> GradientWorker<A> {
    /// Makes the thread pools.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if the system refuses to start threads.
    pub(crate) fn new(setup: &TrainerSetup, on_host: bool, device: A::Device) -> Result<Self, ModelError> {
        let parts = setup.train.batch_parts;
        // Dropout draws from one stream a device: only one part at a time makes its order certain.
        let side_by_side = on_host && parts > 1 && setup.model.dropout == 0.0;
        let threads = (rayon::current_num_threads() / parts).max(1);
        let pools = (0..if side_by_side { parts } else { 0 })
            .map(|_| ThreadPoolBuilder::new().num_threads(threads).build())
            .collect::<Result<_, _>>()
            .map_err(|e| ModelError::Malformed { reason: format!("threads cannot be started: {e}") })?;
        Ok(Self { pools, on_host, device })
    }

    /// Summed loss of a batch's parts and the gradient of the loss times `scale`.
    pub(crate) fn gradients(
        &self,
        model: &AlignedTransformer<A>,
        parts: &[HostBatch],
        setup: &TrainerSetup,
        scale: f32,
    ) -> (f32, FlatGradients<A>) {
        let smoothing = setup.train.label_smoothing as f32;
        let mut results: Vec<Option<(f32, FlatGradients<A>)>> = Vec::new();
        results.resize_with(parts.len(), || None);
        if self.pools.is_empty() || parts.len() == 1 {
            for (part, result) in parts.iter().zip(&mut results) {
                *result = Some(self.part(model, part, smoothing, scale));
            }
        } else {
            rayon::scope(|scope| {
                for ((part, result), pool) in parts.iter().zip(&mut results).zip(&self.pools) {
                    // Parts must not share leaves: burn merges graphs that do, and locks them.
                    let model = model.clone().map(&mut FreshLeaves);
                    scope.spawn(move |_| {
                        *result = Some(pool.install(|| self.part(&model, part, smoothing, scale)));
                    });
                }
            });
        }
        // Added in order of the parts, whichever was ready first.
        let mut sum = 0.0;
        let mut total = FlatGradients::<A>::new();
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
        (sum, total)
    }

    fn part(
        &self,
        model: &AlignedTransformer<A>,
        batch: &HostBatch,
        smoothing: f32,
        scale: f32,
    ) -> (f32, FlatGradients<A>) {
        let counted = batch.counted();
        if counted.is_empty() {
            return (0.0, FlatGradients::<A>::new());
        }
        // The embedding is a table of millions of numbers of which a batch touches few: its rows enter the graph
        // as leaves of their own, and their gradients are added to the output layer's, which is dense anyway.
        let tokens = ids::<A::InnerBackend>(batch.embedded_tokens().into_iter(), &self.device);
        let scale_in = (model.width() as f64).sqrt();
        let table = model.embedding.val().inner();
        let rows =
            Tensor::<A, 2>::from_inner(table.clone().select(0, tokens.clone()) * scale_in).require_grad();
        let (source, previous) = batch.inputs(&rows, &self.device);
        let hidden = model.decode(&model.encode(source), previous, batch.rows);
        let places: Vec<i32> = counted.iter().map(|&i| i as i32).collect();
        let hidden = hidden.select(0, Tensor::from_ints(places.as_slice(), &self.device));
        let targets: Vec<u16> = counted.iter().map(|&i| batch.asked[i]).collect();
        let output = smoothed_cross_entropy(hidden, table, &targets, smoothing, scale, self.on_host);
        let mut graph = output.surrogate.backward();
        let mut table_gradient = output.table_gradient;
        if let Some(gradient) = rows.grad_remove(&mut graph) {
            let update = burn::tensor::IndexingUpdateOp::Add;
            table_gradient = table_gradient.select_assign(0, tokens, gradient * scale_in, update);
        }
        let mut gradients = GradientsParams::from_grads(graph, model);
        gradients.register::<A::InnerBackend, 2>(model.embedding.id, table_gradient);
        (output.negative_log_likelihood, flatten::<A, _>(model, &mut gradients))
    }
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
    use crate::{AutodiffBackend as B, ModelConfig, ShardSet, ShardWriter, TrainConfig};

    fn setup(folder: &std::path::Path, parts: usize) -> TrainerSetup {
        let mut writer = ShardWriter::new(40);
        writer.push(&[TokenId(14)], &[TokenId(15)], "a").expect("valid");
        writer.finish(folder).expect("writes");
        TrainerSetup {
            model: ModelConfig::tiny(40),
            train: TrainConfig { batch_parts: parts, ..TrainConfig::default() },
            shards: std::sync::Arc::new(ShardSet::open(folder).expect("opens")),
            validation: Vec::new(),
            folder: folder.to_owned(),
            resume: false,
            start_from: None,
        }
    }

    fn batch() -> HostBatch {
        let line = |ids: [u16; 4]| ids.map(TokenId);
        let mut batch = HostBatch::empty(4);
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

    fn gradients(parts: usize) -> (AlignedTransformer<B>, f32, FlatGradients<B>) {
        let folder = tempfile::tempdir().expect("temporary folder");
        let setup = setup(folder.path(), parts);
        let device = crate::DefaultDevice::default();
        let model = AlignedTransformer::<B>::new(&setup.model, 3, &device).expect("valid");
        let worker = GradientWorker::<B>::new(&setup, true, device).expect("starts");
        let (loss, gradients) = worker.gradients(&model, &batch().split(parts), &setup, 0.1);
        (model, loss, gradients)
    }

    #[test]
    fn every_parameter_is_reached() {
        let (model, loss, gradients) = gradients(1);
        assert!(loss > 0.0);
        for (path, _, id) in parameter_shapes::<B, _>(&model) {
            let gradient = gradients.get(&id).unwrap_or_else(|| panic!("{path} has no gradient"));
            assert!(gradient.clone().abs().max().into_scalar() > 0.0, "{path} has a gradient of zeros");
        }
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let (model, whole, expected) = gradients(1);
        for parts in [2, 3] {
            let (same, sum, found) = gradients(parts);
            assert!((sum - whole).abs() < 1e-3, "{sum} {whole}");
            let ids = |m: &AlignedTransformer<B>| parameter_shapes::<B, _>(m);
            for ((path, _, a), (_, _, b)) in ids(&model).into_iter().zip(ids(&same)) {
                let difference = (expected[&a].clone() - found[&b].clone()).abs().max().into_scalar();
                assert!(difference < 1e-5, "{path}: {difference}");
            }
        }
    }
}
