//! From runs to ratios: every comparison is made inside a block.

use std::collections::BTreeMap;

use plimsoll_schema::{Conclusion, Effect, Efficiency, Experiment, Interval, Run, RunStatus};
use plimsoll_stats::{
    PairedEffect, median, median_interval, paired_effects, paired_ratio, paired_ratio_interval,
};

/// Work per second of every run that gave a figure, by arm, level and block.
pub(crate) struct Figures(BTreeMap<(String, u32), BTreeMap<usize, f64>>);

impl Figures {
    pub(crate) fn of(experiment: &Experiment) -> Self {
        let mut figures: BTreeMap<_, BTreeMap<usize, f64>> = BTreeMap::new();
        for run in experiment.runs.iter().filter(|r| r.status == RunStatus::Ok) {
            if let Some(ops) = run.ops_per_second.filter(|x| x.is_finite() && *x > 0.0) {
                figures
                    .entry((run.arm.clone(), run.level))
                    .or_default()
                    .insert(run.block, ops);
            }
        }
        Self(figures)
    }

    /// The figures of one cell in the order of the blocks.
    pub(crate) fn cell(&self, arm: &str, level: u32) -> Vec<f64> {
        self.0
            .get(&(arm.to_owned(), level))
            .map(|blocks| blocks.values().copied().collect())
            .unwrap_or_default()
    }

    /// ln(a ÷ b) for each block in which both gave a figure.
    pub(crate) fn log_ratios(&self, a: (&str, u32), b: (&str, u32)) -> Vec<f64> {
        self.by_block(a, b).into_values().collect()
    }

    /// ln(throughput at `level` ÷ throughput at level 1) of each block.
    fn log_speedups(&self, arm: &str, level: u32) -> BTreeMap<usize, f64> {
        self.by_block((arm, level), (arm, 1))
    }

    fn by_block(&self, a: (&str, u32), b: (&str, u32)) -> BTreeMap<usize, f64> {
        let cell = |c: (&str, u32)| self.0.get(&(c.0.to_owned(), c.1));
        let (Some(a), Some(b)) = (cell(a), cell(b)) else {
            return BTreeMap::new();
        };
        a.iter()
            .filter_map(|(block, x)| b.get(block).map(|y| (*block, (x / y).ln())))
            .collect()
    }
}

/// What is compared: each arm with the one that it is held against, at every level.
pub(crate) fn comparisons(experiment: &Experiment) -> Vec<(&str, &str, u32)> {
    let baseline = &experiment.design.baseline;
    experiment
        .arms
        .iter()
        .filter(|arm| &arm.name != baseline && arm.ceiling.is_none())
        .map(|arm| {
            (
                arm.name.as_str(),
                arm.against.as_ref().unwrap_or(baseline).as_str(),
            )
        })
        .flat_map(|(arm, against)| {
            experiment
                .levels
                .iter()
                .map(move |level| (arm, against, *level))
        })
        .collect()
}

/// The effect of every comparison; the error rate is shared by all.
pub(crate) fn effects(experiment: &Experiment, figures: &Figures) -> Vec<Effect> {
    let comparisons = comparisons(experiment);
    let log_ratios: Vec<Vec<f64>> = comparisons
        .iter()
        .map(|&(arm, against, level)| figures.log_ratios((arm, level), (against, level)))
        .collect();
    let estimates = paired_effects(&log_ratios, experiment.design.error_rate);
    comparisons
        .into_iter()
        .zip(estimates)
        .map(|((arm, against, level), estimate)| Effect {
            arm: arm.to_owned(),
            baseline: against.to_owned(),
            level,
            ratio: estimate.ratio,
            interval: interval(&estimate),
            p_adjusted: estimate.p_adjusted,
            blocks: estimate.pairs,
            smallest_detectable: estimate.smallest_detectable,
            conclusion: conclusion(&estimate),
            mechanisms: Vec::new(),
        })
        .collect()
}

fn interval(estimate: &PairedEffect) -> Option<Interval> {
    estimate.interval.map(|(low, high)| Interval {
        low,
        high,
        confidence: estimate.confidence,
    })
}

fn conclusion(estimate: &PairedEffect) -> Conclusion {
    match estimate.interval {
        None => Conclusion::TooFewBlocks,
        Some((low, _)) if low > 1.0 => Conclusion::Faster,
        Some((_, high)) if high < 1.0 => Conclusion::Slower,
        Some(_) => Conclusion::NoDifferenceSeen,
    }
}

/// Throughput at each level, against level 1 and against the ceiling, inside each block.
pub(crate) fn efficiency(experiment: &Experiment, figures: &Figures) -> Vec<Efficiency> {
    let cpus = usable_cpus(experiment);
    let ceiling = experiment.arms.iter().find(|arm| arm.ceiling.is_some());
    let mut rows = Vec::new();
    for arm in &experiment.arms {
        for &level in &experiment.levels {
            let cell = figures.cell(&arm.name, level);
            let Some(ops_per_second) = median(&cell) else {
                continue;
            };
            let speedup = figures.log_speedups(&arm.name, level);
            let of_ceiling: Vec<f64> = ceiling
                .filter(|ceiling| ceiling.name != arm.name && level != 1)
                .map(|ceiling| differences(&speedup, &figures.log_speedups(&ceiling.name, level)))
                .unwrap_or_default();
            let speedup: Vec<f64> = speedup.into_values().collect();
            rows.push(Efficiency {
                arm: arm.name.clone(),
                level,
                ops_per_second,
                ops_interval: median_interval(&cell, CONFIDENCE).map(at_confidence),
                speedup: paired_ratio(&speedup),
                speedup_interval: (level != 1).then(|| ratio_interval(&speedup)).flatten(),
                usable_cpus: level.min(cpus),
                job_median_ms: over_runs(experiment, &arm.name, level, |run| run.job_median_ms),
                job_p95_ms: over_runs(experiment, &arm.name, level, |run| run.job_p95_ms),
                of_ceiling: paired_ratio(&of_ceiling),
                of_ceiling_interval: ratio_interval(&of_ceiling),
                runs: cell.len(),
            });
        }
    }
    rows
}

/// Median over the runs of one cell that have the figure.
fn over_runs(
    experiment: &Experiment,
    arm: &str,
    level: u32,
    read: fn(&Run) -> Option<f64>,
) -> Option<f64> {
    let cell = experiment
        .runs
        .iter()
        .filter(|r| r.arm == arm && r.level == level);
    median(&cell.filter_map(read).collect::<Vec<_>>())
}

/// Coverage of the intervals that describe and do not compare.
const CONFIDENCE: f64 = 0.95;

fn at_confidence((low, high): (f64, f64)) -> Interval {
    Interval {
        low,
        high,
        confidence: CONFIDENCE,
    }
}

fn ratio_interval(log_ratios: &[f64]) -> Option<Interval> {
    paired_ratio_interval(log_ratios, CONFIDENCE).map(at_confidence)
}

/// a − b for each block that both have.
fn differences(a: &BTreeMap<usize, f64>, b: &BTreeMap<usize, f64>) -> Vec<f64> {
    a.iter()
        .filter_map(|(block, x)| b.get(block).map(|y| x - y))
        .collect()
}

/// CPUs that the experiment's process could use: those allowed, less what a quota takes.
pub(crate) fn usable_cpus(experiment: &Experiment) -> u32 {
    let allowed = experiment.machine.counts.allowed.max(1) as u32;
    let quota = experiment
        .machine
        .limits
        .as_ref()
        .and_then(|l| l.quota_cpus);
    quota.map_or(allowed, |q| allowed.min((q.ceil() as u32).max(1)))
}
