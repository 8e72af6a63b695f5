//! Whole answers by every path: the network on burn, and the engine in each precision.
//!
//! By default lines of 7 characters, alone and in batches of 8; with the feature `long` lengths of 5, 7, 12 and 24 and
//! batches of 1, 8 and 64, and every search on burn too.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use duilian_core::{Direction, Line, MARKS};
use duilian_corpus::authored;
use duilian_decoder::{DecodeOptions, Decoder, Lexicon, Question, SearchMethod, StepModel};
use duilian_engine::{Engine, Precision};
use duilian_model::{AlignedModel, DefaultBackend};
use duilian_prosody::BlockedWords;
use duilian_tokenizer::CharTokenizer;
use duilian_weights::ModelWeights;

const LENGTHS: &[usize] = if cfg!(feature = "long") { &[5, 7, 12, 24] } else { &[7] };
const BATCHES: &[usize] = if cfg!(feature = "long") { &[1, 8, 64] } else { &[1, 8] };

/// Searches by name; only `beam4_all` has all constraints.
fn searches() -> Vec<(&'static str, DecodeOptions)> {
    let all = || DecodeOptions { max_batch_size: 64, ..DecodeOptions::default() };
    let plain = || DecodeOptions { repetition: false, no_shared_character: false, end_tone: false, ..all() };
    vec![
        ("greedy", DecodeOptions { beam_size: 1, ..plain() }),
        ("beam4", DecodeOptions { beam_size: 4, ..plain() }),
        ("beam16", DecodeOptions { beam_size: 16, ..plain() }),
        ("sampling", DecodeOptions { search: SearchMethod::Sampling, sampling_topk: 50, ..plain() }),
        ("beam4_all", all()),
    ]
}

/// Lines cut from the corpus that is written for this project, whatever they say.
fn questions(length: usize, count: usize) -> Vec<Question> {
    let text: Vec<char> = authored().flat_map(|a| a.couplet.upper().chars().to_vec()).collect();
    let han = text.iter().copied().filter(|c| !MARKS.contains(c));
    let characters: Vec<char> = han.cycle().take(length * count).collect();
    let line = |line: &[char]| Line::from_chars(line.to_vec()).expect("characters of lines make lines");
    characters.chunks(length).map(|c| Question::new(line(c), Direction::UpperToLower)).collect()
}

/// Benches every path that is compiled.
///
/// # Panics
/// If a path gives no answer, or one of another length than its question.
pub fn paths(c: &mut Criterion) {
    let weights = ModelWeights::from_bytes(duilian_pretrained::WEIGHTS, "embedded weights").expect("whole");
    let tokenizer = CharTokenizer::from_json(duilian_pretrained::TOKENIZER).expect("whole");
    let burn =
        AlignedModel::<DefaultBackend>::from_weights(weights.clone(), Default::default()).expect("fits");
    path(c, &tokenizer, "flex", &burn, cfg!(feature = "long"));
    for (name, precision) in
        [("f32", Precision::F32), ("int8", Precision::Int8), ("int8_fast", Precision::Int8Fast)]
    {
        let engine = Engine::from_weights(&weights, precision).expect("fits");
        path(c, &tokenizer, name, &engine, true);
    }
    let mut group = c.benchmark_group("load");
    group.sample_size(10);
    group.bench_function("int8", |b| {
        b.iter(|| {
            let weights =
                ModelWeights::from_bytes(black_box(duilian_pretrained::WEIGHTS), "embedded weights");
            Engine::from_weights(&weights.expect("whole"), Precision::Int8).expect("fits")
        });
    });
    group.finish();
}

fn path<M: StepModel>(c: &mut Criterion, tokenizer: &CharTokenizer, name: &str, model: &M, all: bool) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    for (search, options) in searches() {
        let lexicon = Lexicon::new(tokenizer, CharTokenizer::UNK, &BlockedWords::default());
        let decoder = Decoder::new(lexicon, options).expect("valid options");
        for &length in LENGTHS {
            for &batch in BATCHES.iter().filter(|&&batch| all || batch == 1) {
                let questions = questions(length, batch);
                group.throughput(Throughput::Elements(batch as u64));
                group.bench_function(BenchmarkId::new(search, format!("{length}x{batch}")), |b| {
                    b.iter(|| {
                        let results = decoder.answer_batch(model, black_box(&questions));
                        let whole = |r: &Result<Vec<duilian_decoder::Answer>, _>| {
                            r.as_ref().is_ok_and(|answers| answers[0].line.len() == length)
                        };
                        assert!(results.len() == batch && results.iter().all(whole), "{name} {search}");
                        results
                    });
                });
            }
        }
    }
    group.finish();
}
