//! Simulated experiments, on which the tests of this room are tested.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use rand::Rng;

use crate::order::{block_order, rng};
use crate::paired_effects;

/// How the figures of runs vary beside what their arm does. Every kind has a run noise of about 1 %
/// plus what its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noise {
    /// Independent normal noise, standard deviation 1 %.
    White,
    /// White, and the machine becomes steadily 10 % slower over the session.
    LinearDrift,
    /// White, and a random walk of 0.3 % from run to run.
    RandomWalk,
    /// First-order autoregression over the order of runs: ρ = 0.8, standard deviation 1 %.
    Autocorrelated,
    /// Student's t with 3 degrees of freedom, scaled to a standard deviation of 1 %.
    HeavyTails,
    /// White, and 5 % of the runs are 30 % slower.
    SlowOutliers,
    /// Log-normal slow-downs (σ = 1 of the logarithm), scaled to a standard deviation of 1 %.
    Skewed,
}

impl Noise {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::White,
        Self::LinearDrift,
        Self::RandomWalk,
        Self::Autocorrelated,
        Self::HeavyTails,
        Self::SlowOutliers,
        Self::Skewed,
    ];

    /// Its name in [`Figures`].
    pub fn name(self) -> &'static str {
        match self {
            Self::White => "white",
            Self::LinearDrift => "linear drift",
            Self::RandomWalk => "random walk",
            Self::Autocorrelated => "autocorrelated",
            Self::HeavyTails => "heavy tails",
            Self::SlowOutliers => "slow outliers",
            Self::Skewed => "skewed",
        }
    }

    /// The logarithms of the noise factors of `runs` runs in the order in which they are made.
    pub fn series(self, runs: usize, rng: &mut impl Rng) -> Vec<f64> {
        const SD: f64 = 0.01;
        let mut state = gaussian(rng);
        (0..runs)
            .map(|i| match self {
                Self::White => SD * gaussian(rng),
                Self::LinearDrift => SD * gaussian(rng) - 0.1 * i as f64 / runs as f64,
                Self::RandomWalk => {
                    state += gaussian(rng);
                    SD * gaussian(rng) + 0.003 * state
                }
                Self::Autocorrelated => {
                    const RHO: f64 = 0.8;
                    state = RHO * state + (1.0 - RHO * RHO).sqrt() * gaussian(rng);
                    SD * state
                }
                Self::HeavyTails => {
                    // t₃ = Z ÷ √(χ²₃ ÷ 3), whose variance is 3.
                    let chi: f64 = (0..3).map(|_| gaussian(rng).powi(2)).sum();
                    SD * gaussian(rng) / chi.sqrt()
                }
                Self::SlowOutliers => {
                    let slow = if rng.random_bool(0.05) {
                        1.3_f64.ln()
                    } else {
                        0.0
                    };
                    SD * gaussian(rng) - slow
                }
                Self::Skewed => {
                    // The variance of exp(Z) is (e − 1)·e.
                    let sd = ((1.0_f64.exp() - 1.0) * 1.0_f64.exp()).sqrt();
                    -SD * gaussian(rng).exp() / sd
                }
            })
            .collect()
    }
}

/// A standard normal number (Box and Muller, Ann. Math. Stat. 29, 1958).
pub fn gaussian(rng: &mut impl Rng) -> f64 {
    let u: f64 = 1.0 - rng.random::<f64>();
    (-2.0 * u.ln()).sqrt() * (2.0 * PI * rng.random::<f64>()).cos()
}

/// The log ratios of one simulated experiment, as [`paired_effects`] takes them: `effects` arms that
/// are all `ratio` times as fast as the one baseline that they share, in `blocks` blocks whose order is
/// drawn by [`block_order`].
pub fn experiment(
    noise: Noise,
    effects: usize,
    blocks: usize,
    ratio: f64,
    seed: u64,
) -> Vec<Vec<f64>> {
    let arms = effects + 1;
    let series = noise.series(arms * blocks, &mut rng(seed, u64::MAX));
    let mut log_ratios = vec![Vec::with_capacity(blocks); effects];
    let mut values = vec![0.0; arms];
    for (block, noise) in series.chunks(arms).enumerate() {
        for (&arm, noise) in block_order(arms, seed, block).iter().zip(noise) {
            values[arm] = *noise;
        }
        for (effect, log_ratios) in log_ratios.iter_mut().enumerate() {
            log_ratios.push(values[effect + 1] + ratio.ln() - values[0]);
        }
    }
    log_ratios
}

/// What the calibration found, by name of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Simulated experiments per figure.
    pub experiments: usize,
    /// Blocks in each.
    pub blocks: usize,
    /// Effects in each.
    pub effects: usize,
    /// The stated error rate.
    pub error_rate: f64,
    /// Share of experiments without any difference in which one was claimed.
    pub false_claims: BTreeMap<String, f64>,
    /// Share of planted 3 % differences that were found, and with the right sign.
    pub power: BTreeMap<String, f64>,
    /// Share of the intervals around planted differences that contain the true ratio.
    pub coverage: BTreeMap<String, f64>,
    /// The coverage that each interval states.
    pub stated_coverage: f64,
}

/// Runs `experiments` experiments without a difference and as many with one of 3 % under every kind of
/// noise. The standard error of a share p is at most √(p(1 − p) ÷ experiments): with 10 000, which take
/// a few seconds, 0.2 points at 5 %, 0.3 at 90 % and 0.5 at worst.
///
/// The slow outliers are no 1 % noise; they are there for the false claims, and to show what they cost
/// in power.
pub fn calibrate(
    experiments: usize,
    blocks: usize,
    effects: usize,
    error_rate: f64,
    seed: u64,
) -> Figures {
    const PLANTED: f64 = 1.03;
    let mut figures = Figures {
        experiments,
        blocks,
        effects,
        error_rate,
        false_claims: BTreeMap::new(),
        power: BTreeMap::new(),
        coverage: BTreeMap::new(),
        stated_coverage: 1.0 - error_rate / effects.max(1) as f64,
    };
    for noise in Noise::ALL {
        let (mut false_claims, mut found, mut covered) = (0usize, 0usize, 0usize);
        for i in 0..experiments {
            // Two seeds for each experiment: the two halves are independent.
            let seed = seed.wrapping_add(2 * i as u64);
            let null = experiment(noise, effects, blocks, 1.0, seed);
            false_claims += usize::from(
                paired_effects(&null, error_rate)
                    .iter()
                    .any(|e| e.is_claim()),
            );
            let planted = experiment(noise, effects, blocks, PLANTED, seed.wrapping_add(1));
            for effect in paired_effects(&planted, error_rate) {
                let Some((low, high)) = effect.interval else {
                    continue;
                };
                found += usize::from(low > 1.0);
                covered += usize::from(low <= PLANTED && PLANTED <= high);
            }
        }
        let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        let name = noise.name().to_owned();
        figures
            .false_claims
            .insert(name.clone(), share(false_claims, experiments));
        figures
            .power
            .insert(name.clone(), share(found, experiments * effects));
        figures
            .coverage
            .insert(name, share(covered, experiments * effects));
    }
    figures
}
