//! Loss over characters.

/// Summed loss over counted characters.
///
/// ```
/// let sum = duilian_core::LossSum { nats: 9.0, characters: 2, pairs: 1 };
/// assert_eq!(sum.per_character(), 4.5);
/// assert_eq!(duilian_core::LossSum::default().per_character(), 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LossSum {
    /// Sum of `-ln p` in nats.
    pub nats: f64,
    /// Han characters that were scored; marks and characters outside the vocabulary are not.
    pub characters: usize,
    /// Pairs that were scored.
    pub pairs: usize,
}

impl LossSum {
    /// Nats per character; 0 if there was none.
    pub fn per_character(&self) -> f64 {
        if self.characters == 0 { 0.0 } else { self.nats / self.characters as f64 }
    }
}
