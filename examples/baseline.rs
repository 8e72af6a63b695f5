//! The aligned network beside the historic baseline: loss, rules without constraints, speed.
//!
//!     cargo run --release --example baseline -- runs/compact runs/seq2seq_small data/valid_authored.tsv
//!
//! Each folder is what `train` leaves. Both networks answer greedily and nothing is enforced, except that the aligned
//! network is told the length and the marks: that is what it is.

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use duilian::core::{Couplet, Direction, Line, TokenId, Vocabulary};
use duilian::decoder::{DecodeOptions, Decoder, Lexicon, Question};
use duilian::model::{AlignedModel, DefaultBackend, LossSum, ModelWeights, NetworkWeights, Seq2SeqModel};
use duilian::prosody::{BlockedWords, Rule, RuleConfig, check};
use duilian::tokenizer::CharTokenizer;
use duilian_examples::{Failure, Row, read_pairs};

/// Compares two trained networks.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Folder of a run of an aligned network.
    aligned: PathBuf,
    /// Folder of a run of the baseline.
    seq2seq: PathBuf,
    /// Tab-separated pairs.
    pairs: PathBuf,
    /// At most so many pairs.
    #[arg(long, default_value_t = 300)]
    limit: usize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("baseline: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// What is known of one network.
struct Column {
    name: &'static str,
    parameters: usize,
    losses: [LossSum; 2],
    answers: Vec<Option<Line>>,
    seconds: f64,
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut rows = read_pairs(&arguments.pairs)?;
    rows.truncate(arguments.limit);
    let columns = [aligned(&arguments.aligned, &rows)?, seq2seq(&arguments.seq2seq, &rows)?];
    println!(
        "| {} pairs of {} | {} | {} |",
        rows.len(),
        arguments.pairs.display(),
        columns[0].name,
        columns[1].name
    );
    println!("|---|---|---|");
    row("weights", &columns, |c| format!("{:.2} M", c.parameters as f64 / 1e6));
    for (i, direction) in ["forward", "reverse"].into_iter().enumerate() {
        row(&format!("loss {direction}, nats per character"), &columns, |c| {
            format!("{:.3}", c.losses[i].per_character())
        });
    }
    row("lines answered per second, greedy, one at a time", &columns, |c| {
        format!("{:.0}", rows.len() as f64 / c.seconds)
    });
    for rule in [
        Rule::LengthAndMarks,
        Rule::Repetition,
        Rule::SharedCharacters,
        Rule::CleanOutput,
        Rule::EndTones,
        Rule::ToneOpposition,
    ] {
        row(&format!("{rule} kept"), &columns, |c| rate(rule, &rows, &c.answers));
    }
    Ok(())
}

fn row(name: &str, columns: &[Column; 2], cell: impl Fn(&Column) -> String) {
    println!("| {name} | {} | {} |", cell(&columns[0]), cell(&columns[1]));
}

/// Share of the answers that keep a rule; what is no line at all keeps none.
fn rate(rule: Rule, rows: &[Row], answers: &[Option<Line>]) -> String {
    let (mut sum, mut count) = (0.0, 0);
    for (row, answer) in rows.iter().zip(answers) {
        let rate = match answer {
            None => Some(0.0),
            Some(line) => {
                let couplet = Couplet::new(row.couplet.upper().clone(), line.clone());
                check(&couplet, &RuleConfig::default()).finding(rule).outcome.rate()
            }
        };
        if let Some(rate) = rate {
            sum += rate;
            count += 1;
        }
    }
    format!("{:.1} %", 100.0 * sum / f64::from(count.max(1)))
}

type Tokens = Vec<(Vec<TokenId>, Vec<TokenId>)>;

fn tokens(tokenizer: &CharTokenizer, rows: &[Row], direction: Direction) -> Tokens {
    let oriented = rows.iter().map(|row| row.couplet.oriented(direction));
    oriented.map(|(given, asked)| (tokenizer.encode(given), tokenizer.encode(asked))).collect()
}

fn aligned(folder: &Path, rows: &[Row]) -> Result<Column, Failure> {
    let tokenizer = CharTokenizer::load(folder.join("tokenizer.json"))?;
    let weights = ModelWeights::load(&folder.join("best.safetensors"))?;
    let parameters = weights.parameters();
    let model = AlignedModel::<DefaultBackend>::from_weights(weights, Default::default())?;
    let lexicon = Lexicon::new(&tokenizer, CharTokenizer::UNK, &BlockedWords::default());
    let options = DecodeOptions {
        repetition: false,
        no_shared_character: false,
        blocked_words: false,
        end_tone: false,
        ..DecodeOptions::greedy()
    };
    let decoder = Decoder::new(lexicon, options).map_err(duilian::Error::from)?;
    let started = Instant::now();
    let answer = |row: &Row| {
        let question = Question::new(row.couplet.upper().clone(), Direction::UpperToLower);
        decoder.answer(&model, &question).ok().and_then(|answers| Some(answers.into_iter().next()?.line))
    };
    let answers = rows.iter().map(answer).collect();
    let seconds = started.elapsed().as_secs_f64();
    let losses = Direction::ALL.map(|d| model.loss(&tokens(&tokenizer, rows, d), d));
    Ok(Column { name: "aligned", parameters, losses, answers, seconds })
}

fn seq2seq(folder: &Path, rows: &[Row]) -> Result<Column, Failure> {
    let tokenizer = CharTokenizer::load(folder.join("tokenizer.json"))?;
    let weights = NetworkWeights::load(&folder.join("best.safetensors"))?;
    let parameters = weights.parameters();
    let model = Seq2SeqModel::<DefaultBackend>::from_weights(weights, Default::default())?;
    let started = Instant::now();
    let mut answers = Vec::with_capacity(rows.len());
    for row in rows {
        let given = tokenizer.encode(row.couplet.upper());
        let answer = model.generate(&given, Direction::UpperToLower, 2 * given.len())?;
        let text: String = answer.iter().filter_map(|&t| tokenizer.character(t)).collect();
        answers.push(Line::parse(&text).ok());
    }
    let seconds = started.elapsed().as_secs_f64();
    let losses = Direction::ALL.map(|d| model.loss(&tokens(&tokenizer, rows, d), d));
    Ok(Column { name: "seq2seq", parameters, losses, answers, seconds })
}
