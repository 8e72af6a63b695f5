//! The one place that maps a file into memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::ModelError;

/// Maps a whole file for reading.
pub(super) fn map_file(path: &Path) -> Result<Mmap, ModelError> {
    let file = File::open(path).map_err(ModelError::io("open", path))?;
    // SAFETY: shards are written beside their place and renamed, never changed afterwards, so the mapped bytes
    // stay as they are; a file that somebody truncates meanwhile is outside of what any reader can promise.
    unsafe { Mmap::map(&file) }.map_err(ModelError::io("map", path))
}
