//! What is known of a character, and the rules of parallel verse: tones after the rhyme book 平水韵 and
//! after modern readings ([`tones`]), blocked words ([`BlockedWords`]), and what the end of a line asks of the
//! other ([`required_end_tone`]).

mod blocked;
mod end_tone;
mod error;
mod tone;

pub use blocked::BlockedWords;
pub use end_tone::{end_tone, required_end_tone, satisfies_end_tone};
pub use error::ProsodyError;
pub use tone::{Tone, ToneBook, ToneSet, tones};
