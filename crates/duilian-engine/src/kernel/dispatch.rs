//! One function of [`vector`](super::vector) for each level.

use super::lanes::Portable;
#[cfg(target_arch = "x86_64")]
use super::lanes::{Avx2, Avx512};
use super::level::{Kind, Level};
use super::{Codes, Table8, vector};

macro_rules! dispatch {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(level: Level, $($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($argument: $type),*) $(-> $result)? {
                    vector::$name::<Avx2>($($argument),*)
                }
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
                fn avx512($($argument: $type),*) $(-> $result)? {
                    vector::$name::<Avx512>($($argument),*)
                }
                match level.kind() {
                    Kind::Portable => {}
                    // SAFETY: a level exists only where the processor has its instructions.
                    Kind::Avx2 => return unsafe { avx2($($argument),*) },
                    // SAFETY: as above.
                    Kind::Avx512Vnni => return unsafe { avx512($($argument),*) },
                }
            }
            let _ = level.kind();
            vector::$name::<Portable>($($argument),*)
        }
    )*};
}

dispatch! {
    /// Root mean square norm of each row.
    fn rms_norm(x: &[f32], gamma: &[f32], out: &mut [f32]);
    /// Rows to codes.
    fn quantise(x: &[f32], width: usize, bytes: usize, codes: &mut Codes);
    /// Attention of one query.
    fn attend(
        query: &[f32], memory: &[f32], offsets: &[usize], heads: usize, scores: &mut [f32], out: &mut [f32]
    );
    /// Rows times some rows of a table.
    fn candidates_f32(x: &[f32], width: usize, table: &[f32], candidates: &[u16], out: &mut [f32]);
    /// Scores to log-probabilities.
    fn log_softmax(rows: &mut [f32], width: usize);
    /// Scores to log-probabilities, the best scores computed anew.
    fn refined_log_softmax(
        x: &[f32], width: usize, table: &Table8, candidates: Option<&[u16]>, reach: f32, scores: &mut [f32]
    );
}
