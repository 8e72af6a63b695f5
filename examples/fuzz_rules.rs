//! Asks random questions under random constraints of a model that answers at random, and finds out whether any rule is
//! broken or any search gets stuck.
//!
//!     cargo run --release --example fuzz_rules
//!     cargo run --release --example fuzz_rules -- --cases 1000000 --first 5000

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

#[path = "../crates/duilian-decoder/tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Parser;
use common::case::Case;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

/// Looks for broken rules and dead ends.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Number of cases.
    #[arg(long, default_value_t = 20_000)]
    cases: u64,
    /// Number of the first case; each number is always the same case.
    #[arg(long, default_value_t = 0)]
    first: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {per_sec} {eta}").ok();
    let bar = ProgressBar::new(arguments.cases).with_style(style.unwrap_or_else(ProgressStyle::default_bar));
    let results: Vec<(u64, Result<String, String>)> = (0..arguments.cases)
        .into_par_iter()
        .map(|i| {
            let seed = arguments.first.wrapping_add(i);
            let fate = match Case::new(seed) {
                Some(case) => case.check().map(|fate| format!("{fate:?}").to_lowercase()),
                None => Ok("no line".to_owned()),
            };
            bar.inc(1);
            (seed, fate)
        })
        .collect();
    bar.finish();
    let mut fates = BTreeMap::<&str, u64>::new();
    let mut wrong = 0;
    for (seed, result) in &results {
        match result {
            Ok(fate) => *fates.entry(fate).or_default() += 1,
            Err(message) => {
                wrong += 1;
                eprintln!("case {seed}: {message}");
            }
        }
    }
    for (fate, count) in fates {
        println!("{count:>8} {fate}");
    }
    println!("{wrong:>8} wrong");
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
