//! How many blocks an experiment needs.

use crate::describe::quantile;
use crate::order::rng;
use crate::signed_rank::{Null, Walsh};
use crate::simulate::gaussian;

/// More blocks than this are never planned by themselves.
const MOST: usize = 1_000;

/// The fewest blocks with which any claim is possible: the smallest n whose most extreme p-value,
/// 2 ÷ 2ⁿ, reaches `error_rate` ÷ `effects`. With fewer, [`paired_effects`](crate::paired_effects)
/// gives no interval. A rate that no number of blocks reaches gives 1 000.
pub fn minimum_blocks(effects: usize, error_rate: f64) -> usize {
    let rate = error_rate / effects.max(1) as f64;
    (1..MOST)
        .find(|&n| 0.5_f64.powi(n as i32 - 1) <= rate)
        .unwrap_or(MOST)
}

/// The fewest blocks that find a true difference of 3 % with at least 90 % probability when the noise
/// of a run is 1 % (standard deviation of a pair: √2 %), for each of `effects` effects.
pub fn default_blocks(effects: usize, error_rate: f64) -> usize {
    let rate = error_rate / effects.max(1) as f64;
    let minimum = minimum_blocks(effects, error_rate);
    let (effect, noise) = (1.03_f64.ln(), 0.01 * 2.0_f64.sqrt());
    (minimum..MOST.min(minimum + 40))
        .find(|&n| reach(n, rate).is_some_and(|reach| reach * noise <= effect))
        .unwrap_or(minimum)
}

/// The difference, in standard deviations of a pair, that `n` normal pairs find with 90 % probability.
///
/// A sample about 0 that is moved by δ is a claim exactly when the lower end of its interval, which
/// moves along, passes 0. So δ is the 90 % quantile of minus the lower end, found by simulation from a
/// fixed seed (standard error of the probability: 0.4 %).
fn reach(n: usize, rate: f64) -> Option<f64> {
    const SAMPLES: usize = 5_000;
    let critical = Null::new(n).critical(rate)?;
    let mut rng = rng(0x504c_494d, n as u64);
    let mut sample = vec![0.0; n];
    let ends: Vec<f64> = (0..SAMPLES)
        .filter_map(|_| {
            sample.fill_with(|| gaussian(&mut rng));
            Walsh::new(&sample).interval(critical).map(|(low, _)| -low)
        })
        .collect();
    quantile(&ends, 0.9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal;
    use crate::paired_effects;

    #[test]
    fn one_block_fewer_than_the_minimum_gives_no_interval() {
        for effects in [1, 2, 3, 8, 9, 32] {
            for rate in [0.05, 0.01] {
                let n = minimum_blocks(effects, rate);
                let interval =
                    |n: usize| paired_effects(&vec![vec![0.1; n]; effects], rate)[0].interval;
                assert!(
                    interval(n).is_some() && interval(n - 1).is_none(),
                    "{effects} {rate}"
                );
            }
        }
    }

    #[test]
    fn the_smallest_samples_reach_as_far_as_the_closed_form_says() {
        // With the smallest sum critical, a claim needs every sign alike: Φ(δ)ⁿ = 0.9.
        for (n, rate) in [(6, 0.05), (7, 0.05 / 3.0), (10, 0.05 / 16.0)] {
            assert_eq!(Null::new(n).critical(rate), Some(0));
            let closed = normal::quantile(0.9_f64.powf(1.0 / n as f64));
            assert!((reach(n, rate).unwrap() / closed - 1.0).abs() < 0.02, "{n}");
        }
    }

    #[test]
    fn default_blocks_are_as_many_as_needed() {
        let effect = 1.03_f64.ln() / (0.01 * 2.0_f64.sqrt());
        for effects in [1, 2, 3, 6, 8, 9, 16, 32] {
            // One fewer is too few, by the closed form; that these are enough is for the calibration.
            let fewer = default_blocks(effects, 0.05) - 1;
            assert_eq!(Null::new(fewer).critical(0.05 / effects as f64), Some(0));
            assert!(normal::below(effect).powi(fewer as i32) < 0.9, "{effects}");
        }
        let of = |effects| default_blocks(effects, 0.05);
        assert_eq!(
            [1, 2, 3, 6, 8, 9, 16, 32].map(of),
            [7, 8, 8, 9, 10, 10, 11, 12]
        );
        assert_eq!(default_blocks(0, 0.05), default_blocks(1, 0.05));
    }
}
