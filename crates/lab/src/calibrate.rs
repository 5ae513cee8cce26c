//! The lab tested on nothing: simulated A/A and planted differences, and the real machine's noise.

use plimsoll_schema::{Calibration, Experiment, NoiseFloor, RunStatus};
use plimsoll_stats::simulate::calibrate;
use plimsoll_stats::{coefficient_of_variation, default_blocks};

/// Simulates experiments with `effects` comparisons each and counts false claims, differences found
/// and intervals that cover.
pub fn calibration(experiments: usize, effects: usize, error_rate: f64, seed: u64) -> Calibration {
    let blocks = default_blocks(effects, error_rate);
    let figures = calibrate(experiments, blocks, effects, error_rate, seed);
    Calibration {
        schema: Calibration::SCHEMA.to_owned(),
        experiments,
        blocks,
        effects,
        error_rate,
        false_claims: figures.false_claims,
        power: figures.power,
        coverage: figures.coverage,
        stated_coverage: figures.stated_coverage,
        noise_floor: None,
    }
}

/// The noise of an analysed experiment whose two arms are identical.
pub fn noise_floor(experiment: &Experiment) -> Option<NoiseFloor> {
    let effect = experiment.effects.first()?.clone();
    let of = |arm: &str| -> Vec<(usize, f64)> {
        experiment
            .runs
            .iter()
            .filter(|r| r.arm == arm && r.status == RunStatus::Ok)
            .filter_map(|r| Some((r.block, r.ops_per_second?)))
            .collect()
    };
    let (a, b) = (of(&effect.arm), of(&effect.baseline));
    let values: Vec<f64> = a.iter().chain(&b).map(|(_, x)| *x).collect();
    let ratios: Vec<f64> = a
        .iter()
        .filter_map(|(block, x)| {
            b.iter()
                .find(|(other, _)| other == block)
                .map(|(_, y)| (x / y).ln())
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let squares: f64 = ratios.iter().map(|r| (r - mean).powi(2)).sum();
    let run_cv = coefficient_of_variation(&values)?;
    (ratios.len() > 1).then(|| NoiseFloor {
        run_cv,
        pair_sd: (squares / (ratios.len() - 1) as f64).sqrt(),
        effect,
    })
}
