//! Averages the weights of several points of a run, or of runs that began with the same weights.
//!
//!     cargo run --release --example average -- averaged.safetensors runs/a/best-8000.safetensors runs/a/best-9600.safetensors
//!
//! Points of one path lie in one valley of the loss, and their mean lies deeper in it (Izmailov et al. 2018).

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use duilian::weights::{ModelWeights, StoredTensor, WeightFormat, WeightsError};
use duilian_examples::Failure;

/// Averages weights files.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The file to write, in single precision.
    out: PathBuf,
    /// The files to read; networks of the same sizes.
    #[arg(required = true)]
    weights: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("average: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let all = arguments
        .weights
        .iter()
        .map(|path| ModelWeights::load(path))
        .collect::<Result<Vec<_>, WeightsError>>()
        .map_err(duilian::Error::from)?;
    let first = &all[0];
    if let Some(i) = all.iter().position(|weights| weights.config() != first.config()) {
        return Err(Failure::Text(format!("{} is of other sizes", arguments.weights[i].display())));
    }
    let share = 1.0 / all.len() as f32;
    let mean = |name: &str, tensor: &StoredTensor| {
        let mut sum = vec![0.0_f32; tensor.to_f32().len()];
        for weights in &all {
            for (total, value) in sum.iter_mut().zip(weights.tensor(name)?.to_f32().iter()) {
                *total += share * value;
            }
        }
        Ok((name.to_owned(), StoredTensor::from_f32(tensor.shape().to_vec(), sum)?))
    };
    let tensors = first
        .tensors()
        .iter()
        .map(|(name, tensor)| mean(name, tensor))
        .collect::<Result<BTreeMap<_, _>, WeightsError>>()
        .map_err(duilian::Error::from)?;
    let described: Vec<&str> = all.iter().map(ModelWeights::description).collect();
    let description = format!("mean of: {}", described.join("; "));
    ModelWeights::new(first.config().clone(), &description, tensors)
        .save(&arguments.out, WeightFormat::F32)
        .map_err(duilian::Error::from)?;
    println!("{}: mean of {} files", arguments.out.display(), all.len());
    Ok(())
}
