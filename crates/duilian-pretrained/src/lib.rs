//! Trained weights of duilian and the vocabulary that belongs to them, as bytes in the program.
//!
//! `duilian-model` reads the weights (`ModelWeights::from_bytes`) and `duilian-tokenizer` the vocabulary
//! (`CharTokenizer::from_json`); both check what they read. `docs/training.md` in the repository says how the
//! weights were made and what they reach.
//!
//! ```
//! assert!(duilian_pretrained::WEIGHTS.len() < 10_000_000);
//! assert_eq!(duilian_pretrained::TOKENIZER[0], b'{');
//! ```

/// A weights file: safetensors with 8-bit matrices and `f32` scales.
pub const WEIGHTS: &[u8] = include_bytes!("../data/weights.safetensors");

/// The vocabulary: a `tokenizer.json` that the `tokenizers` libraries read too.
pub const TOKENIZER: &[u8] = include_bytes!("../data/tokenizer.json");
