//! Parallel couplets in running verse.

mod association;
mod joined;
mod poem;
mod shenglv;

pub use association::Association;
pub(crate) use joined::join_neighbours;
pub(crate) use poem::{couplets_of_lyric, couplets_of_poem};
pub(crate) use shenglv::couplets_of_primer;
