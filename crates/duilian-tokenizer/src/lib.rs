//! A vocabulary of single characters: every Han character and every mark is a token.
//!
//! Files are `tokenizer.json` of the `tokenizers` libraries, so the same ids come out in Python.
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
mod serialization;
mod tokenizer;
mod trainer;

pub use error::TokenizerError;
pub use tokenizer::CharTokenizer;
pub use trainer::TrainerConfig;
