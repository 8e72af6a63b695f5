//! The whole way from texts to pairs.

mod lines;
mod read;
mod write;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rayon::prelude::*;

use self::lines::LineIndex;
use crate::authored::authored_pairs;
use crate::filter::is_upside_down;
use crate::mine::join_neighbours;
use crate::readers::{read_in_out, read_json_lines, read_tsv};
use crate::record::{Pair, Source};
use crate::split::chance;
use crate::{
    Association, CleanConfig, CleanReport, CorpusError, Input, NearDuplicates, RejectReason, check_pair,
};

/// How far the pipeline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Name of the step.
    pub step: &'static str,
    /// Files, pairs or texts done in this step.
    pub done: u64,
    /// How many there are, where that is known.
    pub total: Option<u64>,
}

/// A pair or text that was left out.
#[derive(Debug)]
struct Reject {
    reason: RejectReason,
    source: Source,
    /// The pair as two columns, or what there is of it.
    text: String,
    /// Parallelism, where it was asked for before the pair was left out.
    score: Option<f32>,
}

/// Reads all inputs, cleans, mines, removes duplicates, splits, and writes `train.tsv`, `valid.tsv`,
/// `valid_authored.tsv`, `report.json`, `config.json` and on request `rejects.tsv` into a folder, each beside its
/// place and renamed when everything is known. The files are the same for any number of threads.
///
/// ```
/// use duilian_corpus::{CleanConfig, clean};
///
/// let folder = tempfile::tempdir().unwrap();
/// let report = clean(&CleanConfig::default(), folder.path(), &mut |_| {})?;
/// assert_eq!(report.total_candidates(), report.total_written() + report.total_rejects());
/// assert!(folder.path().join("train.tsv").exists());
/// # Ok::<(), duilian_corpus::CorpusError>(())
/// ```
///
/// # Errors
/// [`CorpusError`] with the file and the place in it; what stood in the folder before is then untouched.
pub fn clean(
    config: &CleanConfig,
    out: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<CleanReport, CorpusError> {
    config.validate()?;
    let mut run = Run { config, report: CleanReport::default(), rejects: Vec::new(), next_group: 0 };
    let cases = LineIndex::of_cases(config)?;
    let mut pairs = Vec::new();
    if config.authored {
        let found = authored_pairs(0);
        run.next_group = found.len() as u64;
        run.count_candidates(&found);
        pairs.extend(found);
    }
    for input in &config.inputs {
        pairs.extend(match input {
            Input::ChinesePoetry(path) => run.read_package(path, progress)?,
            Input::Tsv(path) => run.read_pairs(read_tsv(path)?)?,
            Input::InOut(upper, lower) => run.read_pairs(read_in_out(upper, lower)?)?,
            Input::JsonLines(path) => run.read_pairs(read_json_lines(path)?)?,
        });
    }
    progress(Progress { step: "score", done: 0, total: Some(pairs.len() as u64) });
    let pairs = run.score(pairs);
    progress(Progress { step: "compare", done: 0, total: Some(pairs.len() as u64) });
    let pairs = run.without(pairs, &cases, RejectReason::MeasuredCase);
    let pairs = run.without_duplicates(pairs);
    let sides = run.split(pairs);
    progress(Progress { step: "write", done: 0, total: None });
    run.write(&sides, out)?;
    Ok(run.report)
}

/// Training, validation, authored validation.
struct Sides {
    train: Vec<Pair>,
    valid: Vec<Pair>,
    valid_authored: Vec<Pair>,
}

struct Run<'a> {
    config: &'a CleanConfig,
    report: CleanReport,
    rejects: Vec<Reject>,
    next_group: u64,
}

impl Run<'_> {
    fn count_candidates(&mut self, pairs: &[Pair]) {
        for pair in pairs {
            *self.report.candidates.entry(pair.source).or_default() += 1;
        }
    }

    fn reject(&mut self, reason: RejectReason, source: Source, text: impl FnOnce() -> String) {
        self.reject_scored(reason, source, None, text);
    }

    fn reject_pair(&mut self, reason: RejectReason, pair: &Pair) {
        self.reject_scored(reason, pair.source, Some(pair.score), || pair.couplet.to_string());
    }

    fn reject_scored(
        &mut self,
        reason: RejectReason,
        source: Source,
        score: Option<f32>,
        text: impl FnOnce() -> String,
    ) {
        *self.report.rejects.entry(reason).or_default().entry(source).or_default() += 1;
        if self.config.write_rejects {
            self.rejects.push(Reject { reason, source, text: text(), score });
        }
    }

    /// Learns the association from the sure couplets, scores all, leaves out what is not parallel, and joins
    /// neighbours.
    fn score(&mut self, mut pairs: Vec<Pair>) -> Vec<Pair> {
        let sure = |p: &&Pair| matches!(p.source, Source::Regulated | Source::Authored | Source::Shenglv);
        let association = Association::learn(pairs.iter().filter(sure).map(|p| &p.couplet));
        pairs.par_iter_mut().for_each(|p| {
            p.score = if sure(&&*p) {
                association.score_of_known(&p.couplet)
            } else {
                association.score(&p.couplet)
            };
        });
        let mut kept = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let bin = (pair.score * 10.0).floor() as i32;
            *self.report.scores.entry(pair.source).or_default().entry(bin).or_default() += 1;
            if pair.score < self.least_score(&pair) {
                self.reject_pair(RejectReason::NotParallel, &pair);
            } else {
                kept.push(pair);
            }
        }
        let joined =
            join_neighbours(&kept, self.config.joined_share, self.config.max_length, self.config.seed);
        self.count_candidates(&joined);
        for pair in joined {
            match check_pair(&pair.couplet, true) {
                Some(reason) => self.reject_pair(reason, &pair),
                None => kept.push(pair),
            }
        }
        kept
    }

    fn least_score(&self, pair: &Pair) -> f32 {
        let config = self.config;
        let least = match pair.source {
            Source::Mined => config.min_score,
            Source::Ci | Source::Qu => config.min_ci_score,
            Source::Regulated => config.min_regulated_score,
            Source::Authored | Source::User | Source::Shenglv | Source::Joined => return f32::NEG_INFINITY,
        };
        if is_upside_down(&pair.couplet) { least.max(config.min_upside_down_score) } else { least }
    }

    /// Leaves out the pairs that share a line or clause with the index.
    fn without(&mut self, pairs: Vec<Pair>, lines: &LineIndex, reason: RejectReason) -> Vec<Pair> {
        let known: Vec<bool> = pairs.par_iter().map(|p| lines.holds(&p.couplet)).collect();
        let mut kept = Vec::with_capacity(pairs.len());
        for (pair, known) in pairs.into_iter().zip(known) {
            if known {
                self.reject_pair(reason, &pair);
            } else {
                kept.push(pair);
            }
        }
        kept
    }

    fn without_duplicates(&mut self, mut pairs: Vec<Pair>) -> Vec<Pair> {
        let rank = |p: &Pair| Source::ALL.iter().position(|&s| s == p.source);
        pairs.sort_by_key(rank); // stable: within a source the order of reading stays
        let mut exact = HashSet::new();
        let mut near = NearDuplicates::new(self.config.near_duplicate_distance);
        let mut kept = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let text: Vec<char> =
                pair.couplet.upper().chars().iter().chain(pair.couplet.lower().chars()).copied().collect();
            let reason = if !exact.insert(text.clone()) {
                Some(RejectReason::Duplicate)
            } else if near.insert(text) {
                None
            } else {
                Some(RejectReason::NearDuplicate)
            };
            match reason {
                Some(reason) => self.reject_pair(reason, &pair),
                None => kept.push(pair),
            }
        }
        kept
    }

    /// Whole poems go to one side; training pairs that share a line with the other side, or nearly, are dropped.
    fn split(&mut self, pairs: Vec<Pair>) -> Sides {
        let mut sides = Sides { train: Vec::new(), valid: Vec::new(), valid_authored: Vec::new() };
        for pair in pairs {
            let drawn = chance(self.config.seed, pair.group);
            if pair.source == Source::Authored {
                let held_out = drawn < self.config.authored_validation_share;
                if held_out { sides.valid_authored.push(pair) } else { sides.train.push(pair) }
            } else if drawn < self.config.validation_share {
                sides.valid.push(pair);
            } else {
                sides.train.push(pair);
            }
        }
        let mut held_out = LineIndex::new(self.config.near_line_distance);
        for pair in sides.valid.iter().chain(&sides.valid_authored) {
            held_out.add(pair.couplet.upper());
            held_out.add(pair.couplet.lower());
        }
        sides.train = self.without(sides.train, &held_out, RejectReason::SharedWithValidation);
        let count = |pairs: &[Pair]| {
            let mut counts = BTreeMap::new();
            for pair in pairs {
                *counts.entry(pair.source).or_default() += 1;
            }
            counts
        };
        self.report.train = count(&sides.train);
        self.report.valid = count(&sides.valid);
        self.report.valid_authored = count(&sides.valid_authored);
        sides
    }
}
