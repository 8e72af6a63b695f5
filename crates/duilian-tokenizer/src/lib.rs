//! A vocabulary of single characters: every Han character and every mark is a token.
//!
//! Files are `tokenizer.json` of the `tokenizers` libraries, so the same ids come out in Python. Lines are encoded
//! from a table of this crate, which starts and runs faster than the general pipeline; the pipeline of the
//! `tokenizers` crate is there on request, and tests hold both to the same ids.
//!
//! ```
//! use duilian_core::{Line, Vocabulary};
//! use duilian_tokenizer::{CharTokenizer, TrainerConfig};
//!
//! let lines = [Line::parse("春风，春雨")?, Line::parse("秋月，秋霜")?];
//! let tokenizer = CharTokenizer::train(&lines, &TrainerConfig { min_frequency: 1, ..Default::default() })?;
//! assert_eq!(tokenizer.size(), CharTokenizer::FIRST_HAN.index() + 6);
//!
//! let ids = tokenizer.encode(&lines[0]);
//! assert_eq!(tokenizer.decode(&ids)?, "春风，春雨");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod format;
mod serialization;
mod table;
mod tokenizer;
mod trainer;

pub use error::TokenizerError;
pub use tokenizer::CharTokenizer;
pub use trainer::TrainerConfig;
