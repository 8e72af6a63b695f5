//! Measures a model on pairs of lines.
//!
//!     cargo run --release --example evaluate -- pairs.tsv
//!     cargo run --release --example evaluate -- pairs.tsv --json --untrained

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use duilian::core::Couplet;
use duilian::{DecodeOptions, Duilian, Evaluation};
use duilian_examples::{Failure, read_pairs};

/// Prints loss, perplexity, BLEU and the rates of the rules over greedy answers.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Tab-separated pairs: upper line, lower line.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Measure random weights of the same sizes.
    #[arg(long)]
    untrained: bool,
    /// Hypotheses kept by the search; 1 is greedy.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    beam: u16,
    /// Weights file instead of the embedded weights; needs --tokenizer.
    #[arg(long, requires = "tokenizer")]
    weights: Option<PathBuf>,
    /// Vocabulary file of the weights.
    #[arg(long, requires = "weights")]
    tokenizer: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("evaluate: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let options = DecodeOptions { beam_size: arguments.beam.into(), ..DecodeOptions::default() };
    let mut duilian = match (&arguments.weights, &arguments.tokenizer) {
        (Some(weights), Some(tokenizer)) => Duilian::from_files(weights, tokenizer, options.clone())?,
        _ => Duilian::pretrained_with(options.clone())?,
    };
    if arguments.untrained {
        let config = duilian.engine().config().clone();
        duilian = Duilian::untrained(&config, duilian.tokenizer().clone(), options)?;
    }
    let pairs: Vec<Couplet> = read_pairs(&arguments.file)?.into_iter().map(|row| row.couplet).collect();
    let evaluation = Evaluation::measure(&duilian, &pairs)?;
    if arguments.json {
        let json = serde_json::to_string_pretty(&evaluation).map_err(|e| Failure::Text(e.to_string()))?;
        println!("{json}");
    } else {
        print!("{evaluation}");
    }
    Ok(())
}
