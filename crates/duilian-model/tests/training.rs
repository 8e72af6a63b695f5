//! The training loop: it learns, it stops and goes on, it survives being killed.
#![allow(missing_docs)]
#![cfg(feature = "flex")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::setup;
use duilian_model::{
    AutodiffBackend, Flow, ModelError, StepReport, TrainConfig, TrainObserver, TrainSummary, Trainer,
    TrainerSetup, WeightsError,
};

const LENGTH: u64 = 60_000;

fn run(setup: TrainerSetup, observer: &mut dyn TrainObserver) -> TrainSummary {
    Trainer::<AutodiffBackend>::new(setup, Default::default()).expect("starts").run(observer).expect("runs")
}

struct StopAt(u64);

impl TrainObserver for StopAt {
    fn on_step(&mut self, report: &StepReport) -> Flow {
        if report.step == self.0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn it_learns_which_character_answers_which() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let summary = run(setup(folder.path(), LENGTH), &mut ());
    assert!(summary.finished && summary.characters >= LENGTH);
    let (_, forward, reverse) = summary.curve.points.last().expect("validated").validation[0].clone();
    // Chance is ln 40 = 3.7; the answer is certain.
    assert!(forward < 0.5 && reverse < 0.7, "{forward} {reverse}");
    for file in ["best.safetensors", "last.safetensors", "curve.csv", "curve.svg", "config.json"] {
        assert!(folder.path().join("run").join(file).exists(), "{file}");
    }
}

#[test]
fn a_stopped_run_goes_on_bit_by_bit() {
    let (whole, parts) = (tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder"));
    let expected = run(setup(whole.path(), LENGTH), &mut ());
    let stopped = run(setup(parts.path(), LENGTH), &mut StopAt(133));
    assert!(!stopped.finished && stopped.steps == 133);
    let refused = Trainer::<AutodiffBackend>::new(setup(parts.path(), LENGTH), Default::default());
    assert!(matches!(refused, Err(ModelError::CannotResume { .. })), "nothing is overwritten");
    let resumed = run(TrainerSetup { resume: true, ..setup(parts.path(), LENGTH) }, &mut ());
    assert_eq!(resumed, expected);
    let weights = |folder: &Path| std::fs::read(folder.join("run/last.safetensors")).expect("reads");
    assert!(weights(whole.path()) == weights(parts.path()), "the weights are the same bytes");
}

#[test]
fn batches_do_not_depend_on_the_threads_that_make_them() {
    let runs: Vec<_> = [(1, 2), (4, 8), (3, 2)]
        .into_iter()
        .map(|(loader_threads, batches_ahead)| {
            let folder = tempfile::tempdir().expect("folder");
            let mut setup = setup(folder.path(), 20_000);
            setup.train =
                TrainConfig { loader_threads, batches_ahead, hinted_share: 0.5, ..setup.train.clone() };
            let summary = run(setup, &mut ());
            (summary, std::fs::read(folder.path().join("run/last.safetensors")).expect("reads"))
        })
        .collect();
    assert!(runs[0] == runs[1] && runs[0] == runs[2], "the same curve and the same weights");
}

#[test]
fn a_run_with_dropout_goes_on_bit_by_bit_beside_another() {
    let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().expect("folder")).collect();
    let setup = |i: usize| {
        let mut setup = setup(folders[i].path(), 20_000);
        setup.model.dropout = 0.1;
        setup
    };
    // Two runs at once in one process, and one that is stopped between.
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(setup(1), &mut ()));
        (run(setup(0), &mut ()), other.join().expect("runs"))
    });
    run(setup(2), &mut StopAt(33));
    let three = run(TrainerSetup { resume: true, ..setup(2) }, &mut ());
    assert_eq!(one, two);
    assert_eq!(one, three);
}

#[test]
fn accumulation_learns_as_well_and_goes_on_bit_by_bit() {
    let (whole, parts) = (tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder"));
    let setup = |folder: &Path| {
        let mut setup = setup(folder, LENGTH);
        setup.train = TrainConfig { batch_characters: 32, accumulation: 4, ..setup.train };
        setup
    };
    let expected = run(setup(whole.path()), &mut ());
    assert!(expected.curve.points.last().expect("validated").validation[0].1 < 0.5);
    run(setup(parts.path()), &mut StopAt(77));
    assert_eq!(run(TrainerSetup { resume: true, ..setup(parts.path()) }, &mut ()), expected);
}

#[test]
fn a_loss_that_is_no_number_stops_the_run_and_leaves_its_batch() {
    let folder = tempfile::tempdir().expect("folder");
    let mut setup = setup(folder.path(), LENGTH);
    setup.train = TrainConfig { learning_rate: 1e30, warmup_steps: 0, ..setup.train };
    let error = Trainer::<AutodiffBackend>::new(setup, Default::default()).expect("starts").run(&mut ());
    let Err(ModelError::NonFiniteLoss { step, file, .. }) = error else { panic!("{error:?}") };
    let json = std::fs::read(file).expect("was written");
    let value: serde_json::Value = serde_json::from_slice(&json).expect("is JSON");
    assert_eq!(value["step"], step);
    let line = &value["batches"][0]["given"][0];
    assert!(line.as_array().is_some_and(|l| (2..=6).contains(&l.len())), "{line}");
}

#[test]
fn as_many_files_are_kept_as_asked_for_and_measurements_go_on() {
    let folder = tempfile::tempdir().expect("folder");
    let setup = |resume| {
        let mut setup = setup(folder.path(), 30_000);
        setup.train = TrainConfig { keep_last: 3, keep_best: 2, metrics_every: 5, ..setup.train };
        TrainerSetup { resume, ..setup }
    };
    run(setup(false), &mut StopAt(73));
    // As if the process had been killed after more steps than the checkpoint has.
    let metrics = folder.path().join("run/metrics.jsonl");
    let mut text = std::fs::read_to_string(&metrics).expect("reads");
    text += "{\"step\":{\"step\":75,\"loss\":1.0}}\n{\"step\":{\"st";
    std::fs::write(&metrics, text).expect("writes");
    let summary = run(setup(true), &mut ());

    let text = std::fs::read_to_string(&metrics).expect("reads");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    let steps: Vec<u64> = lines.iter().filter_map(|l| l["step"]["step"].as_u64()).collect();
    assert_eq!(steps, (1..=summary.steps / 5).map(|i| 5 * i).collect::<Vec<_>>());
    assert!(
        lines.iter().filter_map(|l| l["step"]["waiting_share"].as_f64()).all(|w| (0.0..=1.0).contains(&w))
    );
    let validations = lines.iter().filter(|l| l["validation"].is_object()).count();
    assert_eq!(validations, summary.curve.points.len());

    let count = |prefix: &str| {
        let files = std::fs::read_dir(folder.path().join("run")).expect("lists");
        let names = files.map(|f| f.expect("lists").file_name().into_string().expect("UTF-8"));
        names.filter(|n| n.starts_with(prefix)).count()
    };
    assert_eq!((count("checkpoint-"), count("best-")), (3, 2));
    assert_eq!((count("checkpoint.safetensors"), count("best.safetensors")), (1, 1));
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    run(setup(folder.path(), 10_000), &mut ());
    let resume = |change: fn(&mut TrainConfig)| {
        let mut setup = TrainerSetup { resume: true, ..setup(folder.path(), 10_000) };
        change(&mut setup.train);
        Trainer::<AutodiffBackend>::new(setup, Default::default()).map(|_| ())
    };
    assert!(matches!(resume(|t| t.seed = 7), Err(ModelError::CannotResume { .. })));
    assert!(matches!(resume(|t| t.learning_rate = 1e-3), Err(ModelError::CannotResume { .. })));
    assert!(resume(|t| t.total_characters = 20_000).is_ok(), "a run may be made longer");

    let path = folder.path().join("run/checkpoint.safetensors");
    let bytes = std::fs::read(&path).expect("reads");
    for cut in [0, 100, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..cut]).expect("writes");
        assert!(
            matches!(resume(|_| ()), Err(ModelError::Weights(WeightsError::Damaged { .. }))),
            "cut at {cut}"
        );
        assert_eq!(std::fs::read(&path).expect("reads").len(), cut, "a damaged file stays as it is");
    }
}

#[test]
fn weights_of_another_run_can_be_the_start() {
    let folder = tempfile::tempdir().expect("folder");
    let first = run(setup(folder.path(), LENGTH), &mut ());
    let start_from = Some(folder.path().join("run/last.safetensors"));
    let again =
        TrainerSetup { start_from, folder: folder.path().join("again"), ..setup(folder.path(), 7_000) };
    let second = run(again, &mut ());
    let loss = |summary: &TrainSummary| summary.curve.points.last().expect("validated").validation[0].1;
    assert!(loss(&second) < loss(&first) + 0.3, "{} {}", loss(&second), loss(&first));
}

/// The variable that makes [`train_in_a_child`] train in this folder.
const CHILD_FOLDER: &str = "DUILIAN_TEST_CHILD_FOLDER";

/// Does nothing unless [`a_killed_run_reaches_the_same_loss`] runs it in a process of its own.
#[test]
fn train_in_a_child() {
    if let Some(folder) = std::env::var_os(CHILD_FOLDER) {
        run(setup(Path::new(&folder), LENGTH), &mut ());
    }
}

#[test]
fn a_killed_run_reaches_the_same_loss() {
    let (whole, killed) = (tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder"));
    let expected = run(setup(whole.path(), LENGTH), &mut ());
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "train_in_a_child", "--quiet"])
        .env(CHILD_FOLDER, killed.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let checkpoint = killed.path().join("run/checkpoint.safetensors");
    let deadline = Instant::now() + Duration::from_mins(2);
    while !checkpoint.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("ends");
    assert!(checkpoint.exists(), "the child wrote a checkpoint");
    // Whatever was being written when the process died lies beside its place and harms nothing.
    let setup = TrainerSetup { resume: true, ..setup(killed.path(), LENGTH) };
    let trainer = Trainer::<AutodiffBackend>::new(setup, Default::default()).expect("resumes");
    assert!(trainer.progress().0 >= 20 && trainer.progress().1 < LENGTH, "{:?}", trainer.progress());
    let mut trainer = trainer;
    assert_eq!(trainer.run(&mut ()).expect("runs"), expected);
}
