//! What a reader must know before believing the figures.

use plimsoll_schema::{Arm, Confidence, Experiment, Finding, Run, RunStatus, ThreadType};
use plimsoll_stats::{drift, median};

use crate::effects::Figures;
use crate::mechanism::bound_share;

/// Above this share of CPU time taken by the hypervisor or by others, a run is disturbed.
const DISTURBED: f64 = 0.05;
/// From this share of CPU time on dirty CPU schedulers, binding the normal ones misses work.
const DIRTY_SHARE: f64 = 0.05;

/// All findings, those that put the figures in doubt first.
pub(crate) fn findings(experiment: &Experiment, figures: &Figures) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(failed_runs(experiment));
    found.extend(
        experiment
            .arms
            .iter()
            .filter_map(|arm| not_as_predicted(experiment, arm)),
    );
    found.extend(dirty_unbound(experiment));
    found.extend(throttled(experiment));
    found.extend(disturbed(experiment));
    found.extend(unsteady(experiment));
    found.extend(drifting(experiment, figures));
    found
}

fn good(experiment: &Experiment) -> impl Iterator<Item = &Run> {
    experiment.runs.iter().filter(|r| r.status == RunStatus::Ok)
}

fn finding(id: &str, cause: String, evidence: Vec<String>, fix: &str) -> Finding {
    Finding {
        id: id.to_owned(),
        cause,
        evidence,
        fix: Some(fix.to_owned()),
        expected_gain: None,
        confidence: Confidence::Measured,
    }
}

fn failed_runs(experiment: &Experiment) -> Option<Finding> {
    let failed: Vec<(&Run, &String)> = experiment
        .runs
        .iter()
        .filter_map(|run| match &run.status {
            RunStatus::Failed { why } => Some((run, why)),
            RunStatus::Ok => None,
        })
        .collect();
    let (run, why) = failed.first()?;
    Some(finding(
        "lab.failed-runs",
        format!(
            "{} of {} runs gave no figure",
            failed.len(),
            experiment.runs.len()
        ),
        vec![format!(
            "first: arm {}, level {}, block {}: {why}",
            run.arm, run.level, run.block
        )],
        "run the workload once by hand under that arm and see why it fails",
    ))
}

fn not_as_predicted(experiment: &Experiment, arm: &Arm) -> Option<Finding> {
    if arm.predicted.is_empty() {
        return None;
    }
    let run = good(experiment).filter(|r| r.arm == arm.name).find(|r| {
        r.vm.as_ref().is_some_and(|vm| {
            let shown = vm.bindings.len().min(arm.predicted.len());
            vm.bindings[..shown] != arm.predicted[..shown]
        })
    })?;
    let vm = run.vm.as_ref()?;
    let asked = arm.predicted.iter().any(Option::is_some);
    let ignored = asked && vm.bindings.iter().all(Option::is_none);
    let (id, cause, fix) = if ignored {
        (
            "bind.ignored",
            format!(
                "arm {}: the VM stayed unbound although binding was asked for",
                arm.name
            ),
            "describe the topology with +sct (`plimsoll map` prints it), or fix the cpuset",
        )
    } else {
        (
            "bind.unexpected",
            format!(
                "arm {}: the VM placed its schedulers elsewhere than predicted",
                arm.name
            ),
            "check whether the workload sets +sct, +S or +sbt by itself; the arm is not what its name says",
        )
    };
    Some(finding(
        id,
        cause,
        vec![
            format!("predicted {}", cpus(&arm.predicted)),
            format!("the VM reports {}", cpus(&vm.bindings)),
        ],
        fix,
    ))
}

fn cpus(bindings: &[Option<u32>]) -> String {
    let shown: Vec<String> = bindings
        .iter()
        .take(16)
        .map(|cpu| cpu.map_or("unbound".to_owned(), |c| c.to_string()))
        .collect();
    let more = if bindings.len() > 16 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The binding arms whose work runs where binding does not reach.
fn dirty_unbound(experiment: &Experiment) -> Option<Finding> {
    let evidence: Vec<String> = experiment
        .arms
        .iter()
        .filter(|arm| arm.predicted.iter().any(Option::is_some))
        .filter_map(|arm| {
            let runs: Vec<&Run> = good(experiment).filter(|r| r.arm == arm.name).collect();
            let dirty = median(&runs.iter().filter_map(|r| dirty_share(r)).collect::<Vec<_>>())?;
            let bound = median(&runs.iter().filter_map(|r| bound_share(r)).collect::<Vec<_>>())?;
            (dirty >= DIRTY_SHARE).then(|| {
                format!(
                    "arm {}: {:.0} % of the CPU time was on dirty CPU schedulers, {:.0} % on threads bound to one CPU",
                    arm.name,
                    100.0 * dirty,
                    100.0 * bound
                )
            })
        })
        .collect();
    (!evidence.is_empty()).then(|| {
        finding(
            "bind.dirty-unbound",
            "the work runs on dirty CPU schedulers, which +sbt does not place".to_owned(),
            evidence,
            "do not expect +sbt to change this workload; placing the dirty schedulers takes a mask set from outside",
        )
    })
}

fn dirty_share(run: &Run) -> Option<f64> {
    let cpu = |t: &plimsoll_schema::ThreadTypeEvidence| t.user_seconds + t.system_seconds;
    let all: f64 = run.evidence.threads.values().map(cpu).sum();
    let dirty = run
        .evidence
        .threads
        .get(&ThreadType::DirtyCpu)
        .map_or(0.0, cpu);
    (all > 0.0).then_some(dirty / all)
}

fn throttled(experiment: &Experiment) -> Option<Finding> {
    let hit: Vec<&Run> = good(experiment)
        .filter(|r| r.evidence.host.throttled_periods.is_some_and(|p| p > 0))
        .collect();
    let worst = hit
        .iter()
        .filter_map(|r| r.evidence.host.throttled_seconds)
        .fold(0.0, f64::max);
    (!hit.is_empty()).then(|| {
        finding(
            "quota.throttled",
            "the container's CPU quota stopped the workload".to_owned(),
            vec![format!("throttled in {} runs, up to {worst:.2} s in one", hit.len())],
            "raise the quota or start fewer schedulers (+S); the figures measure the quota, not the placement",
        )
    })
}

fn disturbed(experiment: &Experiment) -> Option<Finding> {
    let runs = good(experiment).count();
    let count = |read: fn(&Run) -> Option<f64>| {
        let values: Vec<f64> = good(experiment)
            .filter_map(read)
            .filter(|s| *s > DISTURBED)
            .collect();
        (values.len(), values.iter().copied().fold(0.0, f64::max))
    };
    let (stolen, worst_steal) = count(|r| r.evidence.host.steal_share);
    let (shared, worst_other) = count(|r| r.evidence.host.other_share);
    let mut evidence = Vec::new();
    if stolen > 0 {
        evidence.push(format!(
            "{stolen} of {runs} runs lost more than 5 % of CPU time to the hypervisor, at worst {:.0} %",
            100.0 * worst_steal
        ));
    }
    if shared > 0 {
        evidence.push(format!(
            "in {shared} of {runs} runs other programs used more than 5 % of CPU time, at worst {:.0} %",
            100.0 * worst_other
        ));
    }
    (!evidence.is_empty()).then(|| {
        finding(
            "host.disturbed",
            "the machine was not ours alone".to_owned(),
            evidence,
            "run on a quiet machine for narrower intervals; the comparison stays fair because arms alternate",
        )
    })
}

fn unsteady(experiment: &Experiment) -> Option<Finding> {
    let runs = good(experiment).count();
    let unsteady = good(experiment).filter(|r| !r.steady).count();
    (unsteady * 5 > runs).then(|| {
        finding(
            "lab.unsteady",
            format!("{unsteady} of {runs} runs did not become steady inside their window"),
            vec!["their figures are from the second half of the window".to_owned()],
            "use a longer window: --window 3s",
        )
    })
}

/// One look at the whole session: every run in order, each against the median of its arm and level.
fn drifting(experiment: &Experiment, figures: &Figures) -> Option<Finding> {
    let mut runs: Vec<&Run> = good(experiment).collect();
    runs.sort_by_key(|r| r.order);
    let relative: Vec<f64> = runs
        .iter()
        .filter_map(|r| Some(r.ops_per_second? / median(&figures.cell(&r.arm, r.level))?))
        .collect();
    let drift = drift(&relative)?;
    let total = drift.slope_per_run * relative.len() as f64;
    Some(finding(
        "lab.drift",
        "the machine's speed changed during the experiment".to_owned(),
        vec![
            format!(
                "by {:+.1} % from the first to the last of {} runs",
                100.0 * total,
                relative.len()
            ),
            format!("most of it around run {}", drift.change_at + 1),
        ],
        "ratios are paired inside blocks and stand; do not compare absolute figures of this session with others",
    ))
}
