//! Benches stand in `benches/`.
