//! Another task through the same layers: learns to answer short questions, and says by itself when it is done.
//!
//!     cargo run --release --example questions
//!     cargo run --release --example questions -- 雪是什么颜色？ 三加五等于几？
//!
//! Vocabulary, shards, loader, trainer and checkpoints are those of the couplets; the network is the one with an end
//! token, because an answer may be shorter or longer than its question. A tenth of the pairs is held out.

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use duilian::core::{Direction, Line, Vocabulary};
use duilian::model::{
    AttentionSeq2Seq, AutodiffBackend, CurvePoint, DefaultBackend, Flow, NetworkWeights, Seq2SeqConfig,
    Seq2SeqModel, ShardSet, ShardWriter, TrainConfig, TrainObserver, Trainer, TrainerSetup, ValidationSet,
};
use duilian::tokenizer::{CharTokenizer, TrainerConfig};
use duilian_examples::{Failure, Row, read_pairs};

const CORPUS: &str = include_str!("corpus.tsv");

/// The network that says when it is done, with gradients.
type Learner = AttentionSeq2Seq<AutodiffBackend>;

/// Trains on the questions of the example and answers.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Questions to answer in the end; without any, held-out ones are shown.
    questions: Vec<String>,
    /// Folder of the run.
    #[arg(long, default_value = "runs/questions")]
    out: PathBuf,
    /// Length of the run in characters of answers.
    #[arg(long, default_value_t = 120_000)]
    characters: u64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("questions: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let rows = corpus(arguments)?;
    let held_out = |i: usize| i % 10 == 7;
    let part = |wanted: bool| rows.iter().enumerate().filter(move |(i, _)| held_out(*i) == wanted);
    let lines = rows.iter().flat_map(|row| [row.couplet.upper(), row.couplet.lower()]);
    let every_character = TrainerConfig { min_frequency: 1, ..TrainerConfig::default() };
    let tokenizer = CharTokenizer::train(lines, &every_character)?;
    let shards = |name: &str, wanted: bool| {
        let folder = arguments.out.join("shards").join(name);
        let mut writer = ShardWriter::create(&folder, tokenizer.size())?;
        for (_, row) in part(wanted) {
            let (question, answer) = (row.couplet.upper(), row.couplet.lower());
            writer.push_padded(&tokenizer.encode(question), &tokenizer.encode(answer), "questions")?;
        }
        writer.finish()?;
        ShardSet::open(&folder).map(Arc::new)
    };
    let config = Seq2SeqConfig { units: 128, layers: 1, ..Seq2SeqConfig::small(tokenizer.size()) };
    let setup = TrainerSetup {
        model: config,
        train: TrainConfig {
            total_characters: arguments.characters,
            batch_characters: 256,
            learning_rate: 3e-3,
            warmup_steps: 50,
            label_smoothing: 0.0,
            ema_decay: 0.99,
            // Questions are never asked for, and nothing is hinted.
            reversed_share: 0.0,
            hinted_share: 0.0,
            validate_every: 100,
            ..TrainConfig::default()
        },
        shards: shards("train", false)?,
        validation: vec![ValidationSet { name: "held_out".into(), shards: shards("valid", true)? }],
        folder: arguments.out.clone(),
        resume: true,
        start_from: None,
    };
    Trainer::<AutodiffBackend, Learner>::new(setup, Default::default())?.run(&mut Printer)?;

    let weights = NetworkWeights::load(&arguments.out.join("last.safetensors"))?;
    let model = Seq2SeqModel::<DefaultBackend>::from_weights(weights, Default::default())?;
    let answer = |question: &Line| {
        let tokens = model.generate(&tokenizer.encode(question), Direction::UpperToLower, 16)?;
        Ok::<String, Failure>(tokens.iter().filter_map(|&t| tokenizer.character(t)).collect())
    };
    for wanted in [false, true] {
        let (mut right, mut all) = (0, 0);
        for (i, row) in part(wanted) {
            let found = answer(row.couplet.upper())?;
            right += usize::from(found == row.couplet.lower().to_string());
            all += 1;
            if wanted && arguments.questions.is_empty() && i % 40 == 7 {
                println!("{} {found}", row.couplet.upper());
            }
        }
        let name = if wanted { "held-out" } else { "learnt" };
        println!("{right} of {all} {name} questions are answered word for word");
    }
    for question in &arguments.questions {
        let line = Line::parse(question).map_err(|e| Failure::Text(e.to_string()))?;
        println!("{question} {}", answer(&line)?);
    }
    Ok(())
}

/// The corpus, read as any file of pairs is.
fn corpus(arguments: &Arguments) -> Result<Vec<Row>, Failure> {
    let path = arguments.out.join("corpus.tsv");
    std::fs::create_dir_all(&arguments.out).map_err(|e| Failure::file("make", &arguments.out, &e))?;
    let pairs: String = CORPUS.lines().filter(|l| !l.starts_with('#')).flat_map(|l| [l, "\n"]).collect();
    std::fs::write(&path, pairs).map_err(|e| Failure::file("write", &path, &e))?;
    read_pairs(&path)
}

struct Printer;

impl TrainObserver for Printer {
    fn on_validation(&mut self, point: &CurvePoint) -> Flow {
        let held_out = point.validation.first().map_or(0.0, |v| v.1);
        let characters = point.characters;
        println!("{characters:>7} characters: loss {:.3}, held out {held_out:.3}", point.train_loss);
        Flow::Continue
    }
}
