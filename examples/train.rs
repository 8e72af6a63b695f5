//! Trains a model: by default a tiny one on the embedded corpus, in a few minutes.
//!
//!     cargo run --release --example train
//!     cargo run --release --example train -- --data data --preset compact --out runs/compact
//!
//! The folder of a run holds `tokenizer.json`, the shards, `checkpoint.safetensors`, `best.safetensors`,
//! `last.safetensors`, `curve.csv`, `curve.svg`, `metrics.jsonl` and `config.json`. Started again with `--resume` it goes on.

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use duilian::core::Vocabulary;
use duilian::model::{
    AlignedTransformer, AttentionSeq2Seq, AutodiffBackend, CurvePoint, Flow, ModelConfig, Network,
    Seq2SeqConfig, ShardSet, ShardWriter, StepReport, TrainConfig, TrainObserver, Trainable, Trainer,
    TrainerSetup, ValidationSet,
};
use duilian::tokenizer::{CharTokenizer, TrainerConfig};
use duilian_examples::{Failure, Row, embedded_pairs, read_pairs};
use indicatif::{ProgressBar, ProgressStyle};

/// Trains a model on pairs of lines.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Folder with `train.tsv`, `valid.tsv` and `valid_authored.tsv` as `clean` writes them; without it the embedded
    /// corpus is used.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Sizes of the network: tiny, compact, base, or those of the baseline: `seq2seq_tiny`, `seq2seq_small`,
    /// `seq2seq_2017`.
    #[arg(long, default_value = "tiny")]
    preset: String,
    /// Folder of the run.
    #[arg(long, default_value = "runs/tiny")]
    out: PathBuf,
    /// Training settings as JSON; those not named keep their defaults.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Length of the run in characters of answers, in place of the setting.
    #[arg(long)]
    characters: Option<u64>,
    /// Vocabulary to use instead of one learnt from the training pairs.
    #[arg(long)]
    tokenizer: Option<PathBuf>,
    /// Weights to start from instead of random ones.
    #[arg(long)]
    start_from: Option<PathBuf>,
    /// Go on from the checkpoint in the folder.
    #[arg(long)]
    resume: bool,
    /// Print a line at every validation instead of a moving bar.
    #[arg(long)]
    plain: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("train: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut train = match &arguments.config {
        Some(path) => {
            let json = std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?;
            serde_json::from_slice(&json).map_err(|e| Failure::Text(format!("{}: {e}", path.display())))?
        }
        None if arguments.preset == "tiny" => TrainConfig::tiny(),
        None => TrainConfig::default(),
    };
    if let Some(characters) = arguments.characters {
        train.total_characters = characters;
    }
    let tokenizer_path = arguments.out.join("tokenizer.json");
    let shards = arguments.out.join("shards");
    if !(arguments.resume && tokenizer_path.exists() && shards.join("train").exists()) {
        prepare(arguments, &tokenizer_path, &shards)?;
    }
    let tokenizer = CharTokenizer::load(&tokenizer_path)?;
    let open = |name: &str| ShardSet::open(&shards.join(name)).map(Arc::new);
    let mut validation = Vec::new();
    for name in ["valid", "valid_authored"] {
        if shards.join(name).exists() {
            validation.push(ValidationSet { name: name.to_owned(), shards: open(name)? });
        }
    }
    let train_shards = open("train")?;
    if arguments.preset.starts_with("seq2seq") {
        let model = Seq2SeqConfig::preset(&arguments.preset, tokenizer.size())?;
        let setup = setup(arguments, model, train, train_shards, validation);
        train_network::<AttentionSeq2Seq<AutodiffBackend>>(setup, arguments.plain)
    } else {
        let model = ModelConfig::preset(&arguments.preset, tokenizer.size())?;
        let setup = setup(arguments, model, train, train_shards, validation);
        train_network::<AlignedTransformer<AutodiffBackend>>(setup, arguments.plain)
    }
}

fn setup<C>(
    arguments: &Arguments,
    model: C,
    train: TrainConfig,
    shards: Arc<ShardSet>,
    validation: Vec<ValidationSet>,
) -> TrainerSetup<C> {
    let (folder, start_from) = (arguments.out.clone(), arguments.start_from.clone());
    TrainerSetup { model, train, shards, validation, folder, resume: arguments.resume, start_from }
}

fn train_network<M: Trainable<AutodiffBackend> + 'static>(
    setup: TrainerSetup<<M as Network<AutodiffBackend>>::Config>,
    plain: bool,
) -> Result<(), Failure> {
    let mut trainer = Trainer::<AutodiffBackend, M>::new(setup, Default::default())?;
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|e| Failure::Text(format!("cannot listen for signals: {e}")))?;
    let mut watcher = Watcher::new(stop, plain, trainer.progress().1);
    let summary = trainer.run(&mut watcher)?;
    watcher.bar.finish_and_clear();
    let end = if summary.finished { "finished" } else { "stopped; go on with --resume" };
    println!("{end} after {} steps and {} characters", summary.steps, summary.characters);
    if let Some(report) = watcher.last {
        println!(
            "{:.0} characters/s; waited for batches in {:.3} % of the time; the queue was {:.0} % full on average",
            report.characters_per_second,
            100.0 * report.waiting_share,
            100.0 * report.queue_fill
        );
    }
    Ok(())
}

/// Learns the vocabulary and writes the shards.
fn prepare(arguments: &Arguments, tokenizer_path: &Path, shards: &Path) -> Result<(), Failure> {
    if !arguments.resume && arguments.out.join("checkpoint.safetensors").exists() {
        let reason = "holds a run already; resume it with --resume or choose another --out";
        return Err(Failure::Text(format!("{} {reason}", arguments.out.display())));
    }
    std::fs::create_dir_all(&arguments.out).map_err(|e| Failure::file("make", &arguments.out, &e))?;
    let sets: Vec<(&str, Vec<Row>)> = match &arguments.data {
        Some(folder) => {
            let mut sets = vec![("train", read_pairs(&folder.join("train.tsv"))?)];
            for name in ["valid", "valid_authored"] {
                let path = folder.join(format!("{name}.tsv"));
                if path.exists() {
                    sets.push((name, read_pairs(&path)?));
                }
            }
            sets
        }
        None => {
            let (train, held_out) = embedded_pairs(&arguments.out.join("data"))?;
            vec![("train", train), ("valid_authored", held_out)]
        }
    };
    let tokenizer = match &arguments.tokenizer {
        Some(path) => CharTokenizer::load(path)?,
        None => {
            let lines = sets[0].1.iter().flat_map(|row| [row.couplet.upper(), row.couplet.lower()]);
            CharTokenizer::train(lines, &TrainerConfig::default())?
        }
    };
    tokenizer.save(tokenizer_path)?;
    for (name, rows) in sets {
        let mut writer = ShardWriter::create(&shards.join(name), tokenizer.size())?;
        for row in &rows {
            let (upper, lower) = (row.couplet.upper(), row.couplet.lower());
            if upper.len() == lower.len() {
                writer.push(&tokenizer.encode(upper), &tokenizer.encode(lower), &row.source)?;
            }
        }
        writer.finish()?;
        println!("{name}: {} pairs", rows.len());
    }
    println!("vocabulary: {} tokens", tokenizer.size());
    Ok(())
}

/// Draws the progress and listens for Ctrl-C.
struct Watcher {
    stop: Arc<AtomicBool>,
    bar: ProgressBar,
    plain: bool,
    loss: f64,
    last: Option<StepReport>,
}

impl Watcher {
    fn new(stop: Arc<AtomicBool>, plain: bool, done: u64) -> Self {
        let bar = if plain { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let style = "{bar:30} {percent:>3}% {human_pos}/{human_len} characters, {per_sec}, {eta} left, {msg}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_position(done);
        bar.reset_eta();
        Self { stop, bar, plain, loss: 0.0, last: None }
    }
}

impl TrainObserver for Watcher {
    fn on_step(&mut self, report: &StepReport) -> Flow {
        self.last = Some(report.clone());
        self.loss = if self.loss == 0.0 { report.loss } else { 0.98 * self.loss + 0.02 * report.loss };
        self.bar.set_length(report.total_characters);
        self.bar.set_position(report.characters);
        self.bar.set_message(format!("loss {:.3}", self.loss));
        if self.stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }

    fn on_validation(&mut self, point: &CurvePoint) -> Flow {
        let sets: Vec<String> = point
            .validation
            .iter()
            .map(|(name, forward, reverse)| format!(", {name} {forward:.3} forward {reverse:.3} reverse"))
            .collect();
        let text =
            format!("{:>9} characters: train {:.3}{}", point.characters, point.train_loss, sets.concat());
        if self.plain {
            let rate = self.last.as_ref().map_or(0.0, |report| report.characters_per_second);
            println!("{text} ({rate:.0} characters/s)");
        } else {
            self.bar.println(text);
        }
        if self.stop.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }
}
