//! From texts to training pairs: readers, normalising, filters, mining of parallel couplets, removal of
//! duplicates, split, report.
//!
//! ```
//! use duilian_corpus::{authored, normalize_line};
//!
//! assert_eq!(normalize_line(" 人人為我,我為人人 ")?.to_string(), "人人为我，我为人人");
//! assert!(authored().count() > 10_000);
//! # Ok::<(), duilian_corpus::NormalizeError>(())
//! ```
//!
//! The whole way from a corpus to pairs is [`clean`]; every step of it can be called by itself.

mod authored;
mod config;
mod dedup;
mod error;
mod filter;
mod mine;
mod normalize;
mod pipeline;
mod readers;
mod record;
mod report;
mod split;

pub use authored::{Authored, authored};
pub use config::{CleanConfig, Input};
pub use dedup::NearDuplicates;
pub use error::CorpusError;
pub use filter::{RejectReason, check_pair};
pub use mine::Association;
pub use normalize::{NormalizeError, normalize_line, normalize_text, simplify};
pub use pipeline::{Progress, clean};
pub use record::{Pair, Source};
pub use report::{CleanReport, SourceCount};
