//! Autocovariance through a radix-2 fast Fourier transform.

use std::f64::consts::TAU;

/// In-place transform of complex numbers; the length must be a power of two.
fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    debug_assert!(n.is_power_of_two() && im.len() == n);
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = if bits == 0 {
            0
        } else {
            i.reverse_bits() >> (usize::BITS - bits)
        };
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        let roots: Vec<(f64, f64)> = (0..half)
            .map(|k| (-TAU * k as f64 / (2 * half) as f64).sin_cos())
            .collect();
        for block in (0..n).step_by(2 * half) {
            for (k, (sin, cos)) in roots.iter().enumerate() {
                let (a, b) = (block + k, block + k + half);
                let (x, y) = (re[b] * cos - im[b] * sin, re[b] * sin + im[b] * cos);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                re[a] += x;
                im[a] += y;
            }
        }
        half *= 2;
    }
}

/// Σₜ (xₜ − x̄)(xₜ₊ₖ − x̄)/n for k = 0 … n − 1.
pub(crate) fn autocovariance(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    if n == 0 {
        return Vec::new();
    }
    // Twice the length, so that the ends do not wrap around into each other.
    let padded = (2 * n).next_power_of_two();
    let mean = x.iter().sum::<f64>() / n as f64;
    let mut re = vec![0.0; padded];
    re.iter_mut().zip(x).for_each(|(r, x)| *r = x - mean);
    let mut im = vec![0.0; padded];
    transform(&mut re, &mut im);
    for (r, i) in re.iter_mut().zip(&mut im) {
        *r = *r * *r + *i * *i;
        *i = 0.0;
    }
    // The power spectrum is real and even, so the forward transform is the inverse but for n.
    transform(&mut re, &mut im);
    re.truncate(n);
    re.iter_mut().for_each(|r| *r /= padded as f64 * n as f64);
    re
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn autocovariance_is_that_of_its_definition() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
        for n in [1, 2, 3, 17, 64, 100] {
            let x: Vec<f64> = (0..n).map(|_| rng.random_range(-3.0..5.0)).collect();
            let mean = x.iter().sum::<f64>() / n as f64;
            for (k, got) in autocovariance(&x).iter().enumerate() {
                let want: f64 = (k..n)
                    .map(|t| (x[t] - mean) * (x[t - k] - mean))
                    .sum::<f64>()
                    / n as f64;
                assert!((got - want).abs() < 1e-12, "n {n} lag {k}: {got} {want}");
            }
        }
    }
}
