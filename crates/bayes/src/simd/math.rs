//! `exp`, `log`, `log1p` and the inverse logit of slices.
//!
//! The polynomials were fitted for this project (interpolation at Chebyshev nodes in 60-digit
//! arithmetic). Measured against correctly rounded results by the tests below: `exp` and `log`
//! within 1 ulp plus rounding of the fit (asserted: 2 ulp), `log1p` within 3 ulp. Subnormal
//! results of `exp` may lose one more unit of the last subnormal place.

use super::dispatch;
use super::lanes::{Lanes, SHIFT};

const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// ln 2 with its lower 21 bits cleared, so that its product with a small integer is exact.
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// (eʳ − 1 − r)/r² on |r| ≤ ln2/2; relative error of eʳ 1.6·10⁻¹⁷.
const EXP: [f64; 10] = [
    0.5,
    0.166_666_666_666_666_69,
    0.041_666_666_666_624_13,
    0.008_333_333_333_330_062,
    0.001_388_888_891_721_371_7,
    0.000_198_412_698_630_536_18,
    2.480_152_129_595_437_6e-5,
    2.755_726_845_999_706_4e-6,
    2.762_008_844_540_974_6e-7,
    2.510_038_549_551_031e-8,
];

/// (2 artanh(s)/s − 2)/s² in powers of s², for |s| ≤ (√2−1)/(√2+1).
const LOG: [f64; 7] = [
    0.666_666_666_666_667,
    0.399_999_999_998_988_9,
    0.285_714_286_262_538_36,
    0.222_222_110_893_794_96,
    0.181_828_924_325_368_7,
    0.153_316_117_220_550_08,
    0.146_178_071_534_174_25,
];

/// (p, k + SHIFT) with eˣ = 2ᵏ · p, for clamped x.
#[inline(always)]
fn exp_reduced<L: Lanes>(x: L) -> (L, L) {
    let shifted = x.fma(L::splat(LOG2_E), L::splat(SHIFT));
    let k = shifted.sub(L::splat(SHIFT));
    let r = k.fma(L::splat(-LN2_HIGH), x);
    let r = k.fma(L::splat(-LN2_LOW), r);
    let r2 = r.mul(r);
    // Estrin's scheme: half the latency of Horner's.
    let p01 = L::splat(EXP[1]).fma(r, L::splat(EXP[0]));
    let p23 = L::splat(EXP[3]).fma(r, L::splat(EXP[2]));
    let p45 = L::splat(EXP[5]).fma(r, L::splat(EXP[4]));
    let p67 = L::splat(EXP[7]).fma(r, L::splat(EXP[6]));
    let p89 = L::splat(EXP[9]).fma(r, L::splat(EXP[8]));
    let r4 = r2.mul(r2);
    let low = p23.fma(r2, p01);
    let high = p67.fma(r2, p45);
    let q = p89.fma(r4, high).fma(r4, low);
    // The small terms first: 1 is added last so that only one rounding matters.
    (q.fma(r2, r).add(L::splat(1.0)), shifted)
}

/// eˣ over the whole range, NaN and infinities included.
#[inline(always)]
pub(crate) fn exp_lanes<L: Lanes>(x: L) -> L {
    let x = L::splat(710.0).min(L::splat(-746.0).max(x));
    let (p, shifted) = exp_reduced(x);
    // Two factors, because 2ᵏ alone leaves the range of normal numbers at both ends.
    let k = shifted.sub(L::splat(SHIFT));
    let half = k.fma(L::splat(0.5), L::splat(SHIFT));
    let rest = k.sub(half.sub(L::splat(SHIFT))).add(L::splat(SHIFT));
    p.mul(half.pow2_from_shifted())
        .mul(rest.pow2_from_shifted())
}

/// eˣ for x ≤ 700, flushed to about 10⁻³⁰⁷ below −707: for terms of a sum that is not smaller
/// than 1.
#[inline(always)]
pub(crate) fn exp_limited<L: Lanes>(x: L) -> L {
    let (p, shifted) = exp_reduced(L::splat(-707.0).max(x));
    p.mul(shifted.pow2_from_shifted())
}

/// ln of a positive normal number.
#[inline(always)]
fn log_normal<L: Lanes>(x: L) -> L {
    let (e, m) = x.split_exponent();
    let f = m.sub(L::splat(1.0));
    let s = f.div(f.add(L::splat(2.0)));
    let z = s.mul(s);
    let z2 = z.mul(z);
    let p01 = L::splat(LOG[1]).fma(z, L::splat(LOG[0]));
    let p23 = L::splat(LOG[3]).fma(z, L::splat(LOG[2]));
    let p45 = L::splat(LOG[5]).fma(z, L::splat(LOG[4]));
    let r = L::splat(LOG[6])
        .fma(z2, p45)
        .fma(z2, p23)
        .fma(z2, p01)
        .mul(z);
    let half_square = f.mul(f).mul(L::splat(0.5));
    let tail = s.fma(half_square.add(r), e.mul(L::splat(LN2_LOW)));
    e.fma(L::splat(LN2_HIGH), f.sub(half_square.sub(tail)))
}

/// ln x over the whole range: ln 0 = −∞, ln of a negative number is NaN.
#[inline(always)]
pub(crate) fn log_lanes<L: Lanes>(x: L) -> L {
    let tiny = L::splat(f64::MIN_POSITIVE);
    let zero = L::splat(0.0);
    let two54 = L::splat(18_014_398_509_481_984.0);
    let scaled = L::select_lt(x, tiny, x.mul(two54), x);
    let offset = L::select_lt(x, tiny, L::splat(-54.0 * std::f64::consts::LN_2), zero);
    let y = log_normal(scaled).add(offset);
    // x ≤ 0, then ∞ and NaN, which compare false with everything below.
    let y = L::select_lt(
        zero,
        x,
        y,
        L::select_lt(x, zero, L::splat(f64::NAN), L::splat(f64::NEG_INFINITY)),
    );
    L::select_lt(x, L::splat(f64::INFINITY), y, x)
}

/// ln(1 + x): the rounding error of 1 + x is put back.
#[inline(always)]
fn log1p_lanes<L: Lanes>(x: L) -> L {
    let u = x.add(L::splat(1.0));
    let lost = x.sub(u.sub(L::splat(1.0)));
    let fixed = log_lanes(u).add(lost.div(u));
    // For huge x nothing is lost, and at −1 and ∞ the quotient is NaN.
    let in_range = L::select_lt(x, L::splat(1e17), fixed, log_lanes(u));
    L::select_lt(L::splat(-1.0), x, in_range, log_lanes(u))
}

/// 1/(1 + e⁻ˣ) without overflow: through e⁻|x|.
#[inline(always)]
fn inv_logit_lanes<L: Lanes>(x: L) -> L {
    let zero = L::splat(0.0);
    let one = L::splat(1.0);
    let t = exp_lanes(zero.sub(x.abs()));
    let top = L::select_lt(x, zero, t, one);
    top.div(one.add(t))
}

/// A function of one register. A trait and not a closure: a closure is compiled as a function of
/// its own, without the target features of its caller, and then every intrinsic is a call.
trait Map {
    fn apply<L: Lanes>(x: L) -> L;
}

#[inline(always)]
fn map<L: Lanes, M: Map>(x: &[f64], out: &mut [f64]) {
    let n = x.len().min(out.len());
    let (x, out) = (&x[..n], &mut out[..n]);
    let whole = n - n % L::N;
    for i in (0..whole).step_by(L::N) {
        M::apply(L::load(&x[i..])).store(&mut out[i..]);
    }
    if whole < n {
        let mut full = [0.0; 8];
        M::apply(L::load_partial(&x[whole..], 1.0)).store(&mut full);
        out[whole..].copy_from_slice(&full[..n - whole]);
    }
}

macro_rules! slice_function {
    ($kind:ident, $lanes:ident, $slice:ident) => {
        struct $kind;
        impl Map for $kind {
            #[inline(always)]
            fn apply<L: Lanes>(x: L) -> L {
                $lanes(x)
            }
        }
        #[inline(always)]
        fn $slice<L: Lanes>(x: &[f64], out: &mut [f64]) {
            map::<L, $kind>(x, out);
        }
    };
}

slice_function!(Exp, exp_lanes, exp_slice);
slice_function!(Log, log_lanes, log_slice);
slice_function!(Log1p, log1p_lanes, log1p_slice);
slice_function!(InvLogit, inv_logit_lanes, inv_logit_slice);

dispatch! {
    /// eˣ of every element of `x`, written to `out` (the shorter length counts).
    pub fn exp(x: &[f64], out: &mut [f64]) = exp_slice;
}
dispatch! {
    /// Natural logarithm of every element: −∞ at 0, NaN below.
    pub fn log(x: &[f64], out: &mut [f64]) = log_slice;
}
dispatch! {
    /// ln(1 + x) of every element, accurate near 0.
    pub fn log1p(x: &[f64], out: &mut [f64]) = log1p_slice;
}
dispatch! {
    /// 1/(1 + e⁻ˣ) of every element.
    pub fn inv_logit(x: &[f64], out: &mut [f64]) = inv_logit_slice;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::InstructionSet;
    use rand::{Rng, SeedableRng};

    /// Distance in units of the last place of `want`.
    fn ulps(got: f64, want: f64) -> f64 {
        if got == want || (got.is_nan() && want.is_nan()) {
            return 0.0;
        }
        let place = want.abs().next_up() - want.abs();
        (got - want).abs() / place
    }

    type Slices = fn(InstructionSet, &[f64], &mut [f64]);

    fn worst(f: Slices, oracle: fn(f64) -> f64, inputs: &[f64]) -> f64 {
        let mut worst: f64 = 0.0;
        for set in InstructionSet::available() {
            let mut out = vec![0.0; inputs.len()];
            f(set, inputs, &mut out);
            for (&x, &y) in inputs.iter().zip(&out) {
                let u = ulps(y, oracle(x));
                assert!(u.is_finite(), "{} at {x:e}: {y:e}", set.name());
                worst = worst.max(u);
            }
        }
        worst
    }

    fn uniform(low: f64, high: f64) -> Vec<f64> {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
        (0..200_003).map(|_| rng.random_range(low..high)).collect()
    }

    #[test]
    fn exp_is_within_two_ulp_of_std() {
        assert!(worst(exp, f64::exp, &uniform(-1.0, 1.0)) <= 2.0);
        assert!(worst(exp, f64::exp, &uniform(-708.0, 709.7)) <= 2.0);
    }

    #[test]
    fn log_is_within_two_ulp_of_std() {
        assert!(worst(log, f64::ln, &uniform(0.4, 2.5)) <= 2.0);
        let wide: Vec<f64> = uniform(-708.0, 709.7).iter().map(|x| x.exp()).collect();
        assert!(worst(log, f64::ln, &wide) <= 2.0);
    }

    #[test]
    fn log1p_is_within_three_ulp_of_std() {
        assert!(worst(log1p, f64::ln_1p, &uniform(-0.9999, 3.0)) <= 3.0);
        let tiny: Vec<f64> = uniform(-60.0, -1.0).iter().map(|x| x.exp()).collect();
        assert!(worst(log1p, f64::ln_1p, &tiny) <= 3.0);
    }

    #[test]
    fn inv_logit_is_within_four_ulp_of_its_formula() {
        fn plain(x: f64) -> f64 {
            if x < 0.0 {
                x.exp() / (1.0 + x.exp())
            } else {
                1.0 / (1.0 + (-x).exp())
            }
        }
        assert!(worst(inv_logit, plain, &uniform(-700.0, 700.0)) <= 4.0);
        assert!(worst(inv_logit, plain, &uniform(-5.0, 5.0)) <= 4.0);
    }

    #[test]
    fn special_values_are_those_of_std() {
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            709.78,
            709.79,
            1e300,
            -1e300,
            f64::MIN_POSITIVE,
            f64::MAX,
            1e17,
            1e-17,
        ];
        for set in InstructionSet::available() {
            let mut out = [0.0; 15];
            for (f, oracle) in [
                (exp as Slices, f64::exp as fn(f64) -> f64),
                (log, f64::ln),
                (log1p, f64::ln_1p),
            ] {
                f(set, &special, &mut out);
                for (&x, &y) in special.iter().zip(&out) {
                    assert!(ulps(y, oracle(x)) <= 3.0, "{} {x:e}: {y:e}", set.name());
                }
            }
        }
    }

    #[test]
    fn subnormal_numbers_keep_their_logarithm_and_exponential() {
        let small = [5e-324, 1e-310, 2.2e-308];
        let exponents = [-708.5, -720.0, -744.0, -746.0];
        for set in InstructionSet::available() {
            let mut out = [0.0; 4];
            log(set, &small, &mut out);
            for (x, y) in small.iter().zip(&out) {
                assert!(ulps(*y, x.ln()) <= 2.0);
            }
            exp(set, &exponents, &mut out);
            for (x, y) in exponents.iter().zip(&out) {
                assert!((y - x.exp()).abs() <= 2.0 * f64::from_bits(1), "{x}: {y:e}");
            }
        }
    }

    #[test]
    fn a_short_tail_leaves_the_rest_of_the_output_alone() {
        for set in InstructionSet::available() {
            for n in 0..20 {
                let x: Vec<f64> = (0..n).map(|i| f64::from(i) * 0.1).collect();
                let mut out = [7.0; 20];
                exp(set, &x, &mut out[..n as usize]);
                assert!(out[n as usize..].iter().all(|v| *v == 7.0));
            }
        }
    }
}
