//! Fast inference of duilian's aligned transformer on processors, without burn and without threads of its own: the same
//! [`StepModel`](duilian_decoder::StepModel) and the same weights as `duilian-model`, in single precision or in 8 bits.
//!
//! ```
//! use duilian_core::{Direction, Line};
//! use duilian_decoder::{DecodeOptions, Decoder, Lexicon, Question};
//! use duilian_engine::{Engine, Precision, answer_parallel};
//! use duilian_prosody::BlockedWords;
//! use duilian_tokenizer::CharTokenizer;
//! use duilian_weights::ModelWeights;
//!
//! let weights = ModelWeights::from_bytes(duilian_pretrained::WEIGHTS, "embedded weights")?;
//! let tokenizer = CharTokenizer::from_json(duilian_pretrained::TOKENIZER)?;
//! let engine = Engine::from_weights(&weights, Precision::default())?;
//! let lexicon = Lexicon::new(&tokenizer, CharTokenizer::UNK, &BlockedWords::default());
//! let decoder = Decoder::new(lexicon, DecodeOptions::default())?;
//!
//! let question = Question::new(Line::parse("海内存知己")?, Direction::UpperToLower);
//! let answer = &decoder.answer(&engine, &question)?[0];
//! assert_eq!(answer.line.len(), 5);
//!
//! // Many lines on two threads: the same answers, whatever the number of threads.
//! let many = answer_parallel(&decoder, &engine, &[question.clone(), question], 2);
//! assert_eq!(many[1].as_ref().map_err(Clone::clone)?[0].line, answer.line);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod engine;
mod error;
mod kernel;
mod loss;
mod network;
mod parallel;
mod shortlist;
mod state;

pub use engine::Engine;
pub use error::EngineError;
pub use kernel::Level;
pub use loss::loss_of_pairs;
pub use network::Precision;
pub use parallel::answer_parallel;
pub use shortlist::{Shortlist, ShortlistBuilder, ShortlistConfig};
pub use state::EngineState;
