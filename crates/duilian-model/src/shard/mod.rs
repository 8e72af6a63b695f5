//! Training pairs as files of tokens.

mod format;
mod map;
mod set;
mod writer;

pub use set::{Segment, ShardSet, TokenPair, Verification};
pub use writer::ShardWriter;
