//! Pairs on their way through the pipeline.

use duilian_core::Couplet;
use serde::{Deserialize, Serialize};

/// Where a pair comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The authored corpus of this crate.
    Authored,
    /// Files of the user.
    User,
    /// Second or third couplet of a regulated poem (律诗): parallel by form.
    Regulated,
    /// Another couplet of a poem whose characters are associated like those of regulated couplets.
    Mined,
    /// Consecutive clauses of a song lyric (词) that are associated likewise.
    Ci,
    /// Consecutive clauses of a Yuan song (曲) that are associated likewise.
    Qu,
    /// The primer of parallelism 声律启蒙.
    Shenglv,
    /// Two consecutive parallel couplets of one poem, their upper lines joined and their lower lines joined.
    Joined,
}

impl Source {
    /// All sources in the order in which duplicates give way: the first keeps.
    pub const ALL: [Self; 8] = [
        Self::Authored,
        Self::User,
        Self::Regulated,
        Self::Shenglv,
        Self::Mined,
        Self::Ci,
        Self::Qu,
        Self::Joined,
    ];

    /// The name in files.
    ///
    /// ```
    /// assert_eq!(duilian_corpus::Source::Regulated.name(), "regulated");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Authored => "authored",
            Self::User => "user",
            Self::Regulated => "regulated",
            Self::Mined => "mined",
            Self::Ci => "ci",
            Self::Qu => "qu",
            Self::Shenglv => "shenglv",
            Self::Joined => "joined",
        }
    }
}

/// A pair with what the pipeline knows of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The lines.
    pub couplet: Couplet,
    /// Where it comes from.
    pub source: Source,
    /// Number of the poem or record; all pairs of one stay on one side of the split.
    pub group: u64,
    /// Parallelism by character association, see [`Association`](crate::Association); 0 before it is scored.
    pub score: f32,
}
