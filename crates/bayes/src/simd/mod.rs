//! Vector kernels with runtime dispatch: AVX-512, AVX2 + FMA, or plain Rust.

mod kernels;
mod lanes;
mod math;

pub(crate) use kernels::{
    ComponentSums, In, MAX_FUSED_COMPONENTS, bernoulli_logit, matvec, matvec_adjoint, normal,
    normal_mixture,
};
pub use math::{exp, inv_logit, log, log1p};

/// The instruction set the kernels of one program use. A value above `portable` can only be had
/// by detection, which is what makes the dispatch sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionSet(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// Plain Rust, available everywhere.
    pub fn portable() -> Self {
        InstructionSet(Kind::Portable)
    }

    /// The widest set this processor and its operating system offer.
    pub fn detect() -> Self {
        Self::available().pop().unwrap_or(Self::portable())
    }

    /// Every set that works here, narrowest first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)] // stays as it is on other architectures
        let mut sets = vec![Self::portable()];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                sets.push(InstructionSet(Kind::Avx2));
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                    sets.push(InstructionSet(Kind::Avx512));
                }
            }
        }
        sets
    }

    /// `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
        }
    }
}

/// Defines a function that runs `$body::<L>` for the lanes of the given [`InstructionSet`].
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:ident;) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)] // a kernel takes every buffer it touches
        $vis fn $name(set: $crate::simd::InstructionSet, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
            fn avx512($($arg: $ty),*) $(-> $ret)? {
                $body::<$crate::simd::lanes::Avx512>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) $(-> $ret)? {
                $body::<$crate::simd::lanes::Avx2>($($arg),*)
            }
            match set.0 {
                $crate::simd::Kind::Portable => {
                    $body::<$crate::simd::lanes::Portable>($($arg),*)
                }
                // SAFETY: these kinds exist only after their features were detected.
                #[cfg(target_arch = "x86_64")]
                $crate::simd::Kind::Avx2 => unsafe { avx2($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                $crate::simd::Kind::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}
pub(crate) use dispatch;
