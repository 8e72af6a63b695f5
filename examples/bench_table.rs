//! Measures how fast lines are answered, by path, search, length and batch, on one thread.
//!
//!     cargo run --release --example bench_table
//!     cargo run --release --example bench_table -- --json
//!     python ct2_decode.py --layers 3 --vocab 8076 > peers.txt
//!     cargo run --release --example bench_table -- --peers peers.txt --lengths 7
//!     cargo run --release --example bench_table -- --curve cost.svg

#![allow(clippy::print_stdout, clippy::print_stderr)] // programs print

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use duilian::core::{Direction, Line, MARKS};
use duilian::corpus::authored;
use duilian::decoder::{DecodeOptions, Decoder, Lexicon, Question, SearchMethod, StepModel};
use duilian::engine::{Engine, Precision, Shortlist};
use duilian::model::{AlignedModel, DefaultBackend};
use duilian::pretrained;
use duilian::prosody::BlockedWords;
use duilian::tokenizer::CharTokenizer;
use duilian::weights::ModelWeights;
use duilian_examples::Failure;
use plotters::prelude::*;

/// Prints a Markdown table, or JSON.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Print a JSON list.
    #[arg(long)]
    json: bool,
    /// Output of `ct2_decode.py` for a column of ratios to the peer's 8-bit and single-precision figures.
    #[arg(long)]
    peers: Option<PathBuf>,
    /// Paths: `burn`, `f32`, `int8`, `int8_fast`, `int8_short`, `int8_fast_short` (these two need --shortlist).
    #[arg(long, value_delimiter = ',', default_value = "f32,int8,int8_fast")]
    paths: Vec<String>,
    /// Searches: `greedy`, `beam4`, `beam16`, `sampling`, `beam4_all` (with all constraints), as far as wanted.
    #[arg(long, value_delimiter = ',', default_value = "greedy,beam4")]
    searches: Vec<String>,
    /// Characters of a line, up to 64.
    #[arg(long, value_delimiter = ',', default_value = "7,24", value_parser = clap::value_parser!(u16).range(1..=64))]
    lengths: Vec<u16>,
    /// Lines answered together.
    #[arg(long, value_delimiter = ',', default_value = "1,64", value_parser = clap::value_parser!(u16).range(1..=4_096))]
    batches: Vec<u16>,
    /// Times that each figure is taken; the best counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    repetitions: u16,
    /// A shortlist, as the example `agreement` saves it.
    #[arg(long)]
    shortlist: Option<PathBuf>,
    /// Draw the cost of a line by length and by batch into this SVG file instead.
    #[arg(long)]
    curve: Option<PathBuf>,
}

#[derive(Debug, Clone)]
struct Figure {
    path: String,
    search: String,
    length: usize,
    batch: usize,
    /// Time of a whole batch, divided by its lines.
    ms_per_line: f64,
    lines_per_s: f64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bench_table: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let bench = Bench::new(arguments.shortlist.as_deref())?;
    if let Some(path) = &arguments.curve {
        return draw(&bench, arguments, path);
    }
    let mut figures = Vec::new();
    for path in &arguments.paths {
        for search in &arguments.searches {
            for &length in &arguments.lengths {
                for &batch in &arguments.batches {
                    let sizes = (length.into(), batch.into());
                    figures.push(bench.measure(path, search, sizes, arguments.repetitions)?);
                }
            }
        }
    }
    if arguments.json {
        let figures: Vec<_> = figures
            .iter()
            .map(|f| {
                serde_json::json!({
                    "path": f.path, "search": f.search, "length": f.length, "batch": f.batch,
                    "ms_per_line": f.ms_per_line, "lines_per_s": f.lines_per_s,
                })
            })
            .collect();
        println!("{}", serde_json::Value::Array(figures));
        return Ok(());
    }
    let peers = match &arguments.peers {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|e| Failure::file("read", path, &e))
            .map(|t| read_peers(&t))?,
        None => Vec::new(),
    };
    println!("| path | search | length | batch | ms a line | lines/s | CTranslate2 | times as fast |");
    println!("|---|---|---|---|---|---|---|---|");
    for f in &figures {
        let kind = if f.path.starts_with("int8") { "int8" } else { "float32" };
        let beam = match f.search.as_str() {
            "greedy" => "1",
            "beam4" => "4",
            _ => "",
        };
        let peer = peers.iter().find(|p| p.0 == kind && p.1 == beam);
        let (seen, ratio) = match peer {
            Some((_, _, ms, _)) if f.batch == 1 => {
                (format!("{ms:.2} ms"), format!("{:.2}", ms / f.ms_per_line))
            }
            Some((.., lines)) if f.batch == 64 => {
                (format!("{lines:.0}/s"), format!("{:.2}", f.lines_per_s / lines))
            }
            _ => Default::default(),
        };
        println!(
            "| {} | {} | {} | {} | {:.3} | {:.0} | {seen} | {ratio} |",
            f.path, f.search, f.length, f.batch, f.ms_per_line, f.lines_per_s
        );
    }
    Ok(())
}

/// Element type, beam, milliseconds of one line and lines a second of each row of the peer's output; of rows that come
/// more than once, the best.
fn read_peers(text: &str) -> Vec<(String, String, f64, f64)> {
    let mut rows = Vec::<(String, String, f64, f64)>::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |word: &str| words.iter().position(|w| *w == word).and_then(|i| words.get(i + 1));
        let before =
            |word: &str| words.iter().position(|w| *w == word).and_then(|i| words.get(i.checked_sub(1)?));
        let number = |word: Option<&&str>| word.and_then(|w| w.parse::<f64>().ok());
        let (Some(kind), Some(beam)) = (words.first(), after("beam")) else { continue };
        let (Some(ms), Some(lines)) = (number(after("line")), number(before("lines/s"))) else { continue };
        let beam = beam.trim_end_matches(':');
        match rows.iter_mut().find(|row| row.0 == *kind && row.1 == beam) {
            Some(row) => (row.2, row.3) = (row.2.min(ms), row.3.max(lines)),
            None => rows.push(((*kind).to_owned(), beam.to_owned(), ms, lines)),
        }
    }
    rows
}

/// Everything that is measured.
struct Bench {
    tokenizer: CharTokenizer,
    weights: ModelWeights,
    shortlist: Option<Shortlist>,
}

impl Bench {
    fn new(shortlist: Option<&Path>) -> Result<Self, Failure> {
        Ok(Self {
            tokenizer: CharTokenizer::from_json(pretrained::TOKENIZER)?,
            weights: ModelWeights::from_bytes(pretrained::WEIGHTS, "embedded weights")?,
            shortlist: shortlist.map(Shortlist::load).transpose()?,
        })
    }

    /// Lines cut from the corpus that is written for this project, whatever they say.
    fn questions(length: usize, count: usize) -> Result<Vec<Question>, Failure> {
        let text: Vec<char> = authored().flat_map(|a| a.couplet.upper().chars().to_vec()).collect();
        let han = text.iter().copied().filter(|c| !MARKS.contains(c));
        let characters: Vec<char> = han.cycle().take(length * count).collect();
        let question = |line: &[char]| {
            let line = Line::from_chars(line.to_vec()).map_err(|e| Failure::Text(e.to_string()))?;
            Ok(Question::new(line, Direction::UpperToLower))
        };
        characters.chunks(length).map(question).collect()
    }

    fn decoder(&self, search: &str) -> Result<Decoder, Failure> {
        let base = DecodeOptions { max_batch_size: 4_096, ..DecodeOptions::default() };
        let plain =
            DecodeOptions { repetition: false, no_shared_character: false, end_tone: false, ..base.clone() };
        let options = match search {
            "greedy" => DecodeOptions { beam_size: 1, ..plain },
            "beam4" => DecodeOptions { beam_size: 4, ..plain },
            "beam16" => DecodeOptions { beam_size: 16, ..plain },
            "sampling" => DecodeOptions { search: SearchMethod::Sampling, sampling_topk: 50, ..plain },
            "beam4_all" => DecodeOptions { beam_size: 4, ..base },
            _ => return Err(Failure::Text(format!("there is no search {search:?}"))),
        };
        let lexicon = Lexicon::new(&self.tokenizer, CharTokenizer::UNK, &BlockedWords::default());
        Ok(Decoder::new(lexicon, options).map_err(duilian::Error::from)?)
    }

    fn engine(&self, path: &str) -> Result<Engine, Failure> {
        let precision = match path.trim_end_matches("_short") {
            "f32" => Precision::F32,
            "int8" => Precision::Int8,
            "int8_fast" => Precision::Int8Fast,
            _ => return Err(Failure::Text(format!("there is no path {path:?}"))),
        };
        let engine = Engine::from_weights(&self.weights, precision)?;
        match (&self.shortlist, path.ends_with("_short")) {
            (Some(shortlist), true) => Ok(engine.with_shortlist(shortlist.clone())?),
            (None, true) => Err(Failure::Text(format!("{path} needs --shortlist"))),
            _ => Ok(engine),
        }
    }

    fn measure(
        &self,
        path: &str,
        search: &str,
        (length, batch): (usize, usize),
        repetitions: u16,
    ) -> Result<Figure, Failure> {
        let (decoder, questions) = (self.decoder(search)?, Self::questions(length, batch)?);
        let seconds = if path == "burn" {
            let model =
                AlignedModel::<DefaultBackend>::from_weights(self.weights.clone(), Default::default())?;
            best(&decoder, &model, &questions, repetitions)?
        } else {
            best(&decoder, &self.engine(path)?, &questions, repetitions)?
        };
        let lines = questions.len() as f64;
        Ok(Figure {
            path: path.to_owned(),
            search: search.to_owned(),
            length,
            batch,
            ms_per_line: seconds * 1e3 / lines,
            lines_per_s: lines / seconds,
        })
    }
}

/// Seconds of the best of several runs, each of at least 20 ms.
fn best<M: StepModel>(
    decoder: &Decoder,
    model: &M,
    questions: &[Question],
    repetitions: u16,
) -> Result<f64, Failure> {
    let mut least = f64::INFINITY;
    for _ in 0..repetitions {
        let begin = Instant::now();
        loop {
            let start = Instant::now();
            let results = decoder.answer_batch(model, questions);
            least = least.min(start.elapsed().as_secs_f64());
            for result in results {
                result.map_err(duilian::Error::from)?;
            }
            if begin.elapsed().as_millis() >= 20 {
                break;
            }
        }
    }
    Ok(least)
}

/// Draws the time of a line by its length, and of a batch by its lines and by the width of the beam.
fn draw(bench: &Bench, arguments: &Arguments, path: &Path) -> Result<(), Failure> {
    let name = arguments.paths.iter().find(|p| p.starts_with("int8")).map_or("int8", String::as_str);
    let take = |search: &str, length: usize, batch: usize| {
        bench.measure(name, search, (length, batch), arguments.repetitions.min(3))
    };
    let lengths = [2, 4, 7, 12, 16, 24, 32, 48, 64];
    let batches = [1, 4, 16, 64, 128, 256, 512, 1_024];
    let mut by_length = Vec::new();
    let mut by_batch = Vec::new();
    for (search, color) in [("greedy", BLUE), ("beam4", RED), ("beam16", BLACK)] {
        let mut points = Vec::new();
        for length in lengths {
            points.push((length as f64, take(search, length, 8)?.ms_per_line));
        }
        by_length.push((search, color, points));
        let mut points = Vec::new();
        for batch in batches {
            let figure = take(search, 7, batch)?;
            points.push((batch as f64, figure.ms_per_line * batch as f64));
        }
        by_batch.push((search, color, points));
    }
    for (title, curves) in [("length", &by_length), ("lines", &by_batch)] {
        for (search, _, points) in curves {
            for (x, ms) in points {
                println!("{title}\t{search}\t{x}\t{ms:.3}");
            }
        }
    }
    let failed = |e: String| Failure::Text(format!("cannot draw {}: {e}", path.display()));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (1_000, 420)).into_drawing_area();
        area.fill(&WHITE).map_err(|e| failed(e.to_string()))?;
        let halves = area.split_evenly((1, 2));
        for (half, (x_label, y_label, curves)) in halves.iter().zip([
            ("characters of a line (batch 8)", "ms a line", &by_length),
            ("lines of a batch (7 characters)", "ms a batch", &by_batch),
        ]) {
            plot(half, x_label, y_label, curves).map_err(failed)?;
        }
        area.present().map_err(|e| failed(e.to_string()))?;
    }
    std::fs::write(path, svg).map_err(|e| Failure::file("write", path, &e))
}

type Curves = [(&'static str, RGBColor, Vec<(f64, f64)>)];

fn plot(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    x_label: &str,
    y_label: &str,
    curves: &Curves,
) -> Result<(), String> {
    let points = || curves.iter().flat_map(|(_, _, points)| points);
    let most = points().fold((1.0_f64, 0.0_f64), |most, p| (most.0.max(p.0), most.1.max(p.1)));
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..most.0 * 1.02, 0.0..most.1 * 1.05)
        .map_err(|e| e.to_string())?;
    chart.configure_mesh().x_desc(x_label).y_desc(y_label).draw().map_err(|e| e.to_string())?;
    for (name, color, points) in curves {
        let color = *color;
        chart
            .draw_series(LineSeries::new(points.iter().copied(), &color))
            .map_err(|e| e.to_string())?
            .label(*name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], color));
    }
    let labels =
        chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).border_style(BLACK).draw();
    labels.map_err(|e| e.to_string())
}
