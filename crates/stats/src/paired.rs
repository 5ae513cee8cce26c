//! Effects: one arm against the baseline, paired by block.

use crate::normal;
use crate::signed_rank::{Null, Walsh};

/// What the blocks say of one arm against the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedEffect {
    /// Estimate of arm ÷ baseline: the Hodges–Lehmann estimate on the log scale (the median over all
    /// pairs of blocks, each block with itself included, of their geometric mean). Always inside
    /// `interval`. Not a number without pairs.
    pub ratio: f64,
    /// Interval for the ratio; `None` when so few pairs cannot reach the error rate.
    pub interval: Option<(f64, f64)>,
    /// Coverage that the interval states: 1 − error rate ÷ number of effects. All intervals of the
    /// experiment together contain their ratios with at least 1 − error rate.
    pub confidence: f64,
    /// Probability of a difference at least this clear by chance alone, times the number of effects.
    /// At most the error rate exactly when `interval` leaves out 1.
    pub p_adjusted: f64,
    /// Pairs that it rests on.
    pub pairs: usize,
    /// See [`smallest_detectable`].
    pub smallest_detectable: Option<f64>,
}

impl PairedEffect {
    /// Whether a difference may be claimed: the interval leaves out 1.
    pub fn is_claim(&self) -> bool {
        self.interval
            .is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// The effects of one experiment, all of them: `log_ratios` holds for each effect the ln(arm ÷
/// baseline) of every block in which both runs gave a figure. Lengths may differ. Values that are not
/// finite are left out. `error_rate` is the probability, per experiment, of any false claim.
///
/// Each effect is decided by the exact signed-rank test, whose inversion gives the interval; the error
/// rate is divided by the number of effects (Bonferroni; effects without pairs count too, for they were
/// part of the plan). Why no sharper correction: it holds under every dependence between effects that
/// share a baseline, and it is the one whose intervals are those of the test. Flipping the signs of all
/// effects of a block together (Westfall and Young's max-T) is not valid here: with a common baseline
/// and skewed noise a block's differences are not jointly symmetric. Holm's steps have no intervals
/// that agree with them.
pub fn paired_effects(log_ratios: &[Vec<f64>], error_rate: f64) -> Vec<PairedEffect> {
    let family = log_ratios.len() as f64;
    log_ratios
        .iter()
        .map(|d| {
            let paired = Paired::new(d, family, error_rate);
            PairedEffect {
                ratio: paired.centre.map_or(f64::NAN, f64::exp),
                interval: paired.interval.map(|(low, high)| (low.exp(), high.exp())),
                confidence: 1.0 - error_rate / family,
                p_adjusted: paired.p_adjusted,
                pairs: paired.pairs,
                smallest_detectable: paired.smallest_detectable(error_rate / family),
            }
        })
        .collect()
}

/// Everything about one effect, on the log scale.
struct Paired {
    pairs: usize,
    centre: Option<f64>,
    interval: Option<(f64, f64)>,
    p_adjusted: f64,
}

impl Paired {
    fn new(log_ratios: &[f64], family: f64, error_rate: f64) -> Self {
        let pairs = log_ratios.iter().filter(|d| d.is_finite()).count();
        let walsh = Walsh::new(log_ratios);
        let null = Null::new(pairs);
        let interval = null
            .critical(error_rate / family)
            .and_then(|critical| walsh.interval(critical));
        let p_adjusted = (family * null.p(walsh.smaller_sum(0.0))).min(1.0);
        Self {
            pairs,
            centre: walsh.centre(),
            interval,
            p_adjusted,
        }
    }

    fn smallest_detectable(&self, error_rate: f64) -> Option<f64> {
        let (low, high) = self.interval?;
        let quantile = normal::quantile(1.0 - error_rate / 2.0);
        let reach = 0.5 * (high - low) * (1.0 + normal::quantile(0.9) / quantile);
        (reach > 0.0 && reach.is_finite()).then(|| reach.exp_m1())
    }
}

/// The smallest true effect that as many blocks, as noisy as these, would find with 90 % probability:
/// 0.03 = 3 %. `error_rate` is that of this one comparison (the experiment's ÷ number of effects).
/// `None` when the blocks are too few for that rate, or do not differ at all.
///
/// The interval's half-width h is about z(1 − α/2) standard errors; a claim is made with 90 %
/// probability when the effect is z(1 − α/2) + z(0.9) standard errors: h·(1 + z(0.9) ÷ z(1 − α/2)).
/// Simulation (see the tests) finds it to hold from the smallest number of blocks on.
pub fn smallest_detectable(log_ratios: &[f64], error_rate: f64) -> Option<f64> {
    Paired::new(log_ratios, 1.0, error_rate).smallest_detectable(error_rate)
}

/// Estimate of a ratio from the ln(ratio) of each block: as [`PairedEffect::ratio`]. `None` without
/// blocks.
pub fn paired_ratio(log_ratios: &[f64]) -> Option<f64> {
    Walsh::new(log_ratios).centre().map(f64::exp)
}

/// Interval with at least `confidence` for a single ratio (a speedup, say) from the ln(ratio) of each
/// block. `None` when the blocks are too few for it. Not corrected for anything.
pub fn paired_ratio_interval(log_ratios: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let (low, high) = Paired::new(log_ratios, 1.0, 1.0 - confidence).interval?;
    Some((low.exp(), high.exp()))
}
