//! Several replicas learn what one learns.
#![allow(missing_docs)]
#![cfg(all(feature = "flex", feature = "collective"))]

mod common;

use common::setup;
use duilian_model::{
    AlignedTransformer, AutodiffBackend, DataParallel, DefaultDevice, Flow, ModelError, StepReport,
    TrainObserver, TrainSummary, Trainer, TrainerSetup, train_on_devices,
};

type Model = AlignedTransformer<AutodiffBackend>;

fn on_devices(
    setup: &TrainerSetup,
    replicas: usize,
    observer: &mut (dyn TrainObserver + Send),
) -> Result<TrainSummary, ModelError> {
    let devices = vec![DefaultDevice::default(); replicas];
    train_on_devices::<AutodiffBackend, Model>(
        setup,
        &devices,
        &DataParallel::on_one_machine(replicas),
        observer,
    )
}

struct StopAt(u64);

impl TrainObserver for StopAt {
    fn on_step(&mut self, report: &StepReport) -> Flow {
        if report.step == self.0 { Flow::Stop } else { Flow::Continue }
    }
}

/// One test, because burn's collective is one for the whole process.
#[test]
fn replicas_learn_together_stop_together_and_fail_together() {
    let folder = |name: &str| tempfile::Builder::new().prefix(name).tempdir().expect("folder");
    let one = folder("one");
    let mut expected = setup(one.path(), 30_000);
    expected.train.batch_parts = 1;
    let alone = Trainer::<AutodiffBackend>::new(expected.clone(), DefaultDevice::default())
        .expect("starts")
        .run(&mut ())
        .expect("runs");
    for replicas in [2, 3] {
        let several = folder("several");
        let mut setup = setup(several.path(), 30_000);
        setup.train.batch_parts = 1;
        let stopped = on_devices(&setup, replicas, &mut StopAt(40)).expect("runs");
        assert_eq!((stopped.steps, stopped.finished), (41, false), "all hear of it with the next step");
        let setup = TrainerSetup { resume: true, ..setup };
        let summary = on_devices(&setup, replicas, &mut ()).expect("goes on");
        assert_eq!((summary.steps, summary.characters), (alone.steps, alone.characters));
        for (a, b) in summary.curve.points.iter().zip(&alone.curve.points) {
            // The same sums in another order.
            assert!((a.train_loss - b.train_loss).abs() < 0.02, "{a:?} {b:?}");
        }
    }
    let broken = folder("broken");
    let mut wild = setup(broken.path(), 30_000);
    wild.train.learning_rate = 1e30;
    wild.train.warmup_steps = 0;
    assert!(matches!(on_devices(&wild, 2, &mut ()), Err(ModelError::NonFiniteLoss { .. })));
    assert!(matches!(on_devices(&wild, 0, &mut ()), Err(ModelError::InvalidConfig { .. })));
}
