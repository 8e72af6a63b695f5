//! Search without a model's own time: log-probabilities come from a table, so what is measured is masks,
//! look-ahead and the choice of tokens over a vocabulary of 7,000 characters.

use std::convert::Infallible;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use duilian_core::{Direction, Line, TokenId, Vocabulary};
use duilian_decoder::{DecodeOptions, Decoder, Lexicon, Question, SearchMethod, Source, StepModel, TokenSet};
use duilian_prosody::BlockedWords;

const SIZE: usize = 7_000;

/// Token 0 is unknown, token 1 a comma, then come the first characters of the Unicode block.
struct Characters;

impl Vocabulary for Characters {
    fn size(&self) -> usize {
        SIZE
    }

    fn character(&self, id: TokenId) -> Option<char> {
        match id.0 {
            0 => None,
            1 => Some('，'),
            id => char::from_u32(0x4E00 + u32::from(id) - 2).filter(|_| usize::from(id) < SIZE),
        }
    }

    fn id(&self, character: char) -> Option<TokenId> {
        match u32::from(character) {
            0xFF0C => Some(TokenId(1)),
            c => u16::try_from(c.checked_sub(0x4E00)? + 2).ok().map(TokenId).filter(|id| id.index() < SIZE),
        }
    }
}

/// Sixteen distributions, chosen by place and previous token.
struct Table(Vec<Vec<f32>>);

impl Table {
    fn new() -> Self {
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        let mut distribution = || {
            let mut next = || {
                // xorshift64
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                (bits >> 40) as f32 / (1_u32 << 24) as f32 * 12.0
            };
            let logits: Vec<f32> = (0..SIZE).map(|_| next()).collect();
            let sum = logits.iter().map(|logit| logit.exp()).sum::<f32>().ln();
            logits.into_iter().map(|logit| logit - sum).collect()
        };
        Self((0..16).map(|_| distribution()).collect())
    }
}

impl StepModel for Table {
    /// Number of rows, and of places done.
    type State = (usize, usize);
    type Error = Infallible;

    fn vocabulary_size(&self) -> usize {
        SIZE
    }

    fn max_length(&self) -> usize {
        64
    }

    fn start(&self, sources: &[Source]) -> Result<Self::State, Infallible> {
        Ok((sources.len(), 0))
    }

    fn step(
        &self,
        (rows, place): &mut Self::State,
        previous: &[TokenId],
        log_probs: &mut Vec<f32>,
    ) -> Result<(), Infallible> {
        log_probs.clear();
        for row in 0..*rows {
            let last = previous.get(row).map_or(0, |token| token.index());
            log_probs.extend_from_slice(&self.0[(last + 7 * *place) % self.0.len()]);
        }
        *place += 1;
        Ok(())
    }

    fn select(&self, state: &mut Self::State, rows: &[usize]) -> Result<(), Infallible> {
        state.0 = rows.len();
        Ok(())
    }
}

fn question(text: &str) -> Question {
    Question::new(Line::parse(text).expect("a line"), Direction::UpperToLower)
}

fn decoder(options: DecodeOptions) -> Decoder {
    let lexicon = Lexicon::new(&Characters, TokenId(0), &BlockedWords::default());
    Decoder::new(lexicon, options).expect("valid options")
}

fn searches(c: &mut Criterion) {
    let model = Table::new();
    let base = DecodeOptions::default;
    let searches = [
        ("greedy", DecodeOptions::greedy()),
        ("beam4", base()),
        ("beam16", DecodeOptions { beam_size: 16, ..base() }),
        ("best10", DecodeOptions { num_hypotheses: 10, ..base() }),
        ("sample", DecodeOptions { search: SearchMethod::Sampling, sampling_topk: 50, ..base() }),
    ];
    let mut group = c.benchmark_group("search");
    for text in ["海内存知己", "风声雨声读书声，声声入耳"] {
        let question = question(text);
        for (name, options) in &searches {
            let decoder = decoder(options.clone());
            let characters = question.line().len() * options.num_hypotheses;
            group.throughput(Throughput::Elements(characters as u64));
            group.bench_with_input(
                BenchmarkId::new(*name, question.line().len()),
                &question,
                |b, question| {
                    b.iter(|| {
                        let answers = decoder.answer(&model, black_box(question)).expect("an answer");
                        assert_eq!(answers.len(), options.num_hypotheses);
                        answers
                    });
                },
            );
        }
    }
    group.finish();
}

fn batches(c: &mut Criterion) {
    let model = Table::new();
    let decoder = decoder(DecodeOptions::default());
    let lines = ["海内存知己", "白日依山尽", "红豆生南国", "空山新雨后"];
    let questions: Vec<Question> = lines.iter().cycle().take(64).map(|text| question(text)).collect();
    let mut group = c.benchmark_group("batch");
    group.throughput(Throughput::Elements(64 * 5));
    group.bench_function("beam4_64x5", |b| {
        b.iter(|| {
            let results = decoder.answer_batch(&model, black_box(&questions));
            assert!(results.iter().all(Result::is_ok));
            results
        });
    });
    group.finish();
}

fn parts(c: &mut Criterion) {
    let mut group = c.benchmark_group("parts");
    group.bench_function("lexicon", |b| {
        b.iter(|| Lexicon::new(black_box(&Characters), TokenId(0), &BlockedWords::default()));
    });
    let decoder = decoder(DecodeOptions::default());
    let question = question("风声雨声读书声，声声入耳");
    group.bench_function("plan", |b| b.iter(|| decoder.plan(black_box(&question)).expect("answerable")));
    let plan = decoder.plan(&question).expect("answerable");
    let mut draft = plan.draft();
    let mut allowed = TokenSet::default();
    plan.allowed(&draft, 0, &mut allowed);
    let first = allowed.iter().next().expect("never empty");
    assert!(plan.choose(&mut draft, 0, first));
    group.bench_function("mask", |b| {
        b.iter(|| {
            plan.allowed(black_box(&draft), 1, &mut allowed);
            assert!(!allowed.is_empty());
        });
    });
    group.finish();
}

criterion_group!(benches, searches, batches, parts, duilian_benches::paths);
criterion_main!(benches);
