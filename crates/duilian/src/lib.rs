//! Answers the upper line of a Chinese couplet (上联) with a lower line (下联), and the reverse.
//!
//! ```
//! use duilian::Duilian;
//!
//! let duilian = Duilian::pretrained()?;
//! let answer = duilian.reply("海内存知己")?;
//! assert_eq!(answer.line.len(), 5);
//! # Ok::<(), duilian::Error>(())
//! ```
//!
//! Every layer is a crate of its own and can be used without the others: [`core`] has the plain types,
//! [`corpus`] cleans and mines texts, [`tokenizer`] numbers characters, [`prosody`] knows tones and rules,
//! [`model`] holds the network and its training loop, [`decoder`] searches under the rules.

mod error;
mod evaluation;
mod system;

pub use duilian_core as core;
pub use duilian_corpus as corpus;
pub use duilian_decoder as decoder;
pub use duilian_engine as engine;
#[cfg(feature = "flex")]
pub use duilian_model as model;
pub use duilian_pretrained as pretrained;
pub use duilian_prosody as prosody;
pub use duilian_tokenizer as tokenizer;
pub use duilian_weights as weights;

pub use duilian_core::{Couplet, Direction, Line};
pub use duilian_decoder::{Answer, DecodeOptions, Question, SearchMethod};
pub use error::Error;
pub use evaluation::{Evaluation, RuleRate, bleu};
pub use system::Duilian;

/// The examples of the README are tested like those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
