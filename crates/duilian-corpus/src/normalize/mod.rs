//! One way to write everything.

mod input;
mod text;

pub use duilian_core::LineError as NormalizeError;
pub use input::normalize_line;
pub use text::{normalize_text, simplify};

pub(crate) use text::is_missing_sign;
