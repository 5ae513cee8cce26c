//! From runs to figures and comparisons.

use std::collections::BTreeMap;

use plimsoll_schema::{
    Interval, JitterArm, JitterConclusion, JitterEffect, JitterFigure, JitterReport, JitterRun,
    JitterStatistic, JitterStatus,
};
use plimsoll_stats::{PairedEffect, median, median_interval, paired_effects};

use crate::tally::merged;
use crate::{arm, findings, verdict};

const CONFIDENCE: f64 = 0.95;

/// Fills in arms, effects, findings and verdict from the runs.
pub fn analyse(report: &mut JitterReport) {
    report.arms = report
        .design
        .arms
        .iter()
        .map(|name| arm_of(report, name))
        .collect();
    report.effects = effects(report);
    report.findings = findings::findings(report);
    report.verdict = verdict::verdict(report);
}

fn arm_of(report: &JitterReport, name: &str) -> JitterArm {
    let runs: Vec<&JitterRun> = report.runs.iter().filter(|run| run.arm == name).collect();
    let with =
        |wanted: fn(&JitterStatus) -> bool| runs.iter().filter(|run| wanted(&run.status)).count();
    let over_runs = |value: &dyn Fn(&JitterRun) -> Option<f64>| {
        median(&runs.iter().filter_map(|run| value(run)).collect::<Vec<_>>())
    };
    let seconds = report.design.window_ms as f64 / 1000.0;
    JitterArm {
        name: name.to_owned(),
        summary: arm::summary(name).to_owned(),
        runs: with(|s| matches!(s, JitterStatus::Ok)),
        blocked: with(|s| matches!(s, JitterStatus::Blocked { .. })),
        failed: with(|s| matches!(s, JitterStatus::Failed { .. })),
        lateness: JitterStatistic::ALL
            .into_iter()
            .filter_map(|statistic| figure(&runs, statistic))
            .collect(),
        worst_us: runs
            .iter()
            .filter_map(|run| Some(run.lateness?.worst_us))
            .max(),
        at_least: runs.iter().any(|run| run.lower_bounds > 0),
        histogram: merged(runs.iter().map(|run| run.histogram.as_slice())),
        jobs_per_second: over_runs(&|run| run.jobs_per_second),
        run_queue_mean: over_runs(&|run| run.run_queue_mean),
        dirty_run_queue_mean: over_runs(&|run| run.dirty_run_queue_mean),
        utilisation: over_runs(&|run| run.utilisation),
        dirty_utilisation: over_runs(&|run| run.dirty_utilisation),
        cpu_wait_share: over_runs(&|run| run.cpu_wait_share),
        long_schedules_per_second: over_runs(&|run| {
            (run.status == JitterStatus::Ok).then(|| run.long_schedules as f64 / seconds)
        }),
        longest_schedule_ms: runs.iter().filter_map(|run| run.longest_schedule_ms).max(),
    }
}

fn figure(runs: &[&JitterRun], statistic: JitterStatistic) -> Option<JitterFigure> {
    let values: Vec<f64> = runs
        .iter()
        .filter_map(|run| Some(run.lateness?.get(statistic) as f64))
        .collect();
    Some(JitterFigure {
        statistic,
        us: median(&values)?,
        interval: median_interval(&values, CONFIDENCE).map(|(low, high)| Interval {
            low,
            high,
            confidence: CONFIDENCE,
        }),
    })
}

/// Every arm but the baseline against the baseline, for every statistic: one family, one error rate.
fn effects(report: &JitterReport) -> Vec<JitterEffect> {
    let baseline = &report.design.baseline;
    let cells: Vec<(&str, JitterStatistic)> = report
        .design
        .arms
        .iter()
        .filter(|arm| *arm != baseline)
        .flat_map(|arm| JitterStatistic::ALL.map(|statistic| (arm.as_str(), statistic)))
        .collect();
    let log_ratios: Vec<Vec<f64>> = cells
        .iter()
        .map(|&(arm, statistic)| log_ratios(report, arm, baseline, statistic))
        .collect();
    let estimates = paired_effects(&log_ratios, report.design.error_rate);
    cells
        .into_iter()
        .zip(estimates)
        .map(|((arm, statistic), estimate)| JitterEffect {
            arm: arm.to_owned(),
            baseline: baseline.clone(),
            statistic,
            ratio: estimate.ratio.is_finite().then_some(estimate.ratio),
            interval: estimate.interval.map(|(low, high)| Interval {
                low,
                high,
                confidence: estimate.confidence,
            }),
            p_adjusted: estimate.p_adjusted,
            blocks: estimate.pairs,
            smallest_detectable: estimate.smallest_detectable,
            conclusion: conclusion(report, arm, &estimate),
        })
        .collect()
}

/// ln(arm ÷ baseline) of every block in which both recorded wake-ups. What is below the resolution of
/// a microsecond counts as one.
fn log_ratios(
    report: &JitterReport,
    arm: &str,
    baseline: &str,
    statistic: JitterStatistic,
) -> Vec<f64> {
    let of = |name: &str| -> BTreeMap<usize, f64> {
        report
            .runs
            .iter()
            .filter(|run| run.arm == name)
            .filter_map(|run| Some((run.block, run.lateness?.get(statistic).max(1) as f64)))
            .collect()
    };
    let (arm, baseline) = (of(arm), of(baseline));
    arm.iter()
        .filter_map(|(block, x)| baseline.get(block).map(|y| (x / y).ln()))
        .collect()
}

fn conclusion(report: &JitterReport, arm: &str, estimate: &PairedEffect) -> JitterConclusion {
    let blocked = |name: &str| report.arms.iter().any(|a| a.name == name && a.blocked > 0);
    match estimate.interval {
        _ if blocked(arm) => JitterConclusion::Blocked,
        None => JitterConclusion::TooFewBlocks,
        Some((low, _)) if low > 1.0 => JitterConclusion::Later,
        Some((_, high)) if high < 1.0 => JitterConclusion::Earlier,
        Some(_) => JitterConclusion::NoDifferenceSeen,
    }
}
