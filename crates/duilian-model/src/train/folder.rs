//! The files of a run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Batch, CurvePoint, StepReport, TrainConfig, TrainingCurve};
use crate::storage::write_atomically;
use crate::{ModelError, NetworkConfig, NetworkWeights, WeightFormat};

/// Name of the checkpoint.
const CHECKPOINT_FILE: &str = "checkpoint.safetensors";
/// Averaged weights with the lowest validation loss.
const BEST_FILE: &str = "best.safetensors";
/// Averaged weights of the last validation.
const LAST_FILE: &str = "last.safetensors";
const CURVE_FILE: &str = "curve.csv";
const PICTURE_FILE: &str = "curve.svg";
const CONFIG_FILE: &str = "config.json";
const METRICS_FILE: &str = "metrics.jsonl";
/// What was being learnt when the loss stopped being a number.
const BAD_BATCH_FILE: &str = "bad_batch.json";

/// The folder of a run.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    metrics: Option<BufWriter<File>>,
}

/// A line of the measurements.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'a> {
    Step(&'a StepReport),
    Validation(&'a CurvePoint),
}

impl RunFolder {
    /// Makes the folder if it is missing.
    pub(super) fn create(path: &Path) -> Result<Self, ModelError> {
        std::fs::create_dir_all(path).map_err(ModelError::io("make", path))?;
        Ok(Self { path: path.to_owned(), metrics: None })
    }

    /// The newest checkpoint.
    pub(super) fn checkpoint(&self) -> PathBuf {
        self.path.join(CHECKPOINT_FILE)
    }

    /// Gives the newest checkpoint a second name with its step, so that it stays when the next one takes its place,
    /// and removes those that are too old.
    pub(super) fn keep_checkpoint(&self, step: u64, keep_last: usize) -> Result<(), ModelError> {
        if keep_last > 1 {
            let (newest, kept) = (self.checkpoint(), self.numbered(CHECKPOINT_FILE, step));
            if !kept.exists() {
                let link = std::fs::hard_link(&newest, &kept);
                // Some file systems have no links.
                link.or_else(|_| std::fs::copy(&newest, &kept).map(|_| ()))
                    .map_err(ModelError::io("keep", &kept))?;
            }
        }
        let mut steps = self.steps(CHECKPOINT_FILE)?;
        steps.sort_unstable();
        // The newest one is among them under its second name.
        let kept = if keep_last > 1 { keep_last } else { 0 };
        self.remove(CHECKPOINT_FILE, &steps[..steps.len().saturating_sub(kept)])
    }

    /// Writes the weights of a validation; `best` are the best ones with this one in its place, best first.
    pub(super) fn write_weights<C: NetworkConfig>(
        &self,
        weights: &NetworkWeights<C>,
        step: u64,
        best: &[(u64, f64)],
        keep_best: usize,
    ) -> Result<(), ModelError> {
        weights.save(&self.path.join(LAST_FILE), WeightFormat::F32)?;
        if best.first().is_some_and(|b| b.0 == step) {
            weights.save(&self.path.join(BEST_FILE), WeightFormat::F32)?;
        }
        let kept = |other: u64| keep_best > 1 && best.iter().any(|b| b.0 == other);
        if kept(step) {
            weights.save(&self.numbered(BEST_FILE, step), WeightFormat::F32)?;
        }
        let old: Vec<u64> = self.steps(BEST_FILE)?.into_iter().filter(|&step| !kept(step)).collect();
        self.remove(BEST_FILE, &old)
    }

    /// Writes table and picture of the validations.
    pub(super) fn write_curve(&self, curve: &TrainingCurve) -> Result<(), ModelError> {
        write_atomically(&self.path.join(CURVE_FILE), curve.to_csv().as_bytes())?;
        write_atomically(&self.path.join(PICTURE_FILE), curve.to_svg()?.as_bytes())
    }

    /// Writes the settings.
    pub(super) fn write_config(
        &self,
        model: &impl NetworkConfig,
        train: &TrainConfig,
    ) -> Result<(), ModelError> {
        let config = serde_json::json!({ "model": model, "train": train });
        self.write_json(CONFIG_FILE, &config).map(|_| ())
    }

    /// Writes batches whose loss is no number; returns the file. Each replica has one of its own.
    pub(super) fn write_bad_batches(
        &self,
        step: u64,
        rank: usize,
        batches: &[&Batch],
    ) -> Result<PathBuf, ModelError> {
        let own = format!("bad_batch-{rank}.json");
        let name = if rank == 0 { BAD_BATCH_FILE } else { &own };
        let rows = |batch: &Batch, tokens: &[u16]| -> Vec<Vec<u16>> {
            tokens.chunks(batch.length).map(<[u16]>::to_vec).collect()
        };
        let batch = |b: &&Batch| {
            serde_json::json!({
                "given": rows(b, &b.given),
                "asked": rows(b, &b.asked),
                "hinted": b.hinted.chunks(b.length).collect::<Vec<_>>(),
                "reversed": b.directions.iter().map(|&d| d == duilian_core::Direction::LowerToUpper)
                    .collect::<Vec<_>>(),
            })
        };
        let batches: Vec<_> = batches.iter().map(batch).collect();
        self.write_json(name, &serde_json::json!({ "step": step, "batches": batches }))
    }

    fn write_json(&self, name: &str, value: &serde_json::Value) -> Result<PathBuf, ModelError> {
        let path = self.path.join(name);
        let json = serde_json::to_vec_pretty(value).expect("plain data");
        write_atomically(&path, &json)?;
        Ok(path)
    }

    /// Opens the measurements and drops the lines of steps that a resumed run will do again, and of another run if
    /// this one is at its start.
    pub(super) fn open_metrics(&mut self, step: u64) -> Result<(), ModelError> {
        let path = self.path.join(METRICS_FILE);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let done = |line: &&str| {
            let value = serde_json::from_str::<serde_json::Value>(line).ok();
            let found = value.as_ref().and_then(|v| v.as_object()?.values().next()?.get("step")?.as_u64());
            found.is_some_and(|s| s <= step)
        };
        let kept: String = before.lines().filter(done).flat_map(|line| [line, "\n"]).collect();
        write_atomically(&path, kept.as_bytes())?;
        let file = std::fs::OpenOptions::new().append(true).open(&path);
        self.metrics = Some(BufWriter::new(file.map_err(ModelError::io("open", &path))?));
        Ok(())
    }

    pub(super) fn log_step(&mut self, report: &StepReport) -> Result<(), ModelError> {
        self.log(&Line::Step(report))
    }

    pub(super) fn log_validation(&mut self, point: &CurvePoint) -> Result<(), ModelError> {
        self.log(&Line::Validation(point))
    }

    fn log(&mut self, line: &Line<'_>) -> Result<(), ModelError> {
        let Some(file) = &mut self.metrics else { return Ok(()) };
        let mut json = serde_json::to_vec(line).expect("plain data");
        json.push(b'\n');
        // Whoever follows the file sees whole lines as they come.
        file.write_all(&json)
            .and_then(|()| file.flush())
            .map_err(ModelError::io("write", &self.path.join(METRICS_FILE)))
    }

    fn numbered(&self, name: &str, step: u64) -> PathBuf {
        let (base, extension) = name.split_once('.').unwrap_or((name, ""));
        self.path.join(format!("{base}-{step}.{extension}"))
    }

    /// Steps of the numbered files of a name.
    fn steps(&self, name: &str) -> Result<Vec<u64>, ModelError> {
        let (base, extension) = name.split_once('.').unwrap_or((name, ""));
        let mut steps = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(ModelError::io("list", &self.path))? {
            let file = entry.map_err(ModelError::io("list", &self.path))?.file_name();
            let number: Option<u64> = file.to_str().and_then(|file| {
                let rest = file.strip_prefix(base)?.strip_prefix('-')?;
                rest.strip_suffix(extension)?.strip_suffix('.')?.parse().ok()
            });
            steps.extend(number);
        }
        Ok(steps)
    }

    fn remove(&self, name: &str, steps: &[u64]) -> Result<(), ModelError> {
        for &step in steps {
            let path = self.numbered(name, step);
            std::fs::remove_file(&path).map_err(ModelError::io("remove", &path))?;
        }
        Ok(())
    }
}
