//! Token shards: pairs of lines as ids on disk, one file a length, memory-mapped.

mod format;
mod map;
mod set;

pub use set::{ShardSet, ShardWriter, TokenPair};
