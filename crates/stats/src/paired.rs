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
/// part of the plan). Why no sharper correction: this one rests on nothing but the exchange of two arms
/// inside a block, which the random order guarantees, and its intervals are those of its tests, which
/// Holm's steps do not have. The price, in simulation: flipping the signs of all effects of a block
/// together (max-T, Westfall and Young, 1993), which also assumes that effects with a common baseline
/// are jointly symmetric, finds the same differences with one block fewer of 8 (three effects) or two
/// of 10 (eight effects).
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
        let small = 1.0 + 1.0 / self.pairs as f64;
        let beyond = small * normal::quantile(0.9) / normal::quantile(1.0 - error_rate / 2.0);
        let reach = 0.5 * (high - low) * (1.0 + beyond);
        (reach > 0.0 && reach.is_finite()).then(|| reach.exp_m1())
    }
}

/// The smallest true effect that as many blocks, as noisy as these, would find with 90 % probability:
/// 0.03 = 3 %. `error_rate` is that of this one comparison (the experiment's ÷ number of effects).
/// `None` when the blocks are too few for that rate, or do not differ at all.
///
/// The interval's half-width h is about z(1 − α/2) standard errors; a claim is made with 90 %
/// probability when the effect is z(1 − α/2) + z(0.9) standard errors: h·(1 + z(0.9) ÷ z(1 − α/2)). With
/// few blocks n, z(0.9) is to be raised by 1 + 1/n. That correction was found by simulation; with it the
/// stated effect is found with 85 to 95 % probability from the smallest number of blocks on (see the
/// tests).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::rng;
    use crate::simulate::gaussian;
    use crate::{describe, minimum_blocks};
    use proptest::prelude::*;

    fn normal_sample(n: usize, centre: f64, sd: f64, rng: &mut impl rand::Rng) -> Vec<f64> {
        (0..n).map(|_| centre + sd * gaussian(rng)).collect()
    }

    #[test]
    fn large_normal_samples_give_the_t_interval() {
        let d = normal_sample(400, 0.03, 0.02, &mut rng(1, 1));
        let mean = d.iter().sum::<f64>() / 400.0;
        let sd = (d.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        let half = 1.966 * sd / 20.0; // t(0.975; 399)
        let effect = paired_effects(&[d], 0.05)[0];
        let (low, high) = effect.interval.map(|(l, h)| (l.ln(), h.ln())).unwrap();
        // The signed-rank interval is √(π/3) = 1.023 times as wide in the limit.
        assert!(((high - low) / (2.0 * half) - 1.023).abs() < 0.08);
        assert!((0.5 * (low + high) - mean).abs() < 0.3 * half);
        assert!((effect.ratio.ln() - mean).abs() < 0.3 * half);
    }

    #[test]
    fn too_few_blocks_give_no_interval_and_no_claim() {
        let effect = paired_effects(&[vec![0.5, 0.6, 0.7, 0.4, 0.5]], 0.05)[0];
        assert_eq!((effect.interval, effect.smallest_detectable), (None, None));
        assert!(!effect.is_claim() && effect.p_adjusted > 0.05 && effect.ratio > 1.0);
        let none = paired_effects(&[vec![], vec![f64::NAN]], 0.05);
        assert!(
            none.iter()
                .all(|e| e.pairs == 0 && e.p_adjusted == 1.0 && e.interval.is_none())
        );
        assert!(paired_effects(&[], 0.05).is_empty());
    }

    #[test]
    fn identical_values_are_no_difference_and_a_constant_ratio_is_one() {
        let effects = paired_effects(&[vec![0.0; 9], vec![0.01; 9]], 0.05);
        assert_eq!(effects[0].interval, Some((1.0, 1.0)));
        assert_eq!((effects[0].p_adjusted, effects[0].is_claim()), (1.0, false));
        assert!(effects[1].is_claim());
        assert!(effects.iter().all(|e| e.smallest_detectable.is_none()));
    }

    #[test]
    fn one_stalled_block_does_not_hide_a_clear_difference() {
        let mut d = vec![
            0.03, 0.035, 0.028, 0.031, 0.029, 0.033, 0.027, 0.032, 0.034, 0.030, 0.026, 0.036,
        ];
        d.push(-0.4);
        let effect = paired_effects(&[d], 0.05)[0];
        assert!(effect.is_claim() && (effect.ratio - 1.03).abs() < 0.003);
    }

    #[test]
    fn the_smallest_detectable_effect_is_found_nine_times_in_ten() {
        const SAMPLES: usize = 1_500;
        for effects in [1, 3, 9] {
            for more in [0, 1, 4, 10] {
                let (n, rate) = (minimum_blocks(effects, 0.05) + more, 0.05 / effects as f64);
                let mut rng = rng(effects as u64, more as u64);
                let stated: Vec<f64> = (0..SAMPLES)
                    .filter_map(|_| {
                        smallest_detectable(&normal_sample(n, 0.0, 0.014, &mut rng), rate)
                    })
                    .collect();
                let planted = describe::median(&stated).unwrap().ln_1p();
                let found = (0..SAMPLES)
                    .filter(|_| {
                        let d = normal_sample(n, planted, 0.014, &mut rng);
                        paired_ratio_interval(&d, 1.0 - rate).is_some_and(|(low, _)| low > 1.0)
                    })
                    .count();
                let power = found as f64 / SAMPLES as f64;
                assert!(
                    (0.85..0.95).contains(&power),
                    "{effects} effects, {n} blocks: {power}"
                );
            }
        }
    }

    /// Effects with whole numbers of per mille: sums and differences are exact, ties occur.
    fn effects() -> impl Strategy<Value = Vec<Vec<f64>>> {
        let effect =
            proptest::collection::vec((-30i32..60).prop_map(|d| f64::from(d) / 1024.0), 0..20);
        proptest::collection::vec(effect, 1..5)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan())
    }

    proptest! {
        #[test]
        fn a_claim_is_made_exactly_when_p_is_at_most_the_rate(effects in effects(), rate in 0.001..0.3f64) {
            for effect in paired_effects(&effects, rate) {
                prop_assert_eq!(effect.is_claim(), effect.p_adjusted <= rate);
                if let Some((low, high)) = effect.interval {
                    prop_assert!(low <= effect.ratio && effect.ratio <= high);
                }
            }
        }

        #[test]
        fn exchanging_arm_and_baseline_inverts_the_interval(effects in effects()) {
            let exchanged: Vec<Vec<f64>> =
                effects.iter().map(|d| d.iter().map(|x| -x).collect()).collect();
            for (a, b) in paired_effects(&effects, 0.05).iter().zip(paired_effects(&exchanged, 0.05)) {
                prop_assert!(near(a.ratio, 1.0 / b.ratio));
                prop_assert_eq!(a.p_adjusted, b.p_adjusted);
                prop_assert_eq!(a.interval.is_some(), b.interval.is_some());
                if let (Some(a), Some(b)) = (a.interval, b.interval) {
                    prop_assert!(near(a.0, 1.0 / b.1) && near(a.1, 1.0 / b.0));
                }
            }
        }

        #[test]
        fn the_order_of_blocks_does_not_matter(effects in effects(), seed in any::<u64>()) {
            let shuffled: Vec<Vec<f64>> = effects
                .iter()
                .map(|d| crate::block_order(d.len(), seed, 0).into_iter().map(|i| d[i]).collect())
                .collect();
            for (a, b) in paired_effects(&effects, 0.05).iter().zip(paired_effects(&shuffled, 0.05)) {
                prop_assert!(near(a.ratio, b.ratio));
                prop_assert_eq!((a.interval, a.p_adjusted), (b.interval, b.p_adjusted));
            }
        }

        #[test]
        fn a_common_factor_moves_the_interval_and_nothing_else(effects in effects(), by in -8i32..8) {
            // A baseline that is slower by a constant factor in every block.
            let by = f64::from(by) / 1024.0;
            let moved: Vec<Vec<f64>> = effects.iter().map(|d| d.iter().map(|x| x + by).collect()).collect();
            for (a, b) in paired_effects(&effects, 0.05).iter().zip(paired_effects(&moved, 0.05)) {
                prop_assert!(near(a.ratio * by.exp(), b.ratio));
                if let (Some(a), Some(b)) = (a.interval, b.interval) {
                    prop_assert!(near(a.0 * by.exp(), b.0) && near(a.1 * by.exp(), b.1));
                }
            }
        }

        #[test]
        fn nothing_crashes_on_any_numbers(
            effects in proptest::collection::vec(proptest::collection::vec(any::<f64>(), 0..12), 0..4),
            rate in any::<f64>(),
        ) {
            let _ = paired_effects(&effects, rate);
        }
    }
}
