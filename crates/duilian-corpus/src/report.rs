//! What the pipeline did, step by step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{RejectReason, Source};

/// Numbers by source.
pub type SourceCount = BTreeMap<Source, u64>;

/// What became of every candidate: read pairs plus joined ones are the written ones plus the rejects.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CleanReport {
    /// Files of packages that were read, and files that are of no use here.
    pub files_read: u64,
    /// Files of packages that hold no verse, or verse that is not used.
    pub files_skipped: u64,
    /// Poems, lyrics and paragraphs.
    pub texts: u64,
    /// Clauses of texts that stand in no candidate pair: of sentences without a partner of equal length.
    pub unpaired_clauses: u64,
    /// Candidate pairs before any filter.
    pub candidates: SourceCount,
    /// Candidates that were left out, by reason and source.
    pub rejects: BTreeMap<RejectReason, SourceCount>,
    /// Pairs that a plain list of blocked words would have left out and that its allowed contexts keep.
    pub kept_by_contexts: u64,
    /// Scored couplets by score: lower bound of each bin of 0.1 in tenths, and number, before the threshold.
    pub scores: BTreeMap<Source, BTreeMap<i32, u64>>,
    /// Pairs of `train.tsv`.
    pub train: SourceCount,
    /// Pairs of `valid.tsv`.
    pub valid: SourceCount,
    /// Pairs of `valid_authored.tsv`.
    pub valid_authored: SourceCount,
}

impl CleanReport {
    /// All candidates.
    pub fn total_candidates(&self) -> u64 {
        self.candidates.values().sum()
    }

    /// All rejects.
    pub fn total_rejects(&self) -> u64 {
        self.rejects.values().flat_map(BTreeMap::values).sum()
    }

    /// All pairs that were written.
    pub fn total_written(&self) -> u64 {
        [&self.train, &self.valid, &self.valid_authored].iter().flat_map(|c| c.values()).sum()
    }
}

impl std::fmt::Display for CleanReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} files read, {} skipped, {} texts, {} clauses without a partner",
            self.files_read, self.files_skipped, self.texts, self.unpaired_clauses
        )?;
        write!(f, "{:<24}", "")?;
        for source in Source::ALL {
            write!(f, "{:>11}", source.name())?;
        }
        writeln!(f, "{:>11}", "all")?;
        let mut row = |name: &str, counts: &SourceCount| {
            write!(f, "{name:<24}")?;
            for source in Source::ALL {
                write!(f, "{:>11}", counts.get(&source).copied().unwrap_or(0))?;
            }
            writeln!(f, "{:>11}", counts.values().sum::<u64>())
        };
        row("candidates", &self.candidates)?;
        for (reason, counts) in &self.rejects {
            row(&format!("- {}", reason.name()), counts)?;
        }
        row("train", &self.train)?;
        row("valid", &self.valid)?;
        row("valid_authored", &self.valid_authored)?;
        writeln!(f, "kept by the allowed contexts of blocked words: {}", self.kept_by_contexts)
    }
}
