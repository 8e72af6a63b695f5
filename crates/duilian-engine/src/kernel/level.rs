//! Which instructions the processor has.

/// A set of instructions that kernels are written for. A value exists only where the processor has the
/// instructions, so that holding one is the proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
}

impl Level {
    /// No instructions but those of the target that was compiled for.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// All levels that this processor has, slowest first; the portable one is always among them.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "only some targets have more")]
        let mut levels = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                levels.push(Self(Kind::Avx2));
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni")
            {
                levels.push(Self(Kind::Avx512Vnni));
            }
        }
        levels
    }

    /// The fastest level that this processor has.
    pub fn detect() -> Self {
        Self::available().pop().unwrap_or(Self::PORTABLE)
    }

    /// `portable`, `avx2` or `avx512vnni`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Vnni => "avx512vnni",
        }
    }

    pub(super) fn kind(self) -> Kind {
        self.0
    }
}
