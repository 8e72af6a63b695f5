//! Inner loops: products of rows with packed matrices, attention, norms, and probabilities.
//!
//! This is the only module with `unsafe` code. It is of two kinds. Functions of [`mod@dispatch`] call versions of
//! safe functions that are compiled for more instructions than the crate; a [`Level`] exists only where the
//! processor has them. Tiles of products read rows and panels through pointers; the safe functions around them
//! check once a call that all that will be read is there.
//!
//! Matrices are packed in panels of [`PANEL`] output columns, so that a product reads each panel from front to back:
//! what one line needs is bound by the speed at which weights come out of the caches. A tile is up to six rows of one
//! panel, 24 of the 32 vector registers of AVX-512, so that many rows are bound by multiplication alone. Every output
//! is summed up in the same order whatever the number of rows, and 8-bit sums are exact on every level: neither a
//! line's batch nor the processor changes an 8-bit answer.
#![allow(unsafe_code)]
// What is written once for all levels must be compiled anew for the instructions of each.
#![allow(clippy::inline_always)]
// Loads of vectors need no alignment.
#![allow(clippy::cast_ptr_alignment)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod lanes;
mod level;
mod pack;
mod portable;
mod product;
mod vector;

pub(crate) use dispatch::{attend, candidates_f32, log_softmax, quantise, refined_log_softmax, rms_norm};
pub use level::Level;
pub(crate) use pack::{Codes, PackedF32, PackedInt8, Table8};
pub(crate) use product::{Output, Store, candidates_int8, product_f32, product_int8};
pub(crate) use vector::score_room;

/// Columns of a panel of a packed matrix.
pub(crate) const PANEL: usize = 64;
/// Most rows of a tile.
const TILE_ROWS: usize = 6;
/// Codes of a row and bytes of a table's row are filled up to a multiple of this.
const STRIDE: usize = 64;

/// Sums of up to [`TILE_ROWS`] rows and one panel.
type Tile<T> = [[T; PANEL]; TILE_ROWS];

#[cfg(test)]
mod tests;
