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
const FEWEST: usize = 8;

/// Finds the end of warm-up in the samples of one run: `rates` in work per second, `seconds` the length
/// of each sample (missing or impossible lengths leave a sample without weight).
///
/// The rule is White's marginal standard error rule (MSER; Simulation 69(6), 1997): leave out the d
/// samples, at most half, that make the squared standard error of the rest, SSE(d) ÷ n(d)², least. With
/// three changes: samples count by their length; rates are first brought within 3 robust standard
/// deviations of the second half's median, so that one stalled sample decides nothing (the direct
/// consequence of MSER's known weakness, see Hoad, Robinson and Davies, JORS 61, 2010); of all d within
/// a tenth of the least, the smallest is taken, since the criterion is flat on steady data and every
/// sample left out is lost. The run counts as steady when the rest shows no trend (Mann–Kendall, 1 %).
pub fn warmup(rates: &[f64], seconds: &[f64]) -> Warmup {
    let n = rates.len();
    let half = n / 2;
    if n < FEWEST {
        return Warmup {
            skip: half,
            steady: false,
        };
    }
    let usable = |i: usize| {
        rates[i].is_finite() && seconds.get(i).is_some_and(|s| s.is_finite() && *s > 0.0)
    };
    let late: Vec<f64> = (half..n).filter(|&i| usable(i)).map(|i| rates[i]).collect();
    let (Some(centre), Some(spread)) = (median(&late), mad(&late)) else {
        return Warmup {
            skip: half,
            steady: false,
        };
    };
    let fence = 3.0 * 1.4826 * spread;

    // From the end backwards, so that each truncation point costs one step: weighted sums about the
    // centre, which keeps them small.
    let (mut weight, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut errors = vec![f64::INFINITY; half + 1];
    for i in (0..n).rev() {
        if usable(i) {
            let rate = (rates[i] - centre).clamp(-fence, fence);
            weight += seconds[i];
            sum += seconds[i] * rate;
            squares += seconds[i] * rate * rate;
        }
        if i <= half && weight > 0.0 {
            errors[i] = (squares - sum * sum / weight).max(0.0) / (weight * weight);
        }
    }
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let skip = errors
        .iter()
        .position(|&e| e <= 1.1 * least)
        .unwrap_or(half);
    let rest: Vec<f64> = (skip..n).filter(|&i| usable(i)).map(|i| rates[i]).collect();
    if mann_kendall(&rest) < 0.01 {
        return Warmup {
            skip: half,
            steady: false,
        };
    }
    Warmup { skip, steady: true }
}
