//! The families of distributions, one observation at a time.
//!
//! [`Family::term`] is the general path of the engine and the oracle of the fused kernels: log
//! density of one value with its derivatives. A new family needs one arm here, nothing else.

use crate::model::Family;
use crate::special::{digamma, ln_gamma};

/// ½ ln 2π.
pub(crate) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;
const LN_PI: f64 = 1.144_729_885_849_400_2;
const LN_2: f64 = std::f64::consts::LN_2;

/// A log density with its derivatives by the value and by up to three arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Term {
    pub(crate) log: f64,
    pub(crate) by_value: f64,
    pub(crate) by_arg: [f64; 3],
}

/// What a value of the family must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    Real,
    Positive,
    Unit,
    Binary,
    Count,
}

impl Domain {
    pub(crate) fn contains(self, x: f64) -> bool {
        match self {
            Domain::Real => x.is_finite(),
            Domain::Positive => x.is_finite() && x >= 0.0,
            Domain::Unit => x > 0.0 && x < 1.0,
            Domain::Binary => x == 0.0 || x == 1.0,
            Domain::Count => x >= 0.0 && x.fract() == 0.0 && x < 9e15,
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Domain::Real => "a finite number",
            Domain::Positive => "a number not below 0",
            Domain::Unit => "between 0 and 1",
            Domain::Binary => "0 or 1",
            Domain::Count => "a whole number not below 0",
        }
    }
}

impl Family {
    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        use Family::*;
        match self {
            HalfNormal | HalfCauchy | Exponential | BernoulliLogit | PoissonLog => 1,
            Normal | LogNormal | Cauchy | Laplace | Logistic | Uniform | Gamma | InverseGamma
            | Beta => 2,
            StudentT => 3,
        }
    }

    /// Which arguments must be above zero.
    pub(crate) fn positive_args(self) -> &'static [usize] {
        use Family::*;
        match self {
            Normal | LogNormal | Cauchy | Laplace | Logistic => &[1],
            HalfNormal | HalfCauchy | Exponential => &[0],
            Gamma | InverseGamma | Beta => &[0, 1],
            StudentT => &[0, 2],
            Uniform | BernoulliLogit | PoissonLog => &[],
        }
    }

    pub(crate) fn domain(self) -> Domain {
        use Family::*;
        match self {
            HalfNormal | HalfCauchy | Exponential | LogNormal | Gamma | InverseGamma => {
                Domain::Positive
            }
            Normal | Cauchy | StudentT | Laplace | Logistic | Uniform => Domain::Real,
            Beta => Domain::Unit,
            BernoulliLogit => Domain::Binary,
            PoissonLog => Domain::Count,
        }
    }

    /// The log density of `x` (−∞ outside the support) and its derivatives; unused entries of
    /// `p` are ignored.
    pub(crate) fn term(self, x: f64, p: [f64; 3]) -> Term {
        let [a, b, c] = p;
        let term = |log: f64, by_value: f64, by_arg: [f64; 3]| Term {
            log,
            by_value,
            by_arg,
        };
        let outside = || term(f64::NEG_INFINITY, 0.0, [0.0; 3]);
        match self {
            Family::Normal => {
                let z = (x - a) / b;
                term(
                    -0.5 * z * z - b.ln() - HALF_LN_TAU,
                    -z / b,
                    [z / b, (z * z - 1.0) / b, 0.0],
                )
            }
            Family::HalfNormal if x < 0.0 => outside(),
            Family::HalfNormal => {
                let z = x / a;
                term(
                    -0.5 * z * z - a.ln() - HALF_LN_TAU + LN_2,
                    -z / a,
                    [(z * z - 1.0) / a, 0.0, 0.0],
                )
            }
            Family::LogNormal if x <= 0.0 => outside(),
            Family::LogNormal => {
                let z = (x.ln() - a) / b;
                term(
                    -0.5 * z * z - b.ln() - HALF_LN_TAU - x.ln(),
                    -(z / b + 1.0) / x,
                    [z / b, (z * z - 1.0) / b, 0.0],
                )
            }
            Family::Cauchy => {
                let z = (x - a) / b;
                let w = 2.0 * z / (1.0 + z * z) / b;
                term(
                    -LN_PI - b.ln() - (z * z).ln_1p(),
                    -w,
                    [w, w * z - 1.0 / b, 0.0],
                )
            }
            Family::HalfCauchy if x < 0.0 => outside(),
            Family::HalfCauchy => {
                let z = x / a;
                let w = 2.0 * z / (1.0 + z * z) / a;
                term(
                    LN_2 - LN_PI - a.ln() - (z * z).ln_1p(),
                    -w,
                    [w * z - 1.0 / a, 0.0, 0.0],
                )
            }
            Family::StudentT => {
                let (nu, z) = (a, (x - b) / c);
                let l = (z * z / nu).ln_1p();
                let w = (nu + 1.0) * z / (nu + z * z) / c;
                let by_nu = 0.5
                    * (digamma(0.5 * (nu + 1.0)) - digamma(0.5 * nu) - 1.0 / nu - l
                        + w * z * c / nu);
                term(
                    ln_gamma(0.5 * (nu + 1.0))
                        - ln_gamma(0.5 * nu)
                        - 0.5 * (nu.ln() + LN_PI)
                        - c.ln()
                        - 0.5 * (nu + 1.0) * l,
                    -w,
                    [by_nu, w, w * z - 1.0 / c],
                )
            }
            Family::Laplace => {
                let d = x - a;
                let sign = if d == 0.0 { 0.0 } else { d.signum() };
                term(
                    -LN_2 - b.ln() - d.abs() / b,
                    -sign / b,
                    [sign / b, d.abs() / (b * b) - 1.0 / b, 0.0],
                )
            }
            Family::Logistic => {
                let z = (x - a) / b;
                let t = (-z.abs()).exp();
                let w = (1.0 - t) / (1.0 + t) * z.signum() / b;
                term(
                    -z.abs() - b.ln() - 2.0 * t.ln_1p(),
                    -w,
                    [w, w * z - 1.0 / b, 0.0],
                )
            }
            Family::Uniform if x < a || x > b => outside(),
            Family::Uniform => {
                let w = 1.0 / (b - a);
                term(-(b - a).ln(), 0.0, [w, -w, 0.0])
            }
            Family::Exponential if x < 0.0 => outside(),
            Family::Exponential => term(a.ln() - a * x, -a, [1.0 / a - x, 0.0, 0.0]),
            Family::Gamma if x < 0.0 => outside(),
            Family::Gamma => term(
                a * b.ln() - ln_gamma(a) + (a - 1.0) * x.ln() - b * x,
                (a - 1.0) / x - b,
                [b.ln() - digamma(a) + x.ln(), a / b - x, 0.0],
            ),
            Family::InverseGamma if x <= 0.0 => outside(),
            Family::InverseGamma => term(
                a * b.ln() - ln_gamma(a) - (a + 1.0) * x.ln() - b / x,
                (b / x - a - 1.0) / x,
                [b.ln() - digamma(a) - x.ln(), a / b - 1.0 / x, 0.0],
            ),
            Family::Beta if x <= 0.0 || x >= 1.0 => outside(),
            Family::Beta => {
                let both = digamma(a + b);
                term(
                    ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)
                        + (a - 1.0) * x.ln()
                        + (b - 1.0) * (-x).ln_1p(),
                    (a - 1.0) / x - (b - 1.0) / (1.0 - x),
                    [
                        both - digamma(a) + x.ln(),
                        both - digamma(b) + (-x).ln_1p(),
                        0.0,
                    ],
                )
            }
            Family::BernoulliLogit => {
                let t = (-a.abs()).exp();
                let p = if a < 0.0 {
                    t / (1.0 + t)
                } else {
                    1.0 / (1.0 + t)
                };
                term(x * a - a.max(0.0) - t.ln_1p(), a, [x - p, 0.0, 0.0])
            }
            Family::PoissonLog => {
                let rate = a.exp();
                term(x * a - rate - ln_gamma(x + 1.0), a, [x - rate, 0.0, 0.0])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Family::*;

    const CASES: [(Family, [f64; 3]); 15] = [
        (Normal, [0.3, 1.7, 0.0]),
        (HalfNormal, [1.3, 0.0, 0.0]),
        (LogNormal, [0.2, 0.6, 0.0]),
        (Cauchy, [0.5, 0.8, 0.0]),
        (HalfCauchy, [1.5, 0.0, 0.0]),
        (StudentT, [3.5, 0.4, 1.2]),
        (Laplace, [0.3, 1.1, 0.0]),
        (Logistic, [-0.4, 0.7, 0.0]),
        (Uniform, [-1.0, 2.5, 0.0]),
        (Exponential, [1.4, 0.0, 0.0]),
        (Gamma, [2.3, 1.6, 0.0]),
        (InverseGamma, [3.2, 2.1, 0.0]),
        (Beta, [2.2, 3.1, 0.0]),
        (BernoulliLogit, [0.7, 0.0, 0.0]),
        (PoissonLog, [0.9, 0.0, 0.0]),
    ];

    /// The integral of the density over the real line through x = sinh(sinh t)-like stretching,
    /// or the sum over the counts.
    fn total(family: Family, p: [f64; 3]) -> f64 {
        if matches!(family.domain(), Domain::Binary | Domain::Count) {
            let last = if family == BernoulliLogit { 1 } else { 200 };
            return (0..=last)
                .map(|x| family.term(f64::from(x), p).log.exp())
                .sum();
        }
        let h = 1e-4;
        // x = sinh(t)·(1 + …): sinh reaches far enough for Cauchy tails of 1e-9.
        (-240_000..=240_000)
            .map(|i| {
                let t = (f64::from(i) + 0.5) * h;
                family.term(t.sinh(), p).log.exp() * t.cosh() * h
            })
            .filter(|v| v.is_finite())
            .sum()
    }

    #[test]
    fn every_density_integrates_to_one() {
        for (family, p) in CASES {
            let total = total(family, p);
            assert!((total - 1.0).abs() < 2e-4, "{family:?}: {total}");
        }
    }

    #[test]
    fn every_derivative_equals_finite_differences() {
        for (family, p) in CASES {
            for x in [0.15, 0.4, 0.85, 1.0, 2.0] {
                let fits =
                    family.domain().contains(x) && !(family == Laplace && (x - p[0]).abs() < 0.01);
                if !fits {
                    continue;
                }
                let term = family.term(x, p);
                let h = 1e-5;
                let close = |got: f64, above: Term, below: Term| {
                    let want = (above.log - below.log) / (2.0 * h);
                    assert!(
                        (got - want).abs() < 1e-6 * want.abs().max(1.0),
                        "{family:?} at {x}: {got} {want}"
                    );
                };
                if !matches!(family.domain(), Domain::Binary | Domain::Count) {
                    close(term.by_value, family.term(x + h, p), family.term(x - h, p));
                }
                for i in 0..family.arity() {
                    let moved = |d: f64| {
                        let mut q = p;
                        q[i] += d;
                        family.term(x, q)
                    };
                    close(term.by_arg[i], moved(h), moved(-h));
                }
            }
        }
    }

    #[test]
    fn outside_of_its_support_a_density_is_zero() {
        for (family, x) in [
            (HalfNormal, -0.1),
            (HalfCauchy, -0.1),
            (Exponential, -1.0),
            (Gamma, -1.0),
            (InverseGamma, 0.0),
            (LogNormal, 0.0),
            (Beta, 1.0),
            (Uniform, 2.6),
        ] {
            let p = CASES.iter().find(|c| c.0 == family).unwrap().1;
            assert_eq!(family.term(x, p).log, f64::NEG_INFINITY, "{family:?}");
        }
    }
}
