//! Drift inside a session: trends and change points.

use rand::seq::SliceRandom;

use crate::describe::{median, quantile};
use crate::{normal, order};

/// Share of steady series that [`drift`] flags by mistake.
pub const DRIFT_RATE: f64 = 0.01;

/// A series of run-level values that did not stay where it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Theil–Sen slope: median change from one run to the next, in the values' unit.
    pub slope_per_run: f64,
    /// Mann–Kendall test against a trend, two-sided.
    pub trend_p: f64,
    /// Index of the first value after the most likely change point (Pettitt).
    pub change_at: usize,
    /// Median after ÷ median before the change point.
    pub change_ratio: f64,
    /// Pettitt's test against a change point, by permutation.
    pub change_p: f64,
}

/// Flags a drift in the run-level values of one arm and level, in the order in which they were run.
/// `None` = nothing seen, or fewer than six values. Of steady series at most [`DRIFT_RATE`] are
/// flagged: half of it goes to the trend, half to the change point.
///
/// One arm and level has as few values as there are blocks: below a dozen only trends can be seen, no
/// change point however clear. All runs of a session together, each divided by the median of its arm
/// and level, make one long series that sees much smaller drifts, at the same rate once for the session.
///
/// Sources: Mann, Econometrica 13, 1945, and Kendall, "Rank Correlation Methods", 1975 (trend, with
/// variance for ties); Sen, JASA 63, 1968 (slope); Pettitt, Applied Statistics 28, 1979 (change point;
/// its p-value here from random permutations, for Pettitt's approximation cannot reach 1 % at ten
/// values).
pub fn drift(values_in_order: &[f64]) -> Option<Drift> {
    let values: Vec<f64> = values_in_order
        .iter()
        .copied()
        .filter(|v| v.is_finite())
        .collect();
    if values.len() < 6 {
        return None;
    }
    let trend_p = mann_kendall(&values);
    let (change_at, change_p) = pettitt(&values);
    if trend_p > DRIFT_RATE / 2.0 && change_p > DRIFT_RATE / 2.0 {
        return None;
    }
    let slopes: Vec<f64> = (0..values.len())
        .flat_map(|i| (i + 1..values.len()).map(move |j| (i, j)))
        .map(|(i, j)| (values[j] - values[i]) / (j - i) as f64)
        .collect();
    Some(Drift {
        slope_per_run: quantile(&slopes, 0.5)?,
        trend_p,
        change_at,
        change_ratio: median(&values[change_at..])? / median(&values[..change_at])?,
        change_p,
    })
}

/// Two-sided p-value of the Mann–Kendall test, by its normal approximation with continuity correction.
pub(crate) fn mann_kendall(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mut s = 0i64;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            s += i64::from(b > a) - i64::from(b < a);
        }
    }
    let mut variance = n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    for tied in sorted.chunk_by(|a, b| a == b) {
        let t = tied.len() as f64;
        variance -= t * (t - 1.0) * (2.0 * t + 5.0);
    }
    if variance <= 0.0 || s == 0 {
        return 1.0;
    }
    normal::two_sided((s.abs() - 1) as f64 / (variance / 18.0).sqrt())
}

/// Pettitt's change point (index of the first value after it) and its p-value.
fn pettitt(values: &[f64]) -> (usize, f64) {
    const PERMUTATIONS: usize = 3_999;
    // Twice the mid-rank of each value, minus (n + 1): centred and whole, ties included.
    let mut ranks: Vec<i64> = values
        .iter()
        .map(|v| {
            values
                .iter()
                .map(|w| i64::from(w < v) - i64::from(w > v))
                .sum()
        })
        .collect();
    let peak = |ranks: &[i64]| {
        let (mut sum, mut at, mut most) = (0i64, 1, 0);
        for (i, rank) in ranks.iter().enumerate() {
            sum += rank;
            if sum.abs() > most {
                (at, most) = (i + 1, sum.abs());
            }
        }
        (at, most)
    };
    let (at, seen) = peak(&ranks);
    let mut rng = order::rng(0x5045_5454, values.len() as u64);
    let mut as_extreme = 1;
    for _ in 0..PERMUTATIONS {
        ranks.shuffle(&mut rng);
        as_extreme += usize::from(peak(&ranks).1 >= seen);
    }
    (at, as_extreme as f64 / (PERMUTATIONS + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::rng;
    use crate::simulate::gaussian;
    use proptest::prelude::*;

    /// Share of 1 000 series of `n` values, normal around `truth(i)`, that are flagged.
    fn flagged(n: usize, truth: impl Fn(usize) -> f64) -> f64 {
        let mut rng = rng(3, n as u64);
        let count = (0..1_000)
            .filter(|_| {
                let values: Vec<f64> = (0..n).map(|i| truth(i) + gaussian(&mut rng)).collect();
                drift(&values).is_some()
            })
            .count();
        count as f64 / 1_000.0
    }

    /// Every order of `values`.
    fn orders(values: &[f64]) -> Vec<Vec<f64>> {
        if values.len() < 2 {
            return vec![values.to_vec()];
        }
        (0..values.len())
            .flat_map(|i| {
                let mut rest = values.to_vec();
                let first = rest.remove(i);
                orders(&rest).into_iter().map(move |mut tail| {
                    tail.insert(0, first);
                    tail
                })
            })
            .collect()
    }

    #[test]
    fn steady_series_are_flagged_no_more_often_than_stated() {
        for n in [6, 8, 12, 24, 48] {
            // One-sided allowance of three standard errors of 1 000 simulations: 0.94 %.
            let share = flagged(n, |_| 100.0);
            assert!(share <= DRIFT_RATE + 0.0094, "{n}: {share}");
        }
    }

    #[test]
    fn trends_and_steps_are_seen() {
        assert!(flagged(10, |i| i as f64) > 0.9);
        assert!(flagged(24, |i| 0.2 * i as f64) > 0.6);
        assert!(flagged(16, |i| if i < 8 { 0.0 } else { 5.0 }) > 0.95);
        assert!(flagged(24, |i| if i < 16 { 0.0 } else { 4.0 }) > 0.9);
    }

    #[test]
    fn a_step_is_placed_and_measured() {
        let values: Vec<f64> = (0..20)
            .map(|i| if i < 12 { 100.0 } else { 80.0 } + f64::from(i % 3))
            .collect();
        let seen = drift(&values).unwrap();
        assert_eq!(seen.change_at, 12);
        assert!((seen.change_ratio - 81.0 / 101.0).abs() < 1e-12);
        assert!(seen.change_p < 0.005);
    }

    #[test]
    fn a_slope_is_in_units_per_run() {
        let values: Vec<f64> = (0..12).map(|i| 5.0 - 0.25 * f64::from(i)).collect();
        let seen = drift(&values).unwrap();
        assert!((seen.slope_per_run + 0.25).abs() < 1e-12 && seen.trend_p < 0.001);
    }

    #[test]
    fn the_trend_s_approximation_is_near_all_orders() {
        let values = [1.0, 2.0, 3.0, 4.0, 4.0, 6.0, 7.0, 8.0];
        let all: Vec<f64> = orders(&values)
            .iter()
            .map(|order| mann_kendall(order))
            .collect();
        // The exact p-value of an order is the share of orders that are as extreme.
        for &p in all.iter().filter(|p| (0.003..0.2).contains(*p)).take(200) {
            let exact = all.iter().filter(|&&q| q <= p).count() as f64 / all.len() as f64;
            assert!(exact <= 1.05 * p && exact >= 0.4 * p, "{p}: {exact}");
        }
    }

    #[test]
    fn the_change_point_s_p_value_is_near_that_of_all_orders() {
        let values = [3.0, 1.0, 2.0, 2.0, 5.0, 7.0, 6.0, 8.0];
        // Pettitt's statistic by its definition: the largest |Σ sign(xᵢ − xⱼ)| over i ≤ t < j.
        let statistic = |x: &[f64]| {
            let of = |t: usize| -> f64 {
                let pairs = x[..t]
                    .iter()
                    .flat_map(|a| x[t..].iter().map(move |b| (a, b)));
                pairs
                    .map(|(a, b)| f64::from(i8::from(a > b) - i8::from(a < b)))
                    .sum()
            };
            (1..x.len()).map(|t| of(t).abs()).fold(0.0, f64::max)
        };
        let seen = statistic(&values);
        let all = orders(&values);
        let exact =
            all.iter().filter(|order| statistic(order) >= seen).count() as f64 / all.len() as f64;
        let (at, p) = pettitt(&values);
        assert_eq!(at, 4);
        // Five standard errors of 3 999 permutations.
        assert!(
            (p - exact).abs() < 5.0 * (exact / 3_999.0).sqrt() + 1.0 / 4_000.0,
            "{p} {exact}"
        );
    }

    #[test]
    fn constant_and_short_series_are_not_flagged() {
        assert_eq!(drift(&[1.0; 30]), None);
        assert_eq!(drift(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert_eq!(drift(&[f64::NAN; 30]), None);
    }

    proptest! {
        #[test]
        fn a_reversed_series_drifts_as_much_the_other_way(
            values in proptest::collection::vec(-100.0..100.0f64, 6..20),
        ) {
            let reversed: Vec<f64> = values.iter().rev().copied().collect();
            prop_assert_eq!(mann_kendall(&values), mann_kendall(&reversed));
        }
    }
}
