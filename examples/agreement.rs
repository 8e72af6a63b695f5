//! Measures how close the 8-bit engine and a shortlist stay to single precision.
//!
//!     cargo run --release --example agreement -- pairs.tsv
//!     cargo run --release --example agreement -- pairs.tsv --learn train.tsv --save shortlist.bin

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use duilian::core::{Direction, TokenId, Vocabulary};
use duilian::decoder::{DecodeOptions, Decoder, Lexicon, Question};
use duilian::engine::{Engine, Precision, Shortlist, ShortlistBuilder, ShortlistConfig, loss_of_pairs};
use duilian::pretrained;
use duilian::prosody::BlockedWords;
use duilian::tokenizer::CharTokenizer;
use duilian::weights::ModelWeights;
use duilian_examples::{Failure, Row, read_pairs};

/// Prints the share of lines with the same greedy answer as in single precision, and the loss.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Tab-separated pairs: upper line, lower line.
    file: PathBuf,
    /// Pairs to learn a shortlist from.
    #[arg(long)]
    learn: Option<PathBuf>,
    /// Answers kept for each given character.
    #[arg(long, default_value_t = ShortlistConfig::default().per_character)]
    per_character: usize,
    /// Most frequent answers kept for all characters.
    #[arg(long, default_value_t = ShortlistConfig::default().common)]
    common: usize,
    /// A shortlist that was learnt before.
    #[arg(long, conflicts_with = "learn")]
    shortlist: Option<PathBuf>,
    /// Where to save the shortlist.
    #[arg(long)]
    save: Option<PathBuf>,
    /// Weights file instead of the embedded weights; of the same vocabulary.
    #[arg(long)]
    weights: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("agreement: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let weights = match &arguments.weights {
        Some(path) => ModelWeights::load(path)?,
        None => ModelWeights::from_bytes(pretrained::WEIGHTS, "embedded weights")?,
    };
    let tokenizer = CharTokenizer::from_json(pretrained::TOKENIZER)?;
    let rows = read_pairs(&arguments.file)?;
    let encode = |row: &Row| (tokenizer.encode(row.couplet.upper()), tokenizer.encode(row.couplet.lower()));
    let exact = Engine::from_weights(&weights, Precision::F32)?;
    let int8 = Engine::from_weights(&weights, Precision::Int8)?;
    let fast = Engine::from_weights(&weights, Precision::Int8Fast)?;
    let mut paths = vec![("f32", exact), ("int8", int8.clone()), ("int8 fast", fast)];
    let learnt = match (&arguments.learn, &arguments.shortlist) {
        (Some(path), _) => {
            let mut builder = ShortlistBuilder::new(tokenizer.size());
            for (upper, lower) in read_pairs(path)?.iter().map(encode) {
                builder.add(&upper, &lower);
            }
            let (per_character, common) = (arguments.per_character, arguments.common);
            Some(builder.finish(&ShortlistConfig { per_character, common }))
        }
        (None, Some(path)) => Some(Shortlist::load(path)?),
        (None, None) => None,
    };
    if let Some(shortlist) = learnt {
        if let Some(path) = &arguments.save {
            shortlist.save(path)?;
        }
        let lists = (0..tokenizer.size() as u16).map(|id| shortlist.answers(TokenId(id)).len());
        println!("shortlist: {} common, {} answers in all", shortlist.common().len(), lists.sum::<usize>());
        paths.push(("int8, shortlist", int8.with_shortlist(shortlist)?));
    }
    let lexicon = Lexicon::new(&tokenizer, CharTokenizer::UNK, &BlockedWords::default());
    let decoder = Decoder::new(lexicon, DecodeOptions::greedy()).map_err(duilian::Error::from)?;
    let questions: Vec<Question> =
        rows.iter().map(|row| Question::new(row.couplet.upper().clone(), Direction::UpperToLower)).collect();
    let pairs: Vec<(Vec<TokenId>, Vec<TokenId>)> = rows.iter().map(encode).collect();
    let mut first: Option<(Vec<Option<String>>, f64)> = None;
    println!("| path | same greedy answers | loss per character | more than f32 |");
    println!("|---|---|---|---|");
    for (name, engine) in &paths {
        let answers: Vec<Option<String>> = decoder
            .answer_batch(engine, &questions)
            .into_iter()
            .map(|result| Some(result.ok()?.first()?.line.to_string()))
            .collect();
        let counts = |token: TokenId| token >= CharTokenizer::FIRST_HAN;
        let loss = loss_of_pairs(engine, &pairs, Direction::UpperToLower, counts)?.per_character();
        let (reference, least) = first.get_or_insert_with(|| (answers.clone(), loss));
        let same = answers.iter().zip(&*reference).filter(|(a, b)| a == b).count();
        let share = 100.0 * same as f64 / answers.len().max(1) as f64;
        println!("| {name} | {share:.1} % of {} | {loss:.4} | {:+.4} |", answers.len(), loss - *least);
    }
    Ok(())
}
