//! Benches stand in `benches/`; here is what they share or what is too long to stand among others.

mod paths;

pub use paths::paths;
