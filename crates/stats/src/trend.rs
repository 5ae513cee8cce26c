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
