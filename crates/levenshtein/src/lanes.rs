//! A vector of 64-bit words: the few operations that the sweep needs, on AVX-512, on AVX2 and on
//! one plain word.
//!
//! The functions are `inline(always)` and without a target feature of their own, so that they
//! melt into the sweep, which is compiled once for every instruction set (see `sweep`).

/// `COUNT` words of 64 bits, worked on at once.
///
/// # Safety
/// Every function may be called only on a machine that has the instruction set of the
/// implementing type.
pub(crate) trait Lanes: Copy {
    /// Number of words.
    const COUNT: usize;
    /// `COUNT` words from memory; `from` needs no alignment.
    unsafe fn load(from: *const u64) -> Self;
    /// `COUNT` words to memory; `to` needs no alignment.
    unsafe fn store(self, to: *mut u64);
    /// The same word everywhere.
    unsafe fn splat(word: u64) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn not(self) -> Self;
    /// Word by word, carries are dropped.
    unsafe fn add(self, other: Self) -> Self;
    /// Every word shifted left by one bit, its lowest bit taken from the top bit of `low`.
    unsafe fn shift_in(self, low: Self) -> Self;
    /// The top bit of every word as its lowest one, the others zero.
    unsafe fn top_bits(self) -> Self;
    /// Lane k becomes lane k − 1 of `self`; lane 0 becomes the last lane of `before`.
    unsafe fn behind(self, before: Self) -> Self;
    /// Lane k from `set` where bit `1 << BIT` of k is one, else from `clear`.
    unsafe fn pick<const BIT: usize>(set: Self, clear: Self) -> Self;
    /// The top bit of the last lane.
    unsafe fn last_top_bit(self) -> u8;
}

impl Lanes for u64 {
    const COUNT: usize = 1;
    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller promises one readable word.
        unsafe { from.read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller promises one writable word.
        unsafe { to.write_unaligned(self) }
    }
    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        word
    }
    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    unsafe fn not(self) -> Self {
        !self
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    unsafe fn shift_in(self, low: Self) -> Self {
        (self << 1) | (low >> 63)
    }
    #[inline(always)]
    unsafe fn top_bits(self) -> Self {
        self >> 63
    }
    #[inline(always)]
    unsafe fn behind(self, before: Self) -> Self {
        before
    }
    #[inline(always)]
    unsafe fn pick<const BIT: usize>(_set: Self, clear: Self) -> Self {
        clear
    }
    #[inline(always)]
    unsafe fn last_top_bit(self) -> u8 {
        (self >> 63) as u8
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use super::Lanes;
    use std::arch::x86_64::*;

    /// Four words in an AVX2 register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256i);

    // SAFETY of every function below: the trait demands that the machine has AVX2; loads and
    // stores are the unaligned ones and the caller promises `COUNT` words.
    impl Lanes for Avx2 {
        const COUNT: usize = 4;
        #[inline(always)]
        unsafe fn load(from: *const u64) -> Self {
            unsafe { Self(_mm256_loadu_si256(from.cast())) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u64) {
            unsafe { _mm256_storeu_si256(to.cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn splat(word: u64) -> Self {
            unsafe { Self(_mm256_set1_epi64x(word as i64)) }
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            unsafe { Self(_mm256_and_si256(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            unsafe { Self(_mm256_or_si256(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn xor(self, other: Self) -> Self {
            unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn not(self) -> Self {
            unsafe { Self(_mm256_xor_si256(self.0, _mm256_set1_epi64x(-1))) }
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            unsafe { Self(_mm256_add_epi64(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn shift_in(self, low: Self) -> Self {
            unsafe {
                Self(_mm256_or_si256(
                    _mm256_add_epi64(self.0, self.0),
                    low.top_bits().0,
                ))
            }
        }
        #[inline(always)]
        unsafe fn top_bits(self) -> Self {
            unsafe { Self(_mm256_srli_epi64::<63>(self.0)) }
        }
        #[inline(always)]
        unsafe fn behind(self, before: Self) -> Self {
            unsafe {
                let turned = _mm256_permute4x64_epi64::<0b10_01_00_11>(self.0);
                let last = _mm256_permute4x64_epi64::<0b10_01_00_11>(before.0);
                Self(_mm256_blend_epi32::<0b0000_0011>(turned, last))
            }
        }
        #[inline(always)]
        unsafe fn pick<const BIT: usize>(set: Self, clear: Self) -> Self {
            unsafe {
                match BIT {
                    0 => Self(_mm256_blend_epi32::<0b1100_1100>(clear.0, set.0)),
                    1 => Self(_mm256_blend_epi32::<0b1111_0000>(clear.0, set.0)),
                    _ => clear,
                }
            }
        }
        #[inline(always)]
        unsafe fn last_top_bit(self) -> u8 {
            unsafe { (_mm256_movemask_pd(_mm256_castsi256_pd(self.0)) >> 3) as u8 }
        }
    }

    /// Eight words in an AVX-512 register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512i);

    // SAFETY of every function below: the trait demands that the machine has AVX-512 F, DQ and
    // VBMI2; loads and stores are the unaligned ones and the caller promises `COUNT` words.
    impl Lanes for Avx512 {
        const COUNT: usize = 8;
        #[inline(always)]
        unsafe fn load(from: *const u64) -> Self {
            unsafe { Self(_mm512_loadu_si512(from.cast())) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut u64) {
            unsafe { _mm512_storeu_si512(to.cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn splat(word: u64) -> Self {
            unsafe { Self(_mm512_set1_epi64(word as i64)) }
        }
        #[inline(always)]
        unsafe fn and(self, other: Self) -> Self {
            unsafe { Self(_mm512_and_si512(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn or(self, other: Self) -> Self {
            unsafe { Self(_mm512_or_si512(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn xor(self, other: Self) -> Self {
            unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn not(self) -> Self {
            unsafe { Self(_mm512_xor_si512(self.0, _mm512_set1_epi64(-1))) }
        }
        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            unsafe { Self(_mm512_add_epi64(self.0, other.0)) }
        }
        #[inline(always)]
        unsafe fn shift_in(self, low: Self) -> Self {
            unsafe { Self(_mm512_shldi_epi64::<1>(self.0, low.0)) }
        }
        #[inline(always)]
        unsafe fn top_bits(self) -> Self {
            unsafe { Self(_mm512_srli_epi64::<63>(self.0)) }
        }
        #[inline(always)]
        unsafe fn behind(self, before: Self) -> Self {
            unsafe { Self(_mm512_alignr_epi64::<7>(self.0, before.0)) }
        }
        #[inline(always)]
        unsafe fn pick<const BIT: usize>(set: Self, clear: Self) -> Self {
            const BITS: [__mmask8; 3] = [0b1010_1010, 0b1100_1100, 0b1111_0000];
            unsafe { Self(_mm512_mask_blend_epi64(BITS[BIT], clear.0, set.0)) }
        }
        #[inline(always)]
        unsafe fn last_top_bit(self) -> u8 {
            unsafe { _mm512_movepi64_mask(self.0) >> 7 }
        }
    }
}
