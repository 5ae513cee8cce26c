//! From measured throughput to what fits a cycle, at which risk.
//!
//! A round of N instruments at r jobs per second takes N ÷ r. The question of a plan is not the mean
//! but how often a round will overrun, so a row is judged by the throughput that a *future* round
//! falls below with the accepted probability: the lower prediction bound of the runs' throughput on
//! the log scale (Student's t; Hahn and Meeker, "Statistical Intervals", 2nd ed., § 4.7). It takes the
//! runs as a sample of rounds: log-normal between runs, and no more alike than the machine made them.

mod published;

pub use published::{Claim, contradictions};

use plimsoll_schema::{CapacityRow, CapacityTable, Experiment, Fits, RunStatus};
use plimsoll_stats::median;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest runs from which a risk can be judged.
const FEWEST_RUNS: usize = 5;

/// What is planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Length of the cycle in seconds.
    pub cycle_seconds: f64,
    /// Numbers of instruments to judge.
    pub instruments: Vec<u64>,
    /// Accepted probability that a round takes longer than the cycle.
    pub risk: f64,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The cycle is no time.
    #[error("--cycle takes a time above 0, such as 20m")]
    Cycle,
    /// The risk is no probability.
    #[error("--risk takes a probability above 0 and below 0.5, such as 0.05")]
    Risk,
    /// Nothing to judge.
    #[error("--instruments takes numbers from 1, such as 100,500,1000")]
    Instruments,
    /// The throughput is none.
    #[error("`{0}` is no throughput: give jobs per second above 0, such as 0.98")]
    Throughput(f64),
}

impl Plan {
    /// Checks the plan.
    pub fn new(cycle_seconds: f64, instruments: Vec<u64>, risk: f64) -> Result<Self, PlanError> {
        if !(cycle_seconds > 0.0 && cycle_seconds.is_finite()) {
            return Err(PlanError::Cycle);
        }
        if !(risk > 0.0 && risk < 0.5) {
            return Err(PlanError::Risk);
        }
        if instruments.is_empty() || instruments.contains(&0) {
            return Err(PlanError::Instruments);
        }
        Ok(Self {
            cycle_seconds,
            instruments,
            risk,
        })
    }

    /// One table for each arm of an experiment, at the level at which it carries most. A ceiling is
    /// left out: it does other work.
    pub fn of_experiment(&self, experiment: &Experiment) -> Vec<CapacityTable> {
        let rate = |t: &CapacityTable| t.jobs_per_second_at_risk.unwrap_or(t.jobs_per_second);
        experiment
            .arms
            .iter()
            .filter(|arm| arm.ceiling.is_none())
            .filter_map(|arm| {
                let levels = experiment.levels.iter();
                levels
                    .filter_map(|level| self.of_cell(experiment, &arm.name, *level))
                    .max_by(|a, b| rate(a).total_cmp(&rate(b)))
            })
            .collect()
    }

    fn of_cell(&self, experiment: &Experiment, arm: &str, level: u32) -> Option<CapacityTable> {
        let throughputs: Vec<f64> = experiment
            .runs
            .iter()
            .filter(|r| r.status == RunStatus::Ok && r.arm == arm && r.level == level)
            .filter_map(|r| r.ops_per_second)
            .collect();
        let middle = median(&throughputs)?;
        let at_risk = lower_prediction_bound(&throughputs, self.risk);
        Some(self.table(
            arm.to_owned(),
            Some(level),
            middle,
            at_risk,
            throughputs.len(),
        ))
    }

    /// A table for a throughput that is only told, such as a published one.
    pub fn of_throughput(&self, jobs_per_second: f64) -> Result<CapacityTable, PlanError> {
        if !(jobs_per_second > 0.0 && jobs_per_second.is_finite()) {
            return Err(PlanError::Throughput(jobs_per_second));
        }
        Ok(self.table("given".to_owned(), None, jobs_per_second, None, 0))
    }

    fn table(
        &self,
        arm: String,
        level: Option<u32>,
        jobs_per_second: f64,
        at_risk: Option<f64>,
        runs: usize,
    ) -> CapacityTable {
        let most = at_risk.map(|rate| (rate * self.cycle_seconds).floor() as u64);
        let rows = self
            .instruments
            .iter()
            .map(|&n| self.row(n, jobs_per_second, at_risk, most))
            .collect();
        CapacityTable {
            arm,
            level,
            jobs_per_second,
            jobs_per_second_at_risk: at_risk,
            runs,
            rows,
            most_instruments: most,
        }
    }

    fn row(
        &self,
        instruments: u64,
        rate: f64,
        at_risk: Option<f64>,
        most: Option<u64>,
    ) -> CapacityRow {
        let seconds = instruments as f64 / rate;
        let seconds_at_risk = at_risk.map(|rate| instruments as f64 / rate);
        let fits = match seconds_at_risk {
            _ if seconds > self.cycle_seconds => Fits::No,
            None => Fits::OnAverage,
            Some(late) if late <= self.cycle_seconds => Fits::Yes,
            Some(_) => Fits::NotAtThisRisk,
        };
        let machines = most
            .filter(|most| *most > 0)
            .map(|most| instruments.div_ceil(most));
        CapacityRow {
            instruments,
            seconds,
            seconds_at_risk,
            fits,
            machines,
        }
    }
}

/// The throughput that one more run falls below with probability `risk`.
fn lower_prediction_bound(throughputs: &[f64], risk: f64) -> Option<f64> {
    let n = throughputs.len();
    if n < FEWEST_RUNS || throughputs.iter().any(|x| *x <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = throughputs.iter().map(|x| x.ln()).collect();
    let mean = logs.iter().sum::<f64>() / n as f64;
    let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let t = StudentsT::new(0.0, 1.0, (n - 1) as f64)
        .ok()?
        .inverse_cdf(1.0 - risk);
    Some((mean - t * (variance * (1.0 + 1.0 / n as f64)).sqrt()).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_prediction_bound_is_the_textbook_one() {
        // Five log-throughputs −2…2: mean 0, s² = 2.5; t(0.95; 4) = 2.13185 (standard tables).
        let throughputs: Vec<f64> = [-2.0f64, -1.0, 0.0, 1.0, 2.0]
            .iter()
            .map(|x| x.exp())
            .collect();
        let bound = lower_prediction_bound(&throughputs, 0.05).unwrap();
        let expected = -2.131_847 * (2.5f64 * 1.2).sqrt();
        assert!(
            (bound.ln() - expected).abs() < 1e-5,
            "{} {expected}",
            bound.ln()
        );
    }

    #[test]
    fn four_runs_are_too_few_to_judge_a_risk() {
        assert_eq!(lower_prediction_bound(&[1.0, 1.1, 0.9, 1.0], 0.05), None);
    }

    proptest! {
        #[test]
        fn future_runs_fall_below_the_bound_about_as_often_as_the_risk_says(seed in 0u64..40) {
            // Linear congruential uniforms through a sum of twelve: near enough normal for a rate.
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut uniform = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            let trials = 2_000;
            let below = (0..trials).filter(|_| {
                let runs: Vec<f64> = (0..10).map(|_| (0.1 * normal()).exp()).collect();
                let next = (0.1 * normal()).exp();
                next < lower_prediction_bound(&runs, 0.1).unwrap()
            }).count() as f64 / f64::from(trials);
            // Five standard errors.
            prop_assert!((below - 0.1).abs() < 5.0 * (0.1f64 * 0.9 / f64::from(trials)).sqrt(), "{below}");
        }

        #[test]
        fn as_many_machines_as_said_carry_the_load(rate in 0.01f64..1e4, n in 1u64..1_000_000) {
            let plan = Plan::new(1200.0, vec![n], 0.05).unwrap();
            let table = plan.table("a".to_owned(), Some(1), rate, Some(rate * 0.9), 10);
            let row = &table.rows[0];
            if let (Some(machines), Some(most)) = (row.machines, table.most_instruments) {
                prop_assert!(machines * most >= n);
                prop_assert!((machines - 1) * most < n);
                prop_assert_eq!(row.fits == Fits::Yes, machines == 1);
            }
        }
    }
}
