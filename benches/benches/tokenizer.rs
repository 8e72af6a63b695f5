//! The vocabulary: learning, loading, and encoding from its table beside encoding through the general pipeline.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use duilian_core::{Line, Vocabulary};
use duilian_tokenizer::{CharTokenizer, TrainerConfig};

const LINES: usize = 50_000;

/// Lines of seven characters from the first 8,178 of the Unicode block, low ones more often, all at least twice.
fn lines() -> Vec<Line> {
    let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
    let mut character = |index: usize| {
        // xorshift64
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        let code = match u32::try_from(index / 2) {
            Ok(code @ ..8_178) => code,
            _ => ((bits >> 32) as u32 % 8_178) * ((bits as u32) % 8_178) / 8_178,
        };
        char::from_u32(0x4E00 + code).expect("inside the block")
    };
    let line = |i: usize| Line::from_chars((7 * i..7 * i + 7).map(&mut character).collect());
    (0..LINES).map(line).collect::<Result<_, _>>().expect("Han characters")
}

fn tokenizer(c: &mut Criterion) {
    let lines = lines();
    let tokenizer = CharTokenizer::train(&lines, &TrainerConfig::default()).expect("a vocabulary");
    assert_eq!(tokenizer.size(), 8_192);
    let json = tokenizer.to_json();

    let mut group = c.benchmark_group("vocabulary");
    group.bench_function("load_8192", |b| {
        b.iter(|| {
            let read = CharTokenizer::from_json(black_box(&json)).expect("whole");
            assert_eq!(read.size(), 8_192);
            read
        });
    });
    group.bench_function("load_8192_pipeline", |b| {
        b.iter(|| tokenizers_pipeline(black_box(&json)));
    });
    group.bench_function("write_8192", |b| b.iter(|| black_box(&tokenizer).to_json()));
    group.throughput(Throughput::Elements(7 * LINES as u64));
    group.bench_function("train_50000", |b| {
        b.iter(|| CharTokenizer::train(black_box(&lines), &TrainerConfig::default()).expect("a vocabulary"));
    });
    group.finish();

    let mut group = c.benchmark_group("encode");
    group.throughput(Throughput::Elements(7));
    group.bench_function("line", |b| b.iter(|| tokenizer.encode(black_box(&lines[LINES - 1]))));
    let text = lines[LINES - 1].to_string();
    let pipeline = tokenizer.pipeline().expect("builds");
    group.bench_function("line_pipeline", |b| {
        b.iter(|| pipeline.encode(black_box(text.as_str()), false).expect("encodes"));
    });
    let ids = tokenizer.encode(&lines[LINES - 1]);
    group.bench_function("decode_line", |b| b.iter(|| tokenizer.decode(black_box(&ids)).expect("decodes")));
    group.throughput(Throughput::Elements(7 * LINES as u64));
    group.bench_function("batch_50000", |b| {
        b.iter(|| {
            let ids = tokenizer.encode_batch(black_box(&lines));
            assert_eq!(ids.len(), LINES);
            ids
        });
    });
    group.finish();
}

/// What loading costs when the `tokenizers` crate does all of it.
fn tokenizers_pipeline(json: &[u8]) -> CharTokenizer {
    let read = CharTokenizer::from_json(json).expect("whole");
    read.pipeline().expect("builds");
    read
}

criterion_group!(benches, tokenizer);
criterion_main!(benches);
