//! One vector register of doubles, whatever the processor calls it.
//!
//! Kernels are written once, generic over [`Lanes`], and instantiated by `dispatch!` inside a
//! function that switches on the instruction set. Everything is `inline(always)`: an intrinsic is
//! only fast, and for AVX only sound, when it ends up inside such a function.

/// The arithmetic a kernel may use. `max` and `min` return the *second* operand when either is
/// NaN (what the x86 instructions do), so `low.max(x)` keeps a NaN in `x`.
pub(crate) trait Lanes: Copy {
    /// Doubles in a register.
    const N: usize;

    fn splat(x: f64) -> Self;
    /// The first `N` values of `s`.
    fn load(s: &[f64]) -> Self;
    fn store(self, s: &mut [f64]);
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn div(self, o: Self) -> Self;
    fn max(self, o: Self) -> Self;
    fn min(self, o: Self) -> Self;
    /// `self · b + c`, fused where the hardware has it.
    fn fma(self, b: Self, c: Self) -> Self;
    fn abs(self) -> Self;
    /// `2^k` where the register holds `k + 1.5·2⁵²`, −1023 < k < 1024.
    fn pow2_from_shifted(self) -> Self;
    /// `(e, m)` with `self = 2^e · m`, `√½ ≤ m < √2`; for positive normal numbers.
    fn split_exponent(self) -> (Self, Self);
    /// Lane by lane, `a < b ? yes : no`; a NaN compares false.
    fn select_lt(a: Self, b: Self, yes: Self, no: Self) -> Self;

    /// The first `n < N` values of `s`, the rest `fill`.
    #[inline(always)]
    fn load_partial(s: &[f64], fill: f64) -> Self {
        let mut full = [fill; 8];
        full[..s.len()].copy_from_slice(s);
        Self::load(&full)
    }

    /// Ones in the first `n` lanes, zeros in the rest.
    #[inline(always)]
    fn mask(n: usize) -> Self {
        let mut full = [0.0; 8];
        full[..n].fill(1.0);
        Self::load(&full)
    }

    /// The sum over the lanes, in a fixed order.
    #[inline(always)]
    fn sum(self) -> f64 {
        let mut full = [0.0; 8];
        self.store(&mut full);
        full[..Self::N].iter().sum()
    }
}

/// 1.5·2⁵²: adding it rounds to an integer and leaves that integer in the low mantissa bits.
pub(crate) const SHIFT: f64 = 6_755_399_441_055_744.0;
/// The bit pattern of √½ without its lower bits decides where the mantissa is folded.
const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
/// 2⁵² as bits and as a number: or-ing a small integer into it makes that integer a double.
const TWO52_BITS: u64 = 0x4330_0000_0000_0000;
const TWO52: f64 = 4_503_599_627_370_496.0;
/// Added so that the biased difference of exponents stays positive.
const BIAS: u64 = 2048;

/// Four doubles in plain Rust; the compiler uses what the target has (SSE2, NEON).
#[derive(Clone, Copy)]
pub(crate) struct Portable([f64; 4]);

impl Portable {
    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Portable(std::array::from_fn(|i| f(self.0[i], o.0[i])))
    }
}

impl Lanes for Portable {
    const N: usize = 4;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Portable([x; 4])
    }
    #[inline(always)]
    fn load(s: &[f64]) -> Self {
        Portable(std::array::from_fn(|i| s[i]))
    }
    #[inline(always)]
    fn store(self, s: &mut [f64]) {
        s[..4].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self.zip(o, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self.zip(o, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self.zip(o, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        self.zip(o, |a, b| a / b)
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        self.zip(o, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        self.zip(o, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        // Without the instruction `mul_add` is a slow library call.
        if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
            Portable(std::array::from_fn(|i| self.0[i].mul_add(b.0[i], c.0[i])))
        } else {
            Portable(std::array::from_fn(|i| self.0[i] * b.0[i] + c.0[i]))
        }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Portable(self.0.map(f64::abs))
    }
    #[inline(always)]
    fn pow2_from_shifted(self) -> Self {
        Portable(
            self.0
                .map(|x| f64::from_bits(x.to_bits().wrapping_add(1023) << 52)),
        )
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        // (bits − bits(√½)) >> 52 is the exponent relative to √½, biased to stay positive.
        let e = self.0.map(|x| {
            x.to_bits()
                .wrapping_sub(SQRT_HALF_BITS)
                .wrapping_add(BIAS << 52)
                >> 52
        });
        let m = std::array::from_fn(|i| {
            f64::from_bits(
                self.0[i]
                    .to_bits()
                    .wrapping_sub(e[i].wrapping_sub(BIAS) << 52),
            )
        });
        let e = e.map(|e| f64::from_bits(TWO52_BITS | e) - (TWO52 + BIAS as f64));
        (Portable(e), Portable(m))
    }
    #[inline(always)]
    fn select_lt(a: Self, b: Self, yes: Self, no: Self) -> Self {
        Portable(std::array::from_fn(|i| {
            if a.0[i] < b.0[i] { yes.0[i] } else { no.0[i] }
        }))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    // SAFETY of every block below: `dispatch!` instantiates these types only inside functions
    // with the target features they need, called after those features were detected. Loads and
    // stores check the slice length first.
    use super::{BIAS, Lanes, SQRT_HALF_BITS, TWO52, TWO52_BITS};
    use std::arch::x86_64::*;

    /// Four doubles in an AVX register; needs `avx2,fma`.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256d);

    impl Lanes for Avx2 {
        const N: usize = 4;

        #[inline(always)]
        fn splat(x: f64) -> Self {
            Avx2(unsafe { _mm256_set1_pd(x) })
        }
        #[inline(always)]
        fn load(s: &[f64]) -> Self {
            let s = &s[..4];
            Avx2(unsafe { _mm256_loadu_pd(s.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, s: &mut [f64]) {
            let s = &mut s[..4];
            unsafe { _mm256_storeu_pd(s.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn add(self, o: Self) -> Self {
            Avx2(unsafe { _mm256_add_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn sub(self, o: Self) -> Self {
            Avx2(unsafe { _mm256_sub_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn mul(self, o: Self) -> Self {
            Avx2(unsafe { _mm256_mul_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn div(self, o: Self) -> Self {
            Avx2(unsafe { _mm256_div_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn max(self, o: Self) -> Self {
            Avx2(unsafe { _mm256_max_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn min(self, o: Self) -> Self {
            Avx2(unsafe { _mm256_min_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn fma(self, b: Self, c: Self) -> Self {
            Avx2(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Avx2(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
        }
        #[inline(always)]
        fn pow2_from_shifted(self) -> Self {
            Avx2(unsafe {
                let k = _mm256_add_epi64(_mm256_castpd_si256(self.0), _mm256_set1_epi64x(1023));
                _mm256_castsi256_pd(_mm256_slli_epi64::<52>(k))
            })
        }
        #[inline(always)]
        fn split_exponent(self) -> (Self, Self) {
            unsafe {
                let bits = _mm256_castpd_si256(self.0);
                let offset = (BIAS << 52).wrapping_sub(SQRT_HALF_BITS) as i64;
                let e = _mm256_srli_epi64::<52>(_mm256_add_epi64(bits, _mm256_set1_epi64x(offset)));
                let shift =
                    _mm256_slli_epi64::<52>(_mm256_sub_epi64(e, _mm256_set1_epi64x(BIAS as i64)));
                let m = _mm256_castsi256_pd(_mm256_sub_epi64(bits, shift));
                let e =
                    _mm256_castsi256_pd(_mm256_or_si256(e, _mm256_set1_epi64x(TWO52_BITS as i64)));
                (
                    Avx2(_mm256_sub_pd(e, _mm256_set1_pd(TWO52 + BIAS as f64))),
                    Avx2(m),
                )
            }
        }
        #[inline(always)]
        fn select_lt(a: Self, b: Self, yes: Self, no: Self) -> Self {
            Avx2(unsafe { _mm256_blendv_pd(no.0, yes.0, _mm256_cmp_pd::<_CMP_LT_OQ>(a.0, b.0)) })
        }
    }

    /// Eight doubles in an AVX-512 register; needs `avx512f,avx512dq`.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512d);

    impl Lanes for Avx512 {
        const N: usize = 8;

        #[inline(always)]
        fn splat(x: f64) -> Self {
            Avx512(unsafe { _mm512_set1_pd(x) })
        }
        #[inline(always)]
        fn load(s: &[f64]) -> Self {
            let s = &s[..8];
            Avx512(unsafe { _mm512_loadu_pd(s.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, s: &mut [f64]) {
            let s = &mut s[..8];
            unsafe { _mm512_storeu_pd(s.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn add(self, o: Self) -> Self {
            Avx512(unsafe { _mm512_add_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn sub(self, o: Self) -> Self {
            Avx512(unsafe { _mm512_sub_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn mul(self, o: Self) -> Self {
            Avx512(unsafe { _mm512_mul_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn div(self, o: Self) -> Self {
            Avx512(unsafe { _mm512_div_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn max(self, o: Self) -> Self {
            Avx512(unsafe { _mm512_max_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn min(self, o: Self) -> Self {
            Avx512(unsafe { _mm512_min_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn fma(self, b: Self, c: Self) -> Self {
            Avx512(unsafe { _mm512_fmadd_pd(self.0, b.0, c.0) })
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Avx512(unsafe { _mm512_abs_pd(self.0) })
        }
        #[inline(always)]
        fn pow2_from_shifted(self) -> Self {
            Avx512(unsafe {
                let k = _mm512_add_epi64(_mm512_castpd_si512(self.0), _mm512_set1_epi64(1023));
                _mm512_castsi512_pd(_mm512_slli_epi64::<52>(k))
            })
        }
        #[inline(always)]
        fn split_exponent(self) -> (Self, Self) {
            unsafe {
                let bits = _mm512_castpd_si512(self.0);
                let offset = (BIAS << 52).wrapping_sub(SQRT_HALF_BITS) as i64;
                let e = _mm512_srli_epi64::<52>(_mm512_add_epi64(bits, _mm512_set1_epi64(offset)));
                let shift =
                    _mm512_slli_epi64::<52>(_mm512_sub_epi64(e, _mm512_set1_epi64(BIAS as i64)));
                let m = _mm512_castsi512_pd(_mm512_sub_epi64(bits, shift));
                let e =
                    _mm512_castsi512_pd(_mm512_or_si512(e, _mm512_set1_epi64(TWO52_BITS as i64)));
                (
                    Avx512(_mm512_sub_pd(e, _mm512_set1_pd(TWO52 + BIAS as f64))),
                    Avx512(m),
                )
            }
        }
        #[inline(always)]
        fn select_lt(a: Self, b: Self, yes: Self, no: Self) -> Self {
            Avx512(unsafe {
                _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a.0, b.0), no.0, yes.0)
            })
        }
    }
}
