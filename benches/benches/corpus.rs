//! Cleaning by steps, and the whole way for the authored corpus. The figure for a whole package of poems needs the
//! package, see docs/data.md.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use duilian_core::Couplet;
use duilian_corpus::{
    Association, CleanConfig, NearDuplicates, authored, check_pair, clean, normalize_line, normalize_text,
};

/// Traditional characters, a variant, a note in brackets and half-width marks.
const BOOK: &str = "簷前燕子語春風(一作和風),檻外梨花落晚鐘.遠岸漁舟歸浦漵,疎林人影入烟峯.";

fn couplets() -> Vec<Couplet> {
    let couplets: Vec<Couplet> = authored().map(|a| a.couplet).collect();
    assert!(couplets.len() > 11_000);
    couplets
}

fn normalising(c: &mut Criterion) {
    let mut group = c.benchmark_group("normalise");
    let expected = "檐前燕子语春风，槛外梨花落晚钟。远岸渔舟归浦溆，疏林人影入烟峰。";
    assert_eq!(normalize_text(BOOK), expected);
    group.throughput(Throughput::Elements(BOOK.chars().count() as u64));
    group.bench_function("text of a book", |b| b.iter(|| normalize_text(black_box(BOOK))));
    let typed = " 山中有客来,月下无人语 ";
    assert_eq!(normalize_line(typed).expect("a line").len(), 11);
    group.throughput(Throughput::Elements(typed.chars().count() as u64));
    group.bench_function("typed line", |b| b.iter(|| normalize_line(black_box(typed))));
    group.finish();
}

fn steps(c: &mut Criterion) {
    let couplets = couplets();
    let mut group = c.benchmark_group("pairs");
    group.throughput(Throughput::Elements(couplets.len() as u64));
    group.bench_function("check rules", |b| {
        b.iter(|| {
            let kept = couplets.iter().filter(|c| check_pair(c, false).is_none()).count();
            assert_eq!(kept, couplets.len());
        });
    });
    group.bench_function("learn association", |b| b.iter(|| Association::learn(couplets.iter())));
    let association = Association::learn(couplets.iter());
    group.bench_function("score", |b| {
        b.iter(|| {
            let sum: f32 = couplets.iter().map(|c| association.score(c)).sum();
            assert!(sum > 0.0);
        });
    });
    let texts: Vec<Vec<char>> = couplets.iter().map(|c| c.to_string().chars().collect()).collect();
    group.bench_function("near-duplicates", |b| {
        b.iter(|| {
            let mut seen = NearDuplicates::new(2);
            let new = texts.iter().filter(|t| seen.insert((*t).clone())).count();
            assert!(new > 11_000);
        });
    });
    group.sample_size(10);
    let folder = tempfile::tempdir().expect("a folder for the pairs");
    group.bench_function("whole way, authored corpus", |b| {
        b.iter(|| {
            let report = clean(&CleanConfig::default(), folder.path(), &mut |_| {}).expect("cleaned");
            assert_eq!(report.total_candidates(), couplets.len() as u64);
        });
    });
    group.finish();
}

criterion_group!(benches, normalising, steps);
criterion_main!(benches);
