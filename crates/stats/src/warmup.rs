//! Where the warm-up of a run ends.

use crate::describe::{mad, median};
use crate::trend::mann_kendall;

/// Where the warm-up of a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warmup {
    /// How many samples at the start to leave out.
    pub skip: usize,
    /// False when the run did not become steady, or has too few samples to tell; `skip` is then half.
    pub steady: bool,
}

/// Fewest samples from which anything can be told.
const FEWEST: usize = 6;

/// Most batches in which samples are tested for a trend: enough to see a step, few enough that most of
/// the correlation between neighbours averages out.
const BATCHES: usize = 30;

/// Finds the end of warm-up in the samples of one run: `rates` in work per second, `seconds` the length
/// of each sample (missing or impossible lengths leave a sample without weight).
///
/// The rule is White's marginal standard error rule (MSER; Simulation 69(6), 1997): leave out the d
/// samples, at most half, that make the squared standard error of the rest, SSE(d) ÷ n(d)², least. With
/// three changes: samples count by their length; rates are first brought within 4 robust standard
/// deviations of the second half's median, so that one stalled sample decides nothing (a known weakness
/// of the rule: Hoad, Robinson and Davies, JORS 61, 2010); of all d within a tenth of the least, the
/// smallest is taken, since on steady data the criterion is flat and every sample left out is lost.
/// When what is left still shows a trend, the first half is left out.
///
/// The run is not steady when its second half, in up to 30 batches, still shows a trend (Mann–Kendall,
/// 1 %; no power below a dozen samples).
///
/// On steady white noise it leaves out 9 % of 10 samples on average, 5 % of 20, 2 % of 40, 1 % of 100
/// and more, and calls at most 1 % of runs not steady (autocorrelated ones up to 10 %).
pub fn warmup(rates: &[f64], seconds: &[f64]) -> Warmup {
    let n = rates.len();
    let half = n / 2;
    let unsteady = Warmup {
        skip: half,
        steady: false,
    };
    let weights: Vec<f64> = (0..n)
        .map(|i| match seconds.get(i) {
            Some(&s) if s.is_finite() && s > 0.0 && rates[i].is_finite() => s,
            _ => 0.0,
        })
        .collect();
    if weights.iter().filter(|&&w| w > 0.0).count() < FEWEST {
        return unsteady;
    }
    let late: Vec<f64> = (half..n)
        .filter(|&i| weights[i] > 0.0)
        .map(|i| rates[i])
        .collect();
    let (Some(centre), Some(spread)) = (median(&late), mad(&late)) else {
        return unsteady;
    };
    if mann_kendall(&batch_means(&late)) < 0.01 {
        return unsteady;
    }
    // When most late samples are equal there is no noise to fence in.
    let fence = if spread > 0.0 {
        4.0 * 1.4826 * spread
    } else {
        f64::INFINITY
    };
    // Around the centre, which keeps the sums of squares small.
    let rates: Vec<f64> = rates
        .iter()
        .map(|r| (r - centre).clamp(-fence, fence))
        .collect();
    let errors = squared_standard_errors(&rates, &weights, half);
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let skip = errors
        .iter()
        .position(|&e| e <= 1.1 * least)
        .unwrap_or(half);
    let kept: Vec<f64> = (skip..n)
        .filter(|&i| weights[i] > 0.0)
        .map(|i| rates[i])
        .collect();
    let rising = mann_kendall(&batch_means(&kept)) < 0.01;
    Warmup {
        skip: if rising { half } else { skip },
        steady: true,
    }
}

/// SSE(d) ÷ n(d)² for every d from 0 to `most`; infinite where nothing with weight is left.
fn squared_standard_errors(rates: &[f64], weights: &[f64], most: usize) -> Vec<f64> {
    // From the end backwards, so that each truncation point costs one step.
    let (mut weight, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut errors = vec![f64::INFINITY; most + 1];
    for i in (0..rates.len()).rev() {
        if weights[i] > 0.0 {
            weight += weights[i];
            sum += weights[i] * rates[i];
            squares += weights[i] * rates[i] * rates[i];
        }
        if i <= most && weight > 0.0 {
            errors[i] = (squares - sum * sum / weight).max(0.0) / (weight * weight);
        }
    }
    errors
}

/// The means of up to [`BATCHES`] batches of equal size; values left over at the start are dropped.
fn batch_means(values: &[f64]) -> Vec<f64> {
    let size = values.len().div_ceil(BATCHES).max(1);
    values[values.len() % size..]
        .chunks(size)
        .map(|batch| batch.iter().sum::<f64>() / size as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::rng;
    use crate::simulate::gaussian;
    use proptest::prelude::*;

    const RUNS: usize = 600;

    /// Warm-ups found in simulated runs of `n` samples whose true rate at time x (0 to 1) is `curve`,
    /// with 2 % normal noise; every 20th sample is stalled (30 % slower) when `stalls`.
    fn simulated(n: usize, stalls: bool, curve: impl Fn(f64) -> f64) -> Vec<Warmup> {
        let mut rng = rng(1, n as u64);
        (0..RUNS)
            .map(|run| {
                let rates: Vec<f64> = (0..n)
                    .map(|i| {
                        let stalled = stalls && (i + run * 7).is_multiple_of(20);
                        let factor = if stalled { 0.7 } else { 1.0 };
                        factor * (curve(i as f64 / n as f64) + 0.02 * gaussian(&mut rng))
                    })
                    .collect();
                warmup(&rates, &vec![0.05; n])
            })
            .collect()
    }

    fn mean_share_skipped(warmups: &[Warmup], n: usize) -> f64 {
        warmups.iter().map(|w| w.skip as f64).sum::<f64>() / (warmups.len() * n) as f64
    }

    fn share_steady(warmups: &[Warmup]) -> f64 {
        warmups.iter().filter(|w| w.steady).count() as f64 / warmups.len() as f64
    }

    /// Mean over the runs of the relative error that the warm-up leaves in the figure.
    fn bias(warmups: &[Warmup], n: usize, curve: impl Fn(f64) -> f64) -> f64 {
        let of_run = |skip: usize| {
            (skip..n)
                .map(|i| curve(i as f64 / n as f64) - 1.0)
                .sum::<f64>()
                / (n - skip) as f64
        };
        warmups.iter().map(|w| of_run(w.skip)).sum::<f64>() / warmups.len() as f64
    }

    #[test]
    fn steady_runs_lose_little() {
        for (n, most) in [
            (10, 0.11),
            (20, 0.065),
            (40, 0.03),
            (100, 0.02),
            (400, 0.02),
        ] {
            let found = simulated(n, false, |_| 1.0);
            let lost = mean_share_skipped(&found, n);
            assert!(lost < most, "{n}: {lost}");
            // 1 % false, one-sided binomial allowance of three standard errors.
            assert!(share_steady(&found) > 0.97, "{n}");
        }
    }

    #[test]
    fn stalled_samples_are_not_taken_for_warm_up() {
        for (n, most) in [(20, 0.12), (40, 0.08), (100, 0.03)] {
            let lost = mean_share_skipped(&simulated(n, true, |_| 1.0), n);
            assert!(lost < most, "{n}: {lost}");
        }
    }

    #[test]
    fn an_exponential_warm_up_leaves_a_small_part_of_its_error() {
        for n in [20, 40, 100, 400] {
            for stalls in [false, true] {
                let curve = |x: f64| 1.0 - 0.5 * (-x / 0.05).exp();
                let found = simulated(n, stalls, curve);
                let nothing = [Warmup {
                    skip: 0,
                    steady: true,
                }];
                let (left, whole) = (bias(&found, n, curve), bias(&nothing, n, curve));
                assert!(left.abs() < 0.15 * whole.abs(), "{n}: {left} of {whole}");
                let skipped = mean_share_skipped(&found, n);
                assert!((0.05..0.25).contains(&skipped), "{n}: {skipped}");
            }
        }
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        for n in [40, 100, 400] {
            let found = simulated(n, false, |x| if x < 0.3 { 0.5 } else { 1.0 });
            let near = found
                .iter()
                .filter(|w| (w.skip as f64 / n as f64 - 0.3).abs() < 0.06)
                .count();
            assert!(near as f64 > 0.8 * found.len() as f64, "{n}: {near}");
        }
    }

    #[test]
    fn runs_that_never_settle_are_not_steady_and_lose_half() {
        for n in [40, 100, 400] {
            for curve in [
                (|x| 0.5 + 0.5 * x) as fn(f64) -> f64,
                |x| 1.0 - 0.5 * (-2.0 * x).exp(),
                |x| if x < 0.7 { 0.5 } else { 1.0 },
            ] {
                let found = simulated(n, false, curve);
                assert!(share_steady(&found) < 0.25, "{n}: {}", share_steady(&found));
                assert!(found.iter().all(|w| w.steady || w.skip == n / 2));
            }
        }
    }

    #[test]
    fn without_noise_the_first_steady_sample_is_found_exactly() {
        let mut rates = vec![100.0; 20];
        rates[..3].copy_from_slice(&[50.0, 70.0, 90.0]);
        let found = warmup(&rates, &[0.1; 20]);
        assert_eq!(
            found,
            Warmup {
                skip: 3,
                steady: true
            }
        );
    }

    #[test]
    fn long_samples_count_for_more() {
        // The truncation sums against the definition, with a sample of three seconds written thrice.
        let (rates, seconds) = ([1.0, 5.0, 2.0, 4.0], [1.0, 3.0, 1.0, 2.0]);
        let repeated = [1.0, 5.0, 5.0, 5.0, 2.0, 4.0, 4.0];
        let weighted = squared_standard_errors(&rates, &seconds, 2);
        let plain = squared_standard_errors(&repeated, &[1.0; 7], 4);
        for (a, b) in [(0, 0), (1, 1), (2, 4)] {
            assert!((weighted[a] - plain[b]).abs() < 1e-12);
        }
        // Mean 26/7, squares 112: SSE = 112 − 26²/7, over 7².
        assert!((plain[0] - (112.0 - 676.0 / 7.0) / 49.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_samples_are_not_called_steady() {
        assert_eq!(
            warmup(&[], &[]),
            Warmup {
                skip: 0,
                steady: false
            }
        );
        assert_eq!(
            warmup(&[1.0; 5], &[1.0; 5]),
            Warmup {
                skip: 2,
                steady: false
            }
        );
        assert_eq!(
            warmup(&[1.0; 9], &[]),
            Warmup {
                skip: 4,
                steady: false
            }
        );
    }

    proptest! {
        #[test]
        fn at_most_half_is_left_out_whatever_the_samples(
            samples in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..80),
        ) {
            let (rates, seconds): (Vec<f64>, Vec<f64>) = samples.into_iter().unzip();
            prop_assert!(warmup(&rates, &seconds).skip <= rates.len() / 2);
        }

        #[test]
        fn the_unit_of_rates_and_seconds_does_not_matter(
            rates in proptest::collection::vec(1.0..100.0f64, 6..60),
            power in -8i32..8,
        ) {
            // Powers of two, so that rounding is the same.
            let unit = 2.0_f64.powi(power);
            let scaled: Vec<f64> = rates.iter().map(|r| r * unit).collect();
            let n = rates.len();
            prop_assert_eq!(warmup(&rates, &vec![1.0; n]), warmup(&scaled, &vec![unit; n]));
        }
    }
}
