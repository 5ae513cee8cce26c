//! The standard normal distribution, as far as approximations here need it.

use std::f64::consts::PI;

/// Density at `x`.
fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Probability below `x`, to about 1e-15 absolute: the series ½ + φ(x)·(x + x³/3 + x⁵/(3·5) + …) of
/// Marsaglia, "Evaluating the normal distribution", J. Stat. Software 11(4), 2004.
pub(crate) fn below(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 8.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + density(x) * sum
}

/// Probability of a value at least as far from zero as `x`, on either side.
pub(crate) fn two_sided(x: f64) -> f64 {
    (2.0 * (1.0 - below(x.abs()))).clamp(0.0, 1.0)
}

/// The value below which lies the probability `p`; `p` is kept within (1e-12, 1 − 1e-12).
pub(crate) fn quantile(p: f64) -> f64 {
    if p < 0.5 {
        return -quantile(1.0 - p);
    }
    let p = p.min(1.0 - 1e-12);
    // The distribution function is concave above 0, so that Newton's steps from 0 never overshoot.
    let mut x = 0.0;
    for _ in 0..100 {
        let step = (p - below(x)) / density(x);
        x += step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.9, 1.281_551_566),
            (0.975, 1.959_963_985),
            (0.025, -1.959_963_985),
            (0.99, 2.326_347_874),
            (0.999, 3.090_232_306),
            (0.999_999, 4.753_424_309),
        ] {
            assert!((quantile(p) - z).abs() < 1e-6, "{p}: {}", quantile(p));
            assert!((below(z) - p).abs() < 1e-9, "{z}: {}", below(z));
        }
    }

    #[test]
    fn the_ends_are_finite() {
        assert!(quantile(0.0).is_finite() && quantile(1.0).is_finite());
        assert_eq!(below(f64::INFINITY), 1.0);
        assert_eq!(two_sided(50.0), 0.0);
    }
}
