//! Makes training pairs: reads corpora, cleans, mines parallel couplets, removes duplicates, splits.
//!
//!     cargo run --release --example clean
//!     cargo run --release --example clean -- chinese-poetry-2.0.1.tgz --exclude cases.tsv --out data
//!
//! Without an input the authored corpus alone is cleaned. The folder then holds `train.tsv`, `valid.tsv`,
//! `valid_authored.tsv` (upper line, lower line, source, score), `report.json`, `config.json` and on request
//! `rejects.tsv`; docs/data.md says more.

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use duilian::corpus::{CleanConfig, CleanReport, Input, Progress, clean};
use indicatif::{ProgressBar, ProgressStyle};

/// Makes training pairs from corpora.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Corpora: the tarball of chinese-poetry or its folder, .tsv, or .jsonl files.
    inputs: Vec<PathBuf>,
    /// Two files of lines of space-separated characters: upper lines, lower lines.
    #[arg(long, num_args = 2, value_names = ["IN", "OUT"], action = clap::ArgAction::Append)]
    in_out: Vec<PathBuf>,
    /// Cases for measuring, as TSV: no training pair may have a line of theirs.
    #[arg(long)]
    exclude: Vec<PathBuf>,
    /// Folder for the pairs.
    #[arg(long, default_value = "data")]
    out: PathBuf,
    /// Settings as JSON; those not named keep their defaults.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Leave the authored corpus out.
    #[arg(long)]
    no_authored: bool,
    /// Write rejects.tsv: each pair that was left out, with its source, reason and score.
    #[arg(long)]
    rejects: bool,
    /// Seed of the split, in place of the setting.
    #[arg(long)]
    seed: Option<u64>,
    /// Threads to use; all cores by default. The result is the same.
    #[arg(long)]
    threads: Option<usize>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(report) => {
            print!("{report}");
            println!("written to {}", arguments.out.display());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("clean: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<CleanReport, String> {
    let config = settings(arguments)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads.unwrap_or(0))
        .build()
        .map_err(|e| e.to_string())?;
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    let show = |p: Progress| {
        let total = p.total.map_or(String::new(), |total| format!(" of {total}"));
        bar.set_message(format!("{} {}{total}", p.step, p.done));
    };
    let report = pool.install(|| clean(&config, &arguments.out, &mut |p| show(p)));
    bar.finish_and_clear();
    report.map_err(|e| e.to_string())
}

fn settings(arguments: &Arguments) -> Result<CleanConfig, String> {
    let mut config = match &arguments.config {
        Some(path) => {
            let json = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
            serde_json::from_slice(&json).map_err(|e| format!("{}: {e}", path.display()))?
        }
        None => CleanConfig::default(),
    };
    for path in &arguments.inputs {
        config.inputs.push(input(path)?);
    }
    config.inputs.extend(
        arguments.in_out.chunks_exact(2).map(|files| Input::InOut(files[0].clone(), files[1].clone())),
    );
    config.exclude.extend(arguments.exclude.iter().cloned());
    config.authored &= !arguments.no_authored;
    config.write_rejects |= arguments.rejects;
    config.seed = arguments.seed.unwrap_or(config.seed);
    Ok(config)
}

/// What a path promises by its ending.
fn input(path: &Path) -> Result<Input, String> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    Ok(match ending.as_str() {
        _ if path.is_dir() => Input::ChinesePoetry(path.into()),
        "tgz" | "gz" => Input::ChinesePoetry(path.into()),
        "tsv" => Input::Tsv(path.into()),
        "jsonl" | "ndjson" => Input::JsonLines(path.into()),
        _ => return Err(format!("{}: neither a folder nor .tgz, .tsv or .jsonl", path.display())),
    })
}
