//! The training loop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use burn::module::AutodiffModule;
use burn::tensor::TensorData;
use burn::tensor::backend::AutodiffBackend;
use duilian_core::Direction;

use super::batch::BatchPlan;
use super::checkpoint::{self, RunState};
use super::evaluation::loss_of_shards;
use super::gradients::GradientWorker;
use super::optimizer::Optimizer;
use super::{CurvePoint, TrainConfig, TrainingCurve};
use crate::network::load_parameters;
use crate::storage::write_atomically;
use crate::{AlignedTransformer, ModelConfig, ModelError, ModelWeights, ShardSet, WeightFormat};

/// Name of the checkpoint in the folder of a run.
const CHECKPOINT_FILE: &str = "checkpoint.safetensors";
/// Averaged weights with the lowest validation loss.
const BEST_FILE: &str = "best.safetensors";
/// Averaged weights of the last validation.
const LAST_FILE: &str = "last.safetensors";
const CURVE_FILE: &str = "curve.csv";
const PICTURE_FILE: &str = "curve.svg";
const CONFIG_FILE: &str = "config.json";

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// Go on. The default.
    #[default]
    Continue,
    /// Write a checkpoint and return.
    Stop,
}

/// What one step did.
#[derive(Debug, Clone, PartialEq)]
pub struct StepReport {
    /// Steps done, this one included.
    pub step: u64,
    /// Characters learnt from, over all steps.
    pub characters: u64,
    /// Length of the run in characters.
    pub total_characters: u64,
    /// Loss of this batch per character in nats, smoothing left out.
    pub loss: f64,
    /// Learning rate of this step.
    pub rate: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f32,
}

/// Watches a run: progress bars, logs, stopping.
pub trait TrainObserver {
    /// After every step.
    fn on_step(&mut self, _report: &StepReport) -> Flow {
        Flow::Continue
    }

    /// After every validation.
    fn on_validation(&mut self, _point: &CurvePoint) -> Flow {
        Flow::Continue
    }

    /// After every checkpoint, with its file.
    fn on_checkpoint(&mut self, _path: &Path) {}
}

impl TrainObserver for () {}

/// Pairs to measure the loss on, with a name for the curve.
#[derive(Debug, Clone)]
pub struct ValidationSet {
    /// Short name without commas.
    pub name: String,
    /// The pairs.
    pub shards: Arc<ShardSet>,
}

/// Everything that a run is made of.
#[derive(Debug, Clone)]
pub struct TrainerSetup {
    /// Sizes of the network.
    pub model: ModelConfig,
    /// Settings of the run.
    pub train: TrainConfig,
    /// Training pairs.
    pub shards: Arc<ShardSet>,
    /// Validation pairs; the first set decides which weights are best.
    pub validation: Vec<ValidationSet>,
    /// Folder of the run: checkpoint, weights, curve.
    pub folder: PathBuf,
    /// Go on from the checkpoint in the folder if there is one; otherwise a folder with a checkpoint is refused.
    /// Length of the run and the intervals of validations and checkpoints may differ from the run before.
    pub resume: bool,
    /// Weights to start from instead of random ones.
    pub start_from: Option<PathBuf>,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainSummary {
    /// Steps done.
    pub steps: u64,
    /// Characters learnt from.
    pub characters: u64,
    /// Whether the planned length was reached.
    pub finished: bool,
    /// The validations.
    pub curve: TrainingCurve,
}

/// Trains an [`AlignedTransformer`] on any backend of burn.
///
/// A batch holds lines of one length, so nothing is padded; it is a pure function of seed and step, and so is
/// dropout. On a processor the run is bit-identical however often it was stopped and resumed.
///
/// ```
/// use std::sync::Arc;
/// use duilian_core::TokenId;
/// use duilian_model::{AutodiffBackend, ModelConfig, ShardSet, ShardWriter, TrainConfig, Trainer, TrainerSetup};
///
/// let folder = tempfile::tempdir().unwrap();
/// let mut writer = ShardWriter::new(40);
/// for i in 14..26 {
///     writer.push(&[TokenId(i), TokenId(i + 1)], &[TokenId(i + 12), TokenId(i + 13)], "toy")?;
/// }
/// writer.finish(folder.path())?;
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
pub struct Trainer<A: AutodiffBackend> {
    setup: TrainerSetup,
    device: A::Device,
    plan: BatchPlan,
    model: AlignedTransformer<A>,
    optimizer: Optimizer<A::InnerBackend>,
    state: RunState,
    worker: GradientWorker<A>,
}

impl<A: AutodiffBackend> Trainer<A> {
    /// Prepares a run, from random weights, from `start_from`, or from the checkpoint in its folder.
    ///
    /// # Errors
    /// [`ModelError::InvalidConfig`] for settings out of range; [`ModelError::CannotResume`] if the folder has a
    /// checkpoint but `resume` is false, or if it was made with other settings or data; errors of files.
    pub fn new(setup: TrainerSetup, device: A::Device) -> Result<Self, ModelError> {
        setup.train.validate()?;
        setup.model.validate()?;
        if setup.shards.vocabulary_size() != setup.model.vocabulary_size {
            return Err(ModelError::InvalidConfig {
                field: "vocabulary_size",
                reason: format!(
                    "the shards have {}, the model {}",
                    setup.shards.vocabulary_size(),
                    setup.model.vocabulary_size
                ),
            });
        }
        std::fs::create_dir_all(&setup.folder).map_err(ModelError::io("make", &setup.folder))?;
        let plan = BatchPlan::new(Arc::clone(&setup.shards), &setup.train, setup.model.max_length)?;
        // Tensors of flex lie in host memory: whole-pass loops over them beat chains of tensor operations.
        let on_host = A::name(&device).contains("flex");
        let model = match &setup.start_from {
            Some(path) => {
                let blank = AlignedTransformer::<A>::blank(&setup.model, &device)?;
                let weights = ModelWeights::load(path)?;
                load_parameters(blank, weights.into_tensors(), &path.display().to_string())?
            }
            None => AlignedTransformer::<A>::new(&setup.model, setup.train.seed, &device)?,
        };
        let optimizer = Optimizer::new(&model.valid(), on_host);
        let worker = GradientWorker::new(&setup, on_host, device.clone())?;
        let state = RunState {
            model: setup.model.clone(),
            train: setup.train.clone(),
            pairs: setup.shards.pairs(),
            step: 0,
            characters: 0,
            recent: (0.0_f64.to_bits(), 0),
            best: None,
            curve: TrainingCurve::default(),
        };
        let mut trainer = Self { setup, device, plan, model, optimizer, state, worker };
        let checkpoint = trainer.setup.folder.join(CHECKPOINT_FILE);
        if checkpoint.exists() {
            if !trainer.setup.resume {
                let reason = format!("{} exists; resume it or choose another folder", checkpoint.display());
                return Err(ModelError::CannotResume { reason });
            }
            trainer.load(&checkpoint)?;
        }
        trainer.write_config()?;
        Ok(trainer)
    }

    fn load(&mut self, path: &Path) -> Result<(), ModelError> {
        let (model, state) =
            checkpoint::load::<A>(path, self.model.clone(), &mut self.optimizer, &self.device)?;
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
    /// [`ModelError::NonFiniteLoss`] if the loss is no number any more; errors of files.
    pub fn run(&mut self, observer: &mut dyn TrainObserver) -> Result<TrainSummary, ModelError> {
        let interval = Duration::from_secs(self.setup.train.checkpoint_seconds);
        let mut saved = Instant::now();
        let mut flow = Flow::Continue;
        while self.state.characters < self.setup.train.total_characters && flow == Flow::Continue {
            let report = self.step()?;
            flow = observer.on_step(&report);
            let validate = self.state.step.is_multiple_of(self.setup.train.validate_every);
            if validate && flow == Flow::Continue {
                flow = self.validate(observer)?;
            }
            let steps = self.setup.train.checkpoint_steps;
            let due = if interval.is_zero() { validate } else { saved.elapsed() >= interval };
            if due || (steps > 0 && self.state.step.is_multiple_of(steps)) {
                self.save(observer)?;
                saved = Instant::now();
            }
        }
        let finished = self.state.characters >= self.setup.train.total_characters;
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

    fn step(&mut self) -> Result<StepReport, ModelError> {
        let train = &self.setup.train;
        let batch = self.plan.batch(self.state.step);
        let counted = batch.counted().len();
        let rate = train.rate(self.state.step, self.state.characters);
        if self.setup.model.dropout > 0.0 {
            // Dropout is a function of the step as well, unless another thread draws from burn's generator.
            A::seed(&self.device, train.seed ^ (self.state.step + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        let (mut loss, mut gradient_norm) = (0.0, 0.0);
        if counted > 0 {
            // A batch of few characters, as rare lengths make them, must not pull as hard as a full one.
            let scale = 1.0 / counted.max(train.batch_characters / 2) as f32;
            let parts = batch.split(train.batch_parts);
            let (sum, gradients) = self.worker.gradients(&self.model, &parts, &self.setup, scale);
            if !sum.is_finite() {
                return Err(ModelError::NonFiniteLoss { loss: sum, step: self.state.step });
            }
            let step = self.state.step;
            let (model, norm) =
                self.optimizer.step::<A, _>(self.model.clone(), gradients, &self.setup.train, step, rate);
            self.model = model;
            gradient_norm = norm;
            loss = f64::from(sum) / counted as f64;
            self.state.recent.0 = (f64::from_bits(self.state.recent.0) + f64::from(sum)).to_bits();
            self.state.recent.1 += counted as u64;
        }
        self.state.step += 1;
        self.state.characters += batch.asked.len() as u64;
        Ok(StepReport {
            step: self.state.step,
            characters: self.state.characters,
            total_characters: self.setup.train.total_characters,
            loss,
            rate,
            gradient_norm,
        })
    }

    /// The averaged weights as a model without gradients.
    fn averaged(&self) -> Result<AlignedTransformer<A::InnerBackend>, ModelError> {
        let model = AlignedTransformer::blank(&self.setup.model, &self.device)?;
        load_parameters(model, self.averaged_tensors(), "averaged weights")
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
        let model = self.averaged()?;
        let limit = self.setup.train.validation_characters;
        let validation: Vec<_> = self
            .setup
            .validation
            .iter()
            .map(|set| {
                let [forward, reverse] = Direction::ALL.map(|direction| {
                    let longest = self.setup.model.max_length;
                    loss_of_shards(&model, &set.shards, direction, longest, limit, &self.device)
                        .per_character()
                });
                (set.name.clone(), rounded(forward, 1e6), rounded(reverse, 1e6))
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
        let folder = &self.setup.folder;
        let description = format!("{} characters, {} steps", self.state.characters, self.state.step);
        let weights =
            ModelWeights::from_parts(self.setup.model.clone(), &description, self.averaged_tensors());
        weights.save(&folder.join(LAST_FILE), WeightFormat::F32)?;
        let loss = point.validation.first().map(|v| f64::midpoint(v.1, v.2));
        if let Some(loss) = loss.filter(|&l| self.state.best.is_none_or(|best| l < best)) {
            self.state.best = Some(loss);
            weights.save(&folder.join(BEST_FILE), WeightFormat::F32)?;
        }
        self.state.curve.points.push(point.clone());
        write_atomically(&folder.join(CURVE_FILE), self.state.curve.to_csv().as_bytes())?;
        write_atomically(&folder.join(PICTURE_FILE), self.state.curve.to_svg()?.as_bytes())?;
        Ok(observer.on_validation(&point))
    }

    fn save(&self, observer: &mut dyn TrainObserver) -> Result<(), ModelError> {
        let path = self.setup.folder.join(CHECKPOINT_FILE);
        checkpoint::save(&path, &self.state, &self.model, &self.optimizer)?;
        observer.on_checkpoint(&path);
        Ok(())
    }

    fn write_config(&self) -> Result<(), ModelError> {
        let config = serde_json::json!({ "model": self.setup.model, "train": self.setup.train });
        let json = serde_json::to_vec_pretty(&config).expect("settings are plain data");
        write_atomically(&self.setup.folder.join(CONFIG_FILE), &json)
    }
}

/// Rounds to a number of decimals that JSON carries without loss.
fn rounded(value: f64, unit: f64) -> f64 {
    (value * unit).round() / unit
}
