//! The training loop.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use burn::tensor::TensorData;
use burn::tensor::backend::AutodiffBackend;
use duilian_core::Direction;
use rand::RngExt;

use super::batch::generator;
use super::checkpoint::{self, RunState};
use super::evaluation::loss_of_shards;
use super::folder::RunFolder;
use super::gradients::{FlatGradients, GradientWorker};
use super::loader::Loader;
use super::optimizer::Optimizer;
use super::plan::BatchPlan;
use super::{
    CurvePoint, Flow, PreparedBatch, StepReport, TrainConfig, TrainObserver, TrainSummary, Trainable,
    TrainerSetup, TrainingCurve,
};
use crate::network::{Noise, load_parameters};
use crate::storage::{host_weights, tensor_data};
use crate::{AlignedTransformer, ModelError, Network, NetworkConfig, NetworkWeights};

/// Trains a [`Network`](crate::Network) on any backend of burn: an [`AlignedTransformer`] unless another is named.
///
/// A batch holds lines of one length, so nothing is padded; it is a pure function of seed and step, and so is
/// dropout. Batches are made and put on the device ahead of their use by threads of their own. On a processor the run is bit-identical however often it was stopped and resumed.
///
/// ```
/// use std::sync::Arc;
/// use duilian_core::TokenId;
/// use duilian_model::{AutodiffBackend, ModelConfig, ShardSet, ShardWriter, TrainConfig, Trainer, TrainerSetup};
///
/// let folder = tempfile::tempdir().unwrap();
/// let mut writer = ShardWriter::create(folder.path(), 40)?;
/// for i in 14..26 {
///     writer.push(&[TokenId(i), TokenId(i + 1)], &[TokenId(i + 12), TokenId(i + 13)], "toy")?;
/// }
/// writer.finish()?;
/// let setup = TrainerSetup {
///     model: ModelConfig::tiny(40),
///     train: TrainConfig { total_characters: 400, batch_characters: 16, ..TrainConfig::tiny() },
///     shards: Arc::new(ShardSet::open(folder.path())?),
///     validation: Vec::new(),
///     folder: folder.path().join("run"),
///     resume: false,
///     start_from: None,
/// };
/// let summary = Trainer::<AutodiffBackend>::new(setup, Default::default())?.run(&mut ())?;
/// assert!(summary.finished && summary.characters >= 400);
/// # Ok::<(), duilian_model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Trainer<A: AutodiffBackend, M: Trainable<A> = AlignedTransformer<A>> {
    setup: TrainerSetup<<M as Network<A>>::Config>,
    device: A::Device,
    plan: Arc<BatchPlan>,
    model: M,
    optimizer: Optimizer<A::InnerBackend>,
    state: RunState<<M as Network<A>>::Config>,
    worker: GradientWorker<A>,
    folder: RunFolder,
    clock: Clock,
    /// The other replicas, if there are any.
    #[cfg(feature = "collective")]
    exchange: Option<super::exchange::Exchange>,
    /// Whether the observer wants to stop.
    stop: bool,
}

/// Purpose of the stream of random numbers that seeds dropout.
const DROPOUT: u64 = 4;

/// What one step learns from.
struct StepInput<A: AutodiffBackend> {
    /// The parts of each batch.
    batches: Vec<Vec<PreparedBatch<A>>>,
    /// Of all replicas together.
    targets: usize,
    /// Of all replicas together.
    characters: u64,
}

/// Time spent on steps since the run was started or resumed.
#[derive(Debug, Default)]
struct Clock {
    stepping: Duration,
    characters: u64,
}

impl<A: AutodiffBackend, M: Trainable<A> + 'static> Trainer<A, M> {
    /// Prepares a run, from random weights, from `start_from`, or from the checkpoint in its folder.
    ///
    /// # Errors
    /// [`ModelError::InvalidConfig`] for settings out of range; [`ModelError::CannotResume`] if the folder has a
    /// checkpoint but `resume` is false, or if it was made with other settings or data; errors of files.
    pub fn new(
        setup: TrainerSetup<<M as Network<A>>::Config>,
        device: A::Device,
    ) -> Result<Self, ModelError> {
        setup.validate()?;
        let folder = RunFolder::create(&setup.folder)?;
        let plan =
            Arc::new(BatchPlan::new(Arc::clone(&setup.shards), &setup.train, setup.model.max_length())?);
        let on_host = on_host::<A>(&device);
        let mut model = match &setup.start_from {
            Some(path) => {
                let weights = NetworkWeights::<<M as Network<A>>::Config>::load(path)?;
                let blank = M::blank(&setup.model, &device)?;
                load_parameters(blank, tensor_data(weights), &path.display().to_string())?
            }
            None => M::drawn(&setup.model, setup.train.seed, &device)?,
        };
        model.set_precision(setup.train.precision);
        let optimizer = Optimizer::new(&model.valid(), on_host);
        let worker = GradientWorker::new(&setup.train, on_host)?;
        let state = RunState {
            model: setup.model.clone(),
            train: setup.train.clone(),
            pairs: setup.shards.pairs(),
            step: 0,
            characters: 0,
            recent: (0.0_f64.to_bits(), 0),
            best: Vec::new(),
            curve: TrainingCurve::default(),
        };
        let mut trainer = Self {
            setup,
            device,
            plan,
            model,
            optimizer,
            state,
            worker,
            folder,
            clock: Clock::default(),
            #[cfg(feature = "collective")]
            exchange: None,
            stop: false,
        };
        let checkpoint = trainer.folder.checkpoint();
        if checkpoint.exists() {
            if !trainer.setup.resume {
                let reason = format!("{} exists; resume it or choose another folder", checkpoint.display());
                return Err(ModelError::CannotResume { reason });
            }
            trainer.load(&checkpoint)?;
        }
        Ok(trainer)
    }

    /// One of several replicas that make the same steps.
    #[cfg(feature = "collective")]
    pub(super) fn replica(
        setup: TrainerSetup<<M as Network<A>>::Config>,
        device: A::Device,
        exchange: super::exchange::Exchange,
    ) -> Result<Self, ModelError> {
        Ok(Self { exchange: Some(exchange), ..Self::new(setup, device)? })
    }

    /// Which replica this is, of how many.
    #[cfg_attr(not(feature = "collective"), allow(clippy::unused_self))] // there are no others then
    fn seat(&self) -> (usize, usize) {
        #[cfg(feature = "collective")]
        if let Some(exchange) = &self.exchange {
            return (exchange.rank(), exchange.replicas());
        }
        (0, 1)
    }

    fn load(&mut self, path: &Path) -> Result<(), ModelError> {
        let (mut model, state) =
            checkpoint::load::<A, M>(path, self.model.clone(), &mut self.optimizer, &self.device)?;
        let differs = |reason: &str| Err(ModelError::CannotResume { reason: reason.to_owned() });
        if state.model != self.state.model {
            return differs("the checkpoint is of a network of other sizes");
        }
        // A run may be made longer or shorter, and be watched more or less closely, without becoming another run.
        let mut train = state.train.clone();
        train.clone_schedule_from(&self.state.train);
        if train != self.state.train {
            return differs("the checkpoint was made with other training settings");
        }
        if state.pairs != self.state.pairs {
            return differs("the checkpoint was made with other training pairs");
        }
        model.set_precision(train.precision);
        self.model = model;
        self.state = RunState { train, ..state };
        Ok(())
    }

    /// Steps and characters done so far.
    pub fn progress(&self) -> (u64, u64) {
        (self.state.step, self.state.characters)
    }

    /// Trains until the planned length is reached or the observer says stop. Ends with a validation, averaged
    /// weights, the curve and a checkpoint in the folder of the run.
    ///
    /// # Errors
    /// [`ModelError::NonFiniteLoss`] if the loss is no number any more, with the file that has the batches; errors
    /// of files.
    pub fn run(&mut self, observer: &mut dyn TrainObserver) -> Result<TrainSummary, ModelError> {
        let train = self.setup.train.clone();
        let (rank, replicas) = self.seat();
        if rank == 0 {
            self.folder.write_config(&self.setup.model, &train)?;
        }
        if train.metrics_every > 0 && rank == 0 {
            self.folder.open_metrics(self.state.step)?;
        }
        self.stop = false;
        self.clock = Clock::default();
        let mut loader = self.loader()?;
        let interval = Duration::from_secs(train.checkpoint_seconds);
        let mut saved = Instant::now();
        let mut flow = Flow::Continue;
        while self.state.characters < train.total_characters && flow == Flow::Continue {
            let (report, stopped) = self.step(&mut loader)?;
            flow = observer.on_step(&report);
            if train.metrics_every > 0 && self.state.step.is_multiple_of(train.metrics_every) {
                self.folder.log_step(&report)?;
            }
            let validate = self.state.step.is_multiple_of(train.validate_every);
            if validate && flow == Flow::Continue {
                flow = self.validate(observer)?;
            }
            if replicas > 1 {
                // The others hear of it with the gradients of the next step.
                self.stop |= flow == Flow::Stop;
                flow = if stopped { Flow::Stop } else { Flow::Continue };
            }
            let steps = train.checkpoint_steps;
            let due = if interval.is_zero() { validate } else { saved.elapsed() >= interval };
            if due || (steps > 0 && self.state.step.is_multiple_of(steps)) {
                self.save(observer)?;
                saved = Instant::now();
            }
        }
        let finished = self.state.characters >= train.total_characters;
        if finished && self.state.curve.points.last().is_none_or(|p| p.step != self.state.step) {
            self.validate(observer)?;
        }
        self.save(observer)?;
        Ok(TrainSummary {
            steps: self.state.step,
            characters: self.state.characters,
            finished,
            curve: self.state.curve.clone(),
        })
    }

    /// Starts the threads that make batches and put them on the device. A replica gets its share of the rows.
    fn loader(&self) -> Result<Loader<StepInput<A>>, ModelError> {
        let (rank, replicas) = self.seat();
        let train = &self.setup.train;
        let (plan, device) = (Arc::clone(&self.plan), self.device.clone());
        let (accumulation, parts_wanted, seed) = (train.accumulation as u64, train.batch_parts, train.seed);
        let (dropout, on_host) = (self.setup.model.dropout(), on_host::<A>(&self.device));
        let make = move |step: u64| {
            let mut input = StepInput { batches: Vec::new(), targets: 0, characters: 0 };
            for number in step * accumulation..(step + 1) * accumulation {
                let batch = plan.batch(number)?;
                input.characters += batch.asked.len() as u64;
                input.targets += M::targets(&batch).len();
                // A batch of few rows may leave the last replicas without any.
                let share = batch.split(replicas).into_iter().nth(rank);
                let parts = share.iter().flat_map(|share| share.split(parts_wanted));
                let prepare = |(i, part)| {
                    let mut prepared = M::prepare(part, &device);
                    // Each part of each batch drops numbers of its own.
                    let place = number * (replicas * parts_wanted) as u64 + (rank * parts_wanted + i) as u64;
                    let seed = generator(seed, DROPOUT, place).random();
                    prepared.noise = Noise::new(dropout, seed, on_host);
                    prepared
                };
                input.batches.push(parts.enumerate().map(prepare).collect());
            }
            Ok(input)
        };
        Loader::start(train.loader_threads, train.batches_ahead, self.state.step, make)
    }

    /// One step; also says whether some replica wanted to stop.
    fn step(&mut self, loader: &mut Loader<StepInput<A>>) -> Result<(StepReport, bool), ModelError> {
        let started = Instant::now();
        let input = loader.next()?;
        let train = &self.setup.train;
        let rate = train.rate(self.state.step, self.state.characters);
        if self.setup.model.dropout() > 0.0 && !on_host::<A>(&self.device) {
            A::seed(&self.device, train.seed ^ (self.state.step + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        let (mut loss, mut gradient_norm, mut stopped) = (0.0, 0.0, false);
        if input.targets > 0 {
            let (sum, gradients, stop) = self.gradients(&input, train)?;
            stopped = stop;
            if !sum.is_finite() {
                let batches: Vec<_> = input.batches.iter().flatten().map(|p| &p.batch).collect();
                let file = self.folder.write_bad_batches(self.state.step, self.seat().0, &batches)?;
                return Err(ModelError::NonFiniteLoss { loss: sum, step: self.state.step, file });
            }
            let (model, norm) =
                self.optimizer.step::<A, M>(self.model.clone(), gradients, train, self.state.step, rate);
            self.model = model;
            gradient_norm = norm;
            loss = f64::from(sum) / input.targets as f64;
            self.state.recent.0 = (f64::from_bits(self.state.recent.0) + f64::from(sum)).to_bits();
            self.state.recent.1 += input.targets as u64;
        }
        self.state.step += 1;
        self.state.characters += input.characters;
        self.clock.stepping += started.elapsed();
        self.clock.characters += input.characters;
        let seconds = self.clock.stepping.as_secs_f64().max(f64::MIN_POSITIVE);
        let report = StepReport {
            step: self.state.step,
            characters: self.state.characters,
            total_characters: self.setup.train.total_characters,
            loss,
            rate,
            gradient_norm,
            characters_per_second: self.clock.characters as f64 / seconds,
            waiting_share: loader.waited().as_secs_f64() / seconds,
            queue_fill: loader.mean_fill(),
        };
        Ok((report, stopped))
    }

    /// Summed loss of a step's batches, the gradient of its mean, and whether some replica wants to stop.
    #[cfg_attr(not(feature = "collective"), allow(clippy::unnecessary_wraps))] // nothing can fail then
    fn gradients(
        &self,
        input: &StepInput<A>,
        train: &TrainConfig,
    ) -> Result<(f32, FlatGradients<A>, bool), ModelError> {
        // A step of few characters, as rare lengths make them, must not pull as hard as a full one.
        let full = train.batch_characters * train.accumulation;
        let scale = 1.0 / input.targets.max(full / 2) as f32;
        let mut gradients = FlatGradients::<A>::new();
        let sum = input
            .batches
            .iter()
            .map(|parts| self.worker.accumulate(&self.model, parts, scale, &mut gradients))
            .sum();
        #[cfg(feature = "collective")]
        if let Some(exchange) = &self.exchange {
            let (gradients, sum, stop) =
                exchange.sum::<A, M>(&self.model, &self.device, gradients, sum, self.stop)?;
            return Ok((sum, gradients, stop));
        }
        Ok((sum, gradients, self.stop))
    }

    fn averaged_tensors(&self) -> BTreeMap<String, TensorData> {
        let shapes = crate::network::parameter_shapes::<A, _>(&self.model);
        shapes
            .into_iter()
            .map(|(name, shape, _)| {
                let values = self.optimizer.states[&name].average.to_data();
                let values = values.into_vec::<f32>().expect("weights are f32");
                (name, TensorData::new(values, shape))
            })
            .collect()
    }

    fn validate(&mut self, observer: &mut dyn TrainObserver) -> Result<Flow, ModelError> {
        if self.seat().0 > 0 {
            // The first replica does it; all of them forget the same losses.
            self.state.recent = (0.0_f64.to_bits(), 0);
            return Ok(Flow::Continue);
        }
        let averaged = self.averaged_tensors();
        let blank = <M::InnerModule as Network<A::InnerBackend>>::blank(&self.setup.model, &self.device)?;
        let model = load_parameters(blank, averaged.clone(), "averaged weights")?;
        let limit = self.setup.train.validation_characters;
        let longest = self.setup.model.max_length();
        let loss = |shards, direction| {
            let sum = loss_of_shards(&model, shards, direction, longest, limit, &self.device);
            rounded(sum.per_character(), 1e6)
        };
        let sets = self.setup.validation.iter();
        let validation: Vec<_> = sets
            .map(|set| {
                let [forward, reverse] = Direction::ALL.map(|direction| loss(&set.shards, direction));
                (set.name.clone(), forward, reverse)
            })
            .collect();
        let (sum, characters) = std::mem::take(&mut self.state.recent);
        let point = CurvePoint {
            step: self.state.step,
            characters: self.state.characters,
            rate: rounded(self.setup.train.rate(self.state.step, self.state.characters), 1e9),
            train_loss: rounded(f64::from_bits(sum) / characters.max(1) as f64, 1e6),
            validation,
        };
        let keep_best = self.setup.train.keep_best;
        if let Some((_, forward, reverse)) = point.validation.first() {
            let best = &mut self.state.best;
            best.push((self.state.step, f64::midpoint(*forward, *reverse)));
            // Stable: of two equal losses the earlier one stays first.
            best.sort_by(|a, b| a.1.total_cmp(&b.1));
            best.truncate(keep_best);
        }
        let description = format!("{} characters, {} steps", self.state.characters, self.state.step);
        let weights = host_weights(self.setup.model.clone(), &description, averaged);
        self.folder.write_weights(&weights, self.state.step, &self.state.best, keep_best)?;
        self.state.curve.points.push(point.clone());
        self.folder.write_curve(&self.state.curve)?;
        self.folder.log_validation(&point)?;
        Ok(observer.on_validation(&point))
    }

    fn save(&self, observer: &mut dyn TrainObserver) -> Result<(), ModelError> {
        if self.seat().0 > 0 {
            return Ok(());
        }
        let path = self.folder.checkpoint();
        checkpoint::save(&path, &self.state, &self.model, &self.optimizer)?;
        self.folder.keep_checkpoint(self.state.step, self.setup.train.keep_last)?;
        observer.on_checkpoint(&path);
        Ok(())
    }
}

/// Whether tensors lie in host memory, as those of flex do: whole-pass loops over them beat chains of tensor
/// operations.
fn on_host<A: AutodiffBackend>(device: &A::Device) -> bool {
    A::name(device).contains("flex")
}

/// Rounds to a number of decimals that JSON carries without loss.
fn rounded(value: f64, unit: f64) -> f64 {
    (value * unit).round() / unit
}
