//! From runs to ratios: every comparison is made inside a block.

use std::collections::BTreeMap;

use plimsoll_schema::{Conclusion, Effect, Efficiency, Experiment, Interval, RunStatus};
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

    /// log(a ÷ b) for each block in which both gave a figure.
    pub(crate) fn log_ratios(&self, a: (&str, u32), b: (&str, u32)) -> Vec<f64> {
        let cell = |c: (&str, u32)| self.0.get(&(c.0.to_owned(), c.1));
        let (Some(a), Some(b)) = (cell(a), cell(b)) else {
            return Vec::new();
        };
        a.iter()
            .filter_map(|(block, x)| b.get(block).map(|y| (x / y).ln()))
            .collect()
    }
}

/// Every arm but the baseline against the baseline, at every level; the error rate is shared by all.
pub(crate) fn effects(experiment: &Experiment, figures: &Figures) -> Vec<Effect> {
    let baseline = &experiment.design.baseline;
    let cells: Vec<(&str, u32)> = experiment
        .arms
        .iter()
        .filter(|arm| &arm.name != baseline)
        .flat_map(|arm| {
            experiment
                .levels
                .iter()
                .map(|level| (arm.name.as_str(), *level))
        })
        .collect();
    let log_ratios: Vec<Vec<f64>> = cells
        .iter()
        .map(|&(arm, level)| figures.log_ratios((arm, level), (baseline, level)))
        .collect();
    let estimates = paired_effects(&log_ratios, experiment.design.error_rate);
    cells
        .into_iter()
        .zip(estimates)
        .map(|((arm, level), estimate)| Effect {
            arm: arm.to_owned(),
            baseline: baseline.clone(),
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

/// Throughput at each level, and against level 1 inside each block.
pub(crate) fn efficiency(experiment: &Experiment, figures: &Figures) -> Vec<Efficiency> {
    const CONFIDENCE: f64 = 0.95;
    let cpus = usable_cpus(experiment);
    let mut rows = Vec::new();
    for arm in &experiment.arms {
        for &level in &experiment.levels {
            let cell = figures.cell(&arm.name, level);
            let Some(ops_per_second) = median(&cell) else {
                continue;
            };
            let against_one = figures.log_ratios((&arm.name, level), (&arm.name, 1));
            let to_interval = |(low, high)| Interval {
                low,
                high,
                confidence: CONFIDENCE,
            };
            rows.push(Efficiency {
                arm: arm.name.clone(),
                level,
                ops_per_second,
                ops_interval: median_interval(&cell, CONFIDENCE).map(to_interval),
                speedup: paired_ratio(&against_one),
                speedup_interval: (level != 1)
                    .then(|| paired_ratio_interval(&against_one, CONFIDENCE).map(to_interval))
                    .flatten(),
                usable_cpus: level.min(cpus),
                runs: cell.len(),
            });
        }
    }
    rows
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
