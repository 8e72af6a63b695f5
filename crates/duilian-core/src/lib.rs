//! Plain types that every layer of duilian shares: [`Line`], [`Clause`], [`Couplet`], [`TokenId`],
//! [`Direction`] and the [`Vocabulary`] trait. No tensors, no regular expressions, no I/O.
//!
//! ```
//! use duilian_core::{Couplet, Line};
//!
//! let upper = Line::parse("人人为我，我为人人")?;
//! assert_eq!(upper.len(), 9);
//! assert_eq!(upper.han_len(), 8);
//! assert_eq!(upper.clauses().count(), 2);
//!
//! let couplet = Couplet::parse("海内存知己", "天涯若比邻")?;
//! assert_eq!(couplet.lower().to_string(), "天涯若比邻");
//! # Ok::<(), duilian_core::LineError>(())
//! ```

mod couplet;
mod direction;
mod error;
mod glyph;
mod line;
mod loss;
mod token;

pub use couplet::Couplet;
pub use direction::Direction;
pub use error::LineError;
pub use glyph::{MARKS, is_han, is_mark};
pub use line::{Clause, Line};
pub use loss::LossSum;
pub use token::{TokenId, Vocabulary};
