//! The whole way from texts to pairs.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::sync_channel;

use duilian_core::{Couplet, Line};
use duilian_prosody::BlockedWords;
use rayon::prelude::*;

use crate::authored::authored_pairs;
use crate::mine::{Form, couplets_of, couplets_of_primer, join_neighbours};
use crate::readers::{PackageFile, PackageKind, read_in_out, read_json_lines, read_tsv, stream_package};
use crate::record::{Pair, Source};
use crate::split::chance;
use crate::{
    Association, CleanConfig, CleanReport, CorpusError, Input, NearDuplicates, RejectReason, check_pair,
    normalize_line, normalize_text,
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
    text: String,
}

/// Files that are worked on at once, and files that may wait: what bounds the memory of reading.
const FILES_AT_ONCE: usize = 16;

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
    let cases = MeasuredCases::read(config)?;
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
    let pairs = run.without_cases(pairs, &cases);
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

/// What one file of a package comes to.
#[derive(Default)]
struct FileResult {
    texts: u64,
    kept_by_contexts: u64,
    candidates: BTreeMap<Source, u64>,
    /// Pairs with the number of their text in the file.
    pairs: Vec<(Couplet, Source, u64)>,
    rejects: Vec<Reject>,
}

impl Run<'_> {
    fn count_candidates(&mut self, pairs: &[Pair]) {
        for pair in pairs {
            *self.report.candidates.entry(pair.source).or_default() += 1;
        }
    }

    fn reject(&mut self, reason: RejectReason, source: Source, text: impl FnOnce() -> String) {
        *self.report.rejects.entry(reason).or_default().entry(source).or_default() += 1;
        if self.config.write_rejects {
            self.rejects.push(Reject { reason, source, text: text() });
        }
    }

    fn read_package(
        &mut self,
        path: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Pair>, CorpusError> {
        let plain = plain_blocked_words();
        let max_length = self.config.max_length;
        let mut pairs = Vec::new();
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<PackageFile>(FILES_AT_ONCE);
            let reader = scope.spawn(move || stream_package(path, &sender));
            let mut read = || -> Result<(), CorpusError> {
                loop {
                    let batch: Vec<PackageFile> = receiver.iter().take(FILES_AT_ONCE).collect();
                    if batch.is_empty() {
                        return Ok(());
                    }
                    let results: Vec<Result<FileResult, CorpusError>> =
                        batch.par_iter().map(|file| work_on(file, path, &plain, max_length)).collect();
                    for result in results {
                        self.take(result?, &mut pairs);
                    }
                    progress(Progress { step: "read", done: self.report.files_read, total: None });
                }
            };
            let outcome = read();
            // Without a receiver the reader stops at its next file.
            drop(receiver);
            let reader = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome?;
            self.report.files_skipped += reader? as u64;
            Ok(pairs)
        })
    }

    fn take(&mut self, result: FileResult, pairs: &mut Vec<Pair>) {
        self.report.files_read += 1;
        self.report.texts += result.texts;
        self.report.kept_by_contexts += result.kept_by_contexts;
        for (source, count) in result.candidates {
            *self.report.candidates.entry(source).or_default() += count;
        }
        for reject in result.rejects {
            self.reject(reject.reason, reject.source, || reject.text);
        }
        let first = self.next_group;
        pairs.extend(result.pairs.into_iter().map(|(couplet, source, text)| Pair {
            couplet,
            source,
            group: first + text,
            score: 0.0,
        }));
        self.next_group += result.texts;
    }

    fn read_pairs(
        &mut self,
        rows: impl Iterator<Item = Result<(String, String), CorpusError>>,
    ) -> Result<Vec<Pair>, CorpusError> {
        let mut pairs = Vec::new();
        for row in rows {
            let (upper, lower) = row?;
            *self.report.candidates.entry(Source::User).or_default() += 1;
            let text = || format!("{upper}\t{lower}");
            let (Ok(u), Ok(l)) = (normalize_line(&upper), normalize_line(&lower)) else {
                self.reject(RejectReason::NotHan, Source::User, text);
                continue;
            };
            let couplet = Couplet::new(u, l);
            // Everyday couplets are not refused for their tones.
            let reason = too_long(&couplet, self.config.max_length).or_else(|| check_pair(&couplet, false));
            match reason {
                Some(reason) => self.reject(reason, Source::User, text),
                None => {
                    pairs.push(Pair { couplet, source: Source::User, group: self.next_group, score: 0.0 });
                    self.next_group += 1;
                }
            }
        }
        Ok(pairs)
    }

    /// Learns the association from the sure couplets, scores all, and leaves out what is not parallel.
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
            let least = match pair.source {
                Source::Mined => self.config.min_score,
                Source::Ci => self.config.min_ci_score,
                Source::Regulated => self.config.min_regulated_score,
                _ => f32::NEG_INFINITY,
            };
            if pair.score < least {
                self.reject(RejectReason::NotParallel, pair.source, || pair.couplet.to_string());
            } else {
                kept.push(pair);
            }
        }
        let joined = join_neighbours(&kept, self.config.joined_share, self.config.max_length, self.config.seed);
        self.count_candidates(&joined);
        for pair in joined {
            match check_pair(&pair.couplet, true) {
                Some(reason) => self.reject(reason, Source::Joined, || pair.couplet.to_string()),
                None => kept.push(pair),
            }
        }
        kept
    }

    fn without_cases(&mut self, pairs: Vec<Pair>, cases: &MeasuredCases) -> Vec<Pair> {
        let measured: Vec<bool> = pairs.par_iter().map(|p| cases.holds(&p.couplet)).collect();
        let mut kept = Vec::with_capacity(pairs.len());
        for (pair, measured) in pairs.into_iter().zip(measured) {
            if measured {
                self.reject(RejectReason::MeasuredCase, pair.source, || pair.couplet.to_string());
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
                Some(reason) => self.reject(reason, pair.source, || pair.couplet.to_string()),
                None => kept.push(pair),
            }
        }
        kept
    }

    /// Whole poems go to one side; training pairs that share a line with the other side are dropped.
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
        let lines = |p: &Pair| [p.couplet.upper().clone(), p.couplet.lower().clone()];
        // One and two characters are words, which any two couplets may share.
        let held_out: HashSet<Line> = (sides.valid.iter().chain(&sides.valid_authored))
            .flat_map(lines)
            .filter(|line| line.len() > 2)
            .collect();
        let (shared, train): (Vec<Pair>, Vec<Pair>) =
            sides.train.into_iter().partition(|p| lines(p).iter().any(|line| held_out.contains(line)));
        sides.train = train;
        for pair in shared {
            self.reject(RejectReason::SharedWithValidation, pair.source, || pair.couplet.to_string());
        }
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

    fn write(&self, sides: &Sides, out: &Path) -> Result<(), CorpusError> {
        std::fs::create_dir_all(out).map_err(CorpusError::io("make", out))?;
        let row = |p: &Pair| format!("{}\t{}\t{:.3}\n", p.couplet, p.source.name(), p.score);
        let mut files: Vec<(&str, Vec<u8>)> = vec![];
        for (name, pairs) in [
            ("train.tsv", &sides.train),
            ("valid.tsv", &sides.valid),
            ("valid_authored.tsv", &sides.valid_authored),
        ] {
            files.push((name, pairs.iter().map(row).collect::<String>().into_bytes()));
        }
        if self.config.write_rejects {
            let mut text = String::new();
            for r in &self.rejects {
                let reason = serde_json::to_value(r.reason).expect("a name");
                let line = r.text.replace('\n', " ");
                text += &format!("{line}\t{}\t{}\n", r.source.name(), reason.as_str().unwrap_or_default());
            }
            files.push(("rejects.tsv", text.into_bytes()));
        }
        let json = |value: serde_json::Result<Vec<u8>>| value.expect("plain data");
        files.push(("config.json", json(serde_json::to_vec_pretty(self.config))));
        files.push(("report.json", json(serde_json::to_vec_pretty(&self.report))));
        // All parts first, all names afterwards: a full disk leaves the old files as they were.
        for (name, bytes) in &files {
            let part = out.join(format!("{name}.part"));
            let write = || {
                let mut file = std::fs::File::create(&part)?;
                file.write_all(bytes)?;
                file.sync_all()
            };
            write().map_err(CorpusError::io("write", &part))?;
        }
        for (name, _) in &files {
            let part = out.join(format!("{name}.part"));
            std::fs::rename(&part, out.join(name)).map_err(CorpusError::io("rename", &part))?;
        }
        Ok(())
    }
}

/// All couplets of one file that keep the rules.
fn work_on(
    file: &PackageFile,
    path: &Path,
    plain: &BlockedWords,
    max_length: usize,
) -> Result<FileResult, CorpusError> {
    let mut result = FileResult::default();
    for text in file.texts(path)? {
        let text = normalize_text(&text);
        let (source, (couplets, broken)) = match file.kind {
            PackageKind::Poems => (Source::Mined, couplets_of(&text, Form::Poem)),
            PackageKind::Lyrics => (Source::Ci, couplets_of(&text, Form::Lyric)),
            PackageKind::Primer => {
                let (couplets, broken) = couplets_of_primer(&text);
                let couplets = couplets.into_iter().map(|c| (c, Source::Shenglv)).collect();
                (Source::Shenglv, (couplets, broken))
            }
        };
        *result.candidates.entry(source).or_default() += broken.len() as u64;
        result.rejects.extend(broken.into_iter().map(|(reason, text)| Reject { reason, source, text }));
        for (couplet, source) in couplets {
            *result.candidates.entry(source).or_default() += 1;
            match too_long(&couplet, max_length).or_else(|| check_pair(&couplet, true)) {
                Some(reason) => result.rejects.push(Reject { reason, source, text: couplet.to_string() }),
                None => {
                    let hit = |line: &Line| plain.find(&line.han().collect::<Vec<_>>()).is_some();
                    let saved = hit(couplet.upper()) || hit(couplet.lower());
                    result.kept_by_contexts += u64::from(saved);
                    result.pairs.push((couplet, source, result.texts));
                }
            }
        }
        result.texts += 1;
    }
    Ok(result)
}

fn too_long(couplet: &Couplet, max_length: usize) -> Option<RejectReason> {
    let longest = couplet.upper().len().max(couplet.lower().len());
    (longest > max_length).then_some(RejectReason::TooLong)
}

/// The blocked words without their allowed contexts: what a plain list would do.
fn plain_blocked_words() -> BlockedWords {
    let words: Vec<String> = BlockedWords::default().words().map(|w| w.iter().collect()).collect();
    BlockedWords::from_lines(&words).unwrap_or_else(|_| BlockedWords::none())
}

/// Lines of the cases that must not be trained on.
struct MeasuredCases(NearDuplicates);

impl MeasuredCases {
    fn read(config: &CleanConfig) -> Result<Self, CorpusError> {
        let mut lines = NearDuplicates::new(config.near_case_distance);
        for path in &config.exclude {
            for row in read_tsv(path)? {
                let (upper, lower) = row?;
                for line in [upper, lower] {
                    // A case that is no line cannot stand in the corpus.
                    if let Ok(line) = normalize_line(&line) {
                        lines.insert(line.han().collect());
                    }
                }
            }
        }
        Ok(Self(lines))
    }

    fn holds(&self, couplet: &Couplet) -> bool {
        [couplet.upper(), couplet.lower()].into_iter().any(|line| {
            let han: Vec<char> = line.han().collect();
            // One and two characters are words of the language, not lines of somebody.
            han.len() > 2 && self.0.contains(&han)
        })
    }
}
