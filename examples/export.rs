//! Makes a small weights file from one of a training run.
//!
//!     cargo run --release --example export -- runs/compact/best.safetensors weights.safetensors

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use duilian::model::{ModelWeights, WeightFormat};
use duilian_examples::Failure;

/// Rewrites weights in another format.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Weights of a run.
    from: PathBuf,
    /// File to write.
    to: PathBuf,
    /// How numbers are stored.
    #[arg(long, value_enum, default_value_t = Format::Int8)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Int8,
    F16,
    F32,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("export: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let weights = ModelWeights::load(&arguments.from)?;
    let format = match arguments.format {
        Format::Int8 => WeightFormat::Int8,
        Format::F16 => WeightFormat::F16,
        Format::F32 => WeightFormat::F32,
    };
    weights.save(&arguments.to, format)?;
    let size = std::fs::metadata(&arguments.to).map_err(|e| Failure::file("read", &arguments.to, &e))?.len();
    println!("{} weights, {}: {size} bytes", weights.parameters(), weights.description());
    Ok(())
}
