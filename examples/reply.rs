//! Answers upper lines with lower lines, or the reverse.
//!
//!     cargo run --release --example reply -- 海内存知己
//!     cargo run --release --example reply -- --top 5 春风得意马蹄疾
//!     printf '上海自来水来自海上\n' | cargo run --release --example reply -- --tsv

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use duilian::corpus::normalize_line;
use duilian::{DecodeOptions, Direction, Duilian, Error, Question};

/// Answers the upper lines of couplets with lower lines.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Lines to answer; without any, lines are read from standard input.
    lines: Vec<String>,
    /// Number of answers to each line.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    top: u16,
    /// Answer lower lines with upper lines.
    #[arg(long)]
    reverse: bool,
    /// Print tab-separated rows: line, rank, answer, log-probability per character.
    #[arg(long)]
    tsv: bool,
    /// Hypotheses kept by the search.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    beam: u16,
    /// Weights file instead of the embedded weights; needs --tokenizer.
    #[arg(long, requires = "tokenizer")]
    weights: Option<PathBuf>,
    /// Vocabulary file of the weights.
    #[arg(long, requires = "weights")]
    tokenizer: Option<PathBuf>,
}

/// Lines of standard input that are answered together.
const CHUNK: usize = 256;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // A reader that has seen enough, such as `head`, is no failure.
        Err(Failure::Write(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("reply: {failure}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Duilian(#[from] Error),
    #[error("cannot read standard input: {0}")]
    Read(std::io::Error),
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
}

/// Returns whether every line was answered.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    let options = DecodeOptions {
        num_hypotheses: arguments.top.into(),
        beam_size: arguments.beam.into(),
        ..DecodeOptions::default()
    };
    let duilian = match (&arguments.weights, &arguments.tokenizer) {
        (Some(weights), Some(tokenizer)) => Duilian::from_files(weights, tokenizer, options)?,
        _ => Duilian::pretrained_with(options)?,
    };
    let mut session = Session { arguments, duilian, number: 0, all_answered: true };
    if !arguments.lines.is_empty() {
        let lines: Vec<Vec<u8>> = arguments.lines.iter().map(|l| l.clone().into_bytes()).collect();
        session.answer(&lines)?;
        return Ok(session.all_answered);
    }
    let input = std::io::stdin();
    // A person waits for each answer; a file is answered faster in chunks.
    let chunk = if input.is_terminal() { 1 } else { CHUNK };
    let mut lines = input.lock().split(b'\n');
    loop {
        let batch: Vec<Vec<u8>> =
            lines.by_ref().take(chunk).collect::<Result<_, _>>().map_err(Failure::Read)?;
        if batch.is_empty() {
            return Ok(session.all_answered);
        }
        session.answer(&batch)?;
    }
}

struct Session<'a> {
    arguments: &'a Arguments,
    duilian: Duilian,
    number: usize,
    all_answered: bool,
}

impl Session<'_> {
    fn answer(&mut self, lines: &[Vec<u8>]) -> Result<(), Failure> {
        let direction =
            if self.arguments.reverse { Direction::LowerToUpper } else { Direction::UpperToLower };
        let parsed: Vec<Result<Question, String>> = lines
            .iter()
            .map(|bytes| {
                let text = std::str::from_utf8(bytes)
                    .map_err(|e| format!("not UTF-8 after byte {}", e.valid_up_to()))?;
                let line = normalize_line(text).map_err(|e| e.to_string())?;
                Ok(Question::new(line, direction))
            })
            .collect();
        let questions: Vec<Question> = parsed.iter().filter_map(|q| q.as_ref().ok()).cloned().collect();
        let mut results = self.duilian.answer_batch(&questions).into_iter();
        let mut out = std::io::stdout().lock();
        for parsed in parsed {
            self.number += 1;
            let answered = match &parsed {
                Ok(question) => match results.next() {
                    Some(Ok(answers)) => Ok((question, answers)),
                    Some(Err(e)) => Err(e.to_string()),
                    None => Err("has no result".to_owned()),
                },
                Err(e) => Err(e.clone()),
            };
            match answered {
                Ok((question, answers)) => {
                    if !self.arguments.tsv {
                        writeln!(out, "{}", question.line())?;
                    }
                    for (rank, answer) in answers.iter().enumerate() {
                        let (rank, score) = (rank + 1, answer.log_prob_per_character);
                        if self.arguments.tsv {
                            writeln!(out, "{}\t{rank}\t{}\t{score:.4}", question.line(), answer.line)?;
                        } else {
                            writeln!(out, "  {rank}. {}  {score:.2}", answer.line)?;
                        }
                    }
                }
                Err(message) => {
                    self.all_answered = false;
                    out.flush()?;
                    eprintln!("line {}: {message}", self.number);
                }
            }
        }
        Ok(out.flush()?)
    }
}
