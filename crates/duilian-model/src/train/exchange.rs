//! Several devices, and several machines, that learn from the same batches.

use std::sync::atomic::{AtomicBool, Ordering};

use burn::tensor::Tensor;
use burn::tensor::TensorPrimitive;
use burn::tensor::backend::AutodiffBackend;
use burn_collective::{CollectiveConfig, PeerId, ReduceOperation};

use super::gradients::FlatGradients;
use super::{Flow, StepReport, TrainObserver, TrainSummary, Trainable, Trainer, TrainerSetup};
use crate::network::parameter_shapes;
use crate::{ModelError, Network};

/// How replicas of a network are spread.
///
/// ```
/// use duilian_model::DataParallel;
///
/// let parallel = DataParallel::on_one_machine(2);
/// assert_eq!((parallel.first_rank, parallel.replicas), (0, 2));
/// ```
#[derive(Debug, Clone)]
pub struct DataParallel {
    /// Number of the first replica of this machine.
    pub first_rank: usize,
    /// Replicas on all machines together.
    pub replicas: usize,
    /// How burn adds gradients up: strategies, and the addresses where there is more than one machine.
    pub collective: CollectiveConfig,
}

impl DataParallel {
    /// All replicas on this machine, their gradients added up in a tree.
    pub fn on_one_machine(replicas: usize) -> Self {
        Self { first_rank: 0, replicas, collective: CollectiveConfig::default() }
    }
}

/// One replica's seat among the others.
#[derive(Debug)]
pub(super) struct Exchange {
    rank: usize,
    replicas: usize,
}

impl Exchange {
    /// Which of [`Exchange::replicas`] this one is.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn replicas(&self) -> usize {
        self.replicas
    }

    /// Adds up gradients, losses and wishes to stop over all replicas. All of them get the same result.
    pub(super) fn sum<A: AutodiffBackend, M: Trainable<A>>(
        &self,
        model: &M,
        device: &A::Device,
        mut gradients: FlatGradients<A>,
        loss: f32,
        stop: bool,
    ) -> Result<(FlatGradients<A>, f32, bool), ModelError> {
        // One tensor in the order of the parameters, whose ids differ between replicas.
        let shapes = parameter_shapes::<A, M>(model);
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        let mut parts: Vec<Tensor<A::InnerBackend, 1>> = shapes
            .iter()
            .map(|(_, shape, id)| {
                gradients.remove(id).unwrap_or_else(|| Tensor::zeros([count(shape)], device))
            })
            .collect();
        parts.push(Tensor::from_floats([loss, f32::from(u8::from(stop))], device));
        let whole = Tensor::cat(parts, 0).into_primitive().tensor();
        let sum = burn_collective::all_reduce::<A::InnerBackend>(
            PeerId::from(self.rank),
            whole,
            ReduceOperation::Sum,
        )
        .map_err(|e| ModelError::Replica { rank: self.rank, reason: format!("{e:?}") })?;
        let sum = Tensor::<A::InnerBackend, 1>::from_primitive(TensorPrimitive::Float(sum));
        let mut start = 0;
        let mut gradients = FlatGradients::<A>::new();
        for (_, shape, id) in shapes {
            let length = count(&shape);
            gradients.insert(id, sum.clone().narrow(0, start, length));
            start += length;
        }
        let rest = sum.narrow(0, start, 2).into_data();
        let mut rest = rest.iter::<f32>();
        let mut next = || rest.next().unwrap_or_default();
        Ok((gradients, next(), next() > 0.0))
    }
}

/// Trains one replica of the network on each device. Every replica reads its share of the rows of each batch, burn's
/// collective adds the gradients up, and all replicas make the same step. The first one writes the folder of the run
/// and tells the observer; when the observer says stop, all of them stop after the next step.
///
/// The device of several replicas may be the same one. Where there is more than one machine, each calls this with its
/// own devices and [`DataParallel::first_rank`], and the same settings and data.
///
/// # Errors
/// [`ModelError::InvalidConfig`] if there is no device or the replicas do not cover the devices, or
/// where [`Trainer::new`] says so; [`ModelError::Replica`] if another replica failed; otherwise as [`Trainer::run`].
pub fn train_on_devices<A, M>(
    setup: &TrainerSetup<<M as Network<A>>::Config>,
    devices: &[A::Device],
    parallel: &DataParallel,
    observer: &mut (dyn TrainObserver + Send),
) -> Result<TrainSummary, ModelError>
where
    A: AutodiffBackend,
    M: Trainable<A> + 'static,
{
    let invalid =
        |reason: &str| Err(ModelError::InvalidConfig { field: "devices", reason: reason.to_owned() });
    if devices.is_empty() {
        return invalid("there is none");
    }
    if parallel.first_rank + devices.len() > parallel.replicas {
        return invalid("there are more of them than replicas");
    }
    let failed = AtomicBool::new(false);
    let mut watchers: Vec<Option<&mut (dyn TrainObserver + Send)>> = vec![Some(observer)];
    watchers.resize_with(devices.len(), || None);
    let results: Vec<Result<TrainSummary, ModelError>> = std::thread::scope(|scope| {
        let replicas: Vec<_> = devices
            .iter()
            .zip(watchers)
            .enumerate()
            .map(|(i, (device, watcher))| {
                let rank = parallel.first_rank + i;
                let collective = parallel.collective.clone().with_num_devices(devices.len());
                let (failed, replicas) = (&failed, parallel.replicas);
                scope.spawn(move || {
                    let exchange = Exchange { rank, replicas };
                    let result =
                        replica::<A, M>(setup.clone(), device.clone(), exchange, collective, watcher);
                    if result.is_err() && !failed.swap(true, Ordering::SeqCst) {
                        // The others would wait for this one for ever.
                        burn_collective::reset_collective::<A::InnerBackend>();
                    }
                    result
                })
            })
            .collect();
        let join = |(i, handle): (usize, std::thread::ScopedJoinHandle<'_, _>)| {
            handle.join().unwrap_or_else(|_| {
                let rank = parallel.first_rank + i;
                Err(ModelError::Replica { rank, reason: "its thread has ended".to_owned() })
            })
        };
        replicas.into_iter().enumerate().map(join).collect()
    });
    // What went wrong first says more than that a neighbour was lost.
    let mut summary = None;
    let mut lost = None;
    for result in results {
        match result {
            Ok(found) => summary = summary.or(Some(found)),
            Err(error @ ModelError::Replica { .. }) => lost = lost.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    match (lost, summary) {
        (Some(error), _) => Err(error),
        (None, Some(summary)) => Ok(summary),
        (None, None) => invalid("there is none"),
    }
}

fn replica<A: AutodiffBackend, M: Trainable<A> + 'static>(
    setup: TrainerSetup<<M as Network<A>>::Config>,
    device: A::Device,
    exchange: Exchange,
    collective: CollectiveConfig,
    watcher: Option<&mut (dyn TrainObserver + Send)>,
) -> Result<TrainSummary, ModelError> {
    let rank = exchange.rank;
    let wrong = |e| ModelError::Replica { rank, reason: format!("{e:?}") };
    let mut trainer = Trainer::<A, M>::replica(setup, device.clone(), exchange)?;
    burn_collective::register::<A::InnerBackend>(PeerId::from(rank), device, collective).map_err(wrong)?;
    let summary = match watcher {
        Some(watcher) => trainer.run(&mut Forward(watcher)),
        None => trainer.run(&mut ()),
    }?;
    burn_collective::finish_collective::<A::InnerBackend>(PeerId::from(rank)).map_err(wrong)?;
    Ok(summary)
}

/// Hands everything on; the trainer asks for observers that need not be sent.
struct Forward<'a>(&'a mut (dyn TrainObserver + Send));

impl TrainObserver for Forward<'_> {
    fn on_step(&mut self, report: &StepReport) -> Flow {
        self.0.on_step(report)
    }

    fn on_validation(&mut self, point: &super::CurvePoint) -> Flow {
        self.0.on_validation(point)
    }

    fn on_checkpoint(&mut self, path: &std::path::Path) {
        self.0.on_checkpoint(path);
    }
}
