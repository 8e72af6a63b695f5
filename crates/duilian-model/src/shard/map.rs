//! The one place that maps files into memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use memmap2::{Advice, Mmap, UncheckedAdvice};

use crate::ModelError;

/// Maps a whole file for reading in no particular order.
pub(super) fn map_file(path: &Path) -> Result<Mmap, ModelError> {
    let file = File::open(path).map_err(ModelError::io("open", path))?;
    // SAFETY: shards are written beside their place and renamed, never changed afterwards, so the mapped bytes
    // stay as they are; a file that somebody truncates meanwhile is outside of what any reader can promise.
    let map = unsafe { Mmap::map(&file) }.map_err(ModelError::io("map", path))?;
    // Pairs are drawn at random: what the system reads ahead would be thrown away. Only a hint.
    let _ = map.advise(Advice::Random);
    Ok(map)
}

/// Gives the pages that were read back to the system; they are read again from the file when they are needed.
pub(super) fn release(map: &Mmap) {
    // SAFETY: the map is of a file and read-only, so its pages hold nothing that the file does not: whoever reads
    // them after this sees the same bytes.
    // Only a hint: where the system refuses, pages stay until it needs the memory.
    let _ = unsafe { map.unchecked_advise(UncheckedAdvice::DontNeed) };
}
