//! The training step: the whole of it, batches, gradients, clipping, `AdamW` and the moving average.
//!
//!     cargo bench --bench train
//!
//! Sizes are those of the peer's script: vocabulary 8,000, 256 lines of 7 characters. An allocator that keeps its
//! pages matters as much as the products; see docs/training.md for the variables of glibc's.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use duilian_core::TokenId;
use duilian_model::{
    AlignedTransformer, AttentionSeq2Seq, AutodiffBackend, Flow, ModelConfig, Network, Seq2SeqConfig,
    ShardSet, ShardWriter, StepReport, TrainConfig, TrainObserver, Trainable, Trainer, TrainerSetup,
};

const VOCABULARY: usize = 8_000;
const LENGTH: usize = 7;
const ROWS: usize = 256;
/// Steps before the clock starts: the first ones allocate.
const WARM_UP: u64 = 3;

/// Random lines, enough for every batch to be another one.
fn shards(folder: &Path) -> Arc<ShardSet> {
    let mut writer = ShardWriter::create(folder, VOCABULARY).expect("makes");
    let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
    let mut line = || {
        let mut next = || {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            TokenId(14 + (bits >> 32) as u16 % (VOCABULARY as u16 - 14))
        };
        (0..LENGTH).map(|_| next()).collect::<Vec<_>>()
    };
    for _ in 0..64 * ROWS {
        writer.push(&line(), &line(), "random").expect("valid");
    }
    writer.finish().expect("writes");
    Arc::new(ShardSet::open(folder).expect("opens"))
}

/// Times the steps after the warm-up.
struct Clock {
    steps: u64,
    started: Option<Instant>,
    elapsed: Duration,
    loss: f64,
}

impl TrainObserver for Clock {
    fn on_step(&mut self, report: &StepReport) -> Flow {
        self.loss = report.loss;
        if report.step == WARM_UP {
            self.started = Some(Instant::now());
        }
        if report.step < WARM_UP + self.steps {
            return Flow::Continue;
        }
        self.elapsed = self.started.map(|s| s.elapsed()).unwrap_or_default();
        Flow::Stop
    }
}

fn steps<M: Trainable<AutodiffBackend> + 'static>(
    config: &<M as Network<AutodiffBackend>>::Config,
    shards: &Arc<ShardSet>,
    steps: u64,
) -> Duration {
    let folder = tempfile::tempdir().expect("temporary folder");
    let setup = TrainerSetup {
        model: config.clone(),
        train: TrainConfig {
            batch_characters: ROWS * LENGTH,
            total_characters: u64::MAX,
            hinted_share: 0.0,
            validate_every: u64::MAX,
            checkpoint_seconds: u64::MAX,
            metrics_every: 0,
            ..TrainConfig::default()
        },
        shards: Arc::clone(shards),
        validation: Vec::new(),
        folder: folder.path().join("run"),
        resume: false,
        start_from: None,
    };
    let mut clock = Clock { steps, started: None, elapsed: Duration::ZERO, loss: 0.0 };
    let mut trainer = Trainer::<AutodiffBackend, M>::new(setup, Default::default()).expect("starts");
    black_box(trainer.run(&mut clock).expect("runs"));
    // Nothing can be learnt from random lines but how often tokens come: the loss starts near ln 8000 = 9.
    assert!(clock.loss > 7.0 && clock.loss < 12.0, "{}", clock.loss);
    clock.elapsed
}

fn train(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let shards = shards(folder.path());
    let mut group = criterion.benchmark_group("train");
    group.throughput(Throughput::Elements((ROWS * LENGTH) as u64));
    group.sample_size(10).warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(10));
    for name in ["compact", "base"] {
        let config = ModelConfig::preset(name, VOCABULARY).expect("is a preset");
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|n| steps::<AlignedTransformer<AutodiffBackend>>(&config, &shards, n));
        });
    }
    let config = Seq2SeqConfig::small(VOCABULARY);
    group.bench_function("seq2seq_small", |bencher| {
        bencher.iter_custom(|n| steps::<AttentionSeq2Seq<AutodiffBackend>>(&config, &shards, n));
    });
    group.finish();
}

criterion_group!(benches, train);
criterion_main!(benches);
