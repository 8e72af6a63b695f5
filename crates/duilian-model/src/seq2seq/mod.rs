//! The historic baseline: an attention LSTM that writes until it says that the line is over.

mod config;
mod inference;
mod lstm;
mod network;

pub use config::Seq2SeqConfig;
pub use inference::{Seq2SeqModel, Seq2SeqState};
pub use network::AttentionSeq2Seq;

/// The token that ends an answer. The begin token never follows another one, so it serves as the end token too.
pub(crate) const END: duilian_core::TokenId = duilian_tokenizer::CharTokenizer::BOS;
