//! Stopping a search from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::DecodeError;

/// Stops searches: every search that was given a clone ends with [`DecodeError::Cancelled`] before its next step
/// of the model.
///
/// ```
/// use duilian_decoder::CancelToken;
/// let token = CancelToken::new();
/// let other = token.clone();
/// other.cancel();
/// assert!(token.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops all searches with this token, for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<(), DecodeError> {
        if self.is_cancelled() { Err(DecodeError::Cancelled) } else { Ok(()) }
    }
}
