//! First part of the pipeline: inputs become pairs that keep the rules.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::sync_channel;

use duilian_core::{Couplet, Line};
use duilian_prosody::BlockedWords;
use rayon::prelude::*;

use super::{Progress, Reject, Run};
use crate::mine::{couplets_of_lyric, couplets_of_poem, couplets_of_primer};
use crate::normalize::is_missing_sign;
use crate::readers::{PackageFile, PackageKind, stream_package};
use crate::record::{Pair, Source};
use crate::{CorpusError, RejectReason, check_pair, normalize_line, normalize_text};

/// Files that are worked on at once, and files that may wait: what bounds the memory of reading.
const FILES_AT_ONCE: usize = 16;
/// Rows of a file of pairs that are worked on at once.
const ROWS_AT_ONCE: usize = 1 << 14;

/// What one file of a package comes to.
#[derive(Default)]
struct FileResult {
    texts: u64,
    unpaired_clauses: u64,
    kept_by_contexts: u64,
    candidates: BTreeMap<Source, u64>,
    /// Pairs with the number of their text in the file.
    pairs: Vec<(Couplet, Source, u64)>,
    rejects: Vec<Reject>,
}

impl Run<'_> {
    pub(super) fn read_package(
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
        self.report.unpaired_clauses += result.unpaired_clauses;
        let first = self.next_group;
        pairs.extend(result.pairs.into_iter().map(|(couplet, source, text)| Pair {
            couplet,
            source,
            group: first + text,
            score: 0.0,
        }));
        self.next_group += result.texts;
    }

    pub(super) fn read_pairs(
        &mut self,
        mut rows: impl Iterator<Item = Result<(String, String), CorpusError>>,
    ) -> Result<Vec<Pair>, CorpusError> {
        let mut pairs = Vec::new();
        loop {
            let batch: Vec<(String, String)> = rows.by_ref().take(ROWS_AT_ONCE).collect::<Result<_, _>>()?;
            if batch.is_empty() {
                return Ok(pairs);
            }
            *self.report.candidates.entry(Source::User).or_default() += batch.len() as u64;
            let max_length = self.config.max_length;
            let found: Vec<Result<Couplet, RejectReason>> =
                batch.par_iter().map(|(upper, lower)| user_couplet(upper, lower, max_length)).collect();
            for (found, (upper, lower)) in found.into_iter().zip(batch) {
                match found {
                    Ok(couplet) => {
                        pairs.push(Pair {
                            couplet,
                            source: Source::User,
                            group: self.next_group,
                            score: 0.0,
                        });
                        self.next_group += 1;
                    }
                    Err(reason) => self.reject(reason, Source::User, || format!("{upper}\t{lower}")),
                }
            }
        }
    }
}

fn user_couplet(upper: &str, lower: &str, max_length: usize) -> Result<Couplet, RejectReason> {
    let (Ok(u), Ok(l)) = (normalize_line(upper), normalize_line(lower)) else {
        // A question mark is a mark in what people write.
        let missing = upper.chars().chain(lower.chars()).any(|c| c != '?' && is_missing_sign(c));
        return Err(if missing { RejectReason::MissingCharacter } else { RejectReason::NotHan });
    };
    let couplet = Couplet::new(u, l);
    // Everyday couplets are not refused for their tones.
    let reason = too_long(&couplet, max_length).or_else(|| check_pair(&couplet, false));
    reason.map_or(Ok(couplet), Err)
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
        let (source, found) = match file.kind {
            PackageKind::Poems => (Source::Mined, couplets_of_poem(&text)),
            PackageKind::Lyrics => (Source::Ci, couplets_of_lyric(&text, Source::Ci)),
            PackageKind::Songs => (Source::Qu, couplets_of_lyric(&text, Source::Qu)),
            PackageKind::Primer => (Source::Shenglv, couplets_of_primer(&text)),
        };
        result.unpaired_clauses += found.unpaired_clauses;
        *result.candidates.entry(source).or_default() += found.broken.len() as u64;
        result.rejects.extend(found.broken.into_iter().map(|(reason, text)| Reject {
            reason,
            source,
            text,
            score: None,
        }));
        for (couplet, source) in found.couplets {
            *result.candidates.entry(source).or_default() += 1;
            if let Some(reason) = too_long(&couplet, max_length).or_else(|| check_pair(&couplet, true)) {
                result.rejects.push(Reject { reason, source, text: couplet.to_string(), score: None });
                continue;
            }
            let hit = |line: &Line| plain.find(&line.han().collect::<Vec<_>>()).is_some();
            let saved = hit(couplet.upper()) || hit(couplet.lower());
            result.kept_by_contexts += u64::from(saved);
            result.pairs.push((couplet, source, result.texts));
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
