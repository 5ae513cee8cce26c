//! What a reader must know before believing the figures.

use plimsoll_schema::{
    Confidence, Finding, HeldAt, JitterArm, JitterReport, JitterRun, JitterStatistic, JitterStatus,
};

/// Below this busy share the workers left room that the probes could use.
const SATURATED: f64 = 0.9;
/// Above this share of waiting for a CPU, the kernel's part in the figures cannot be neglected.
const STARVED: f64 = 0.05;
/// An idle VM's p99 above this, microseconds, is the machine's doing.
const NOISY_US: f64 = 2_000.0;
/// With fewer wake-ups a run has no 99.9th percentile of its own.
const FOR_P999: u64 = 1_000;

/// All findings, those about single arms first.
pub(crate) fn findings(report: &JitterReport) -> Vec<Finding> {
    let mut found: Vec<Finding> = report
        .arms
        .iter()
        .filter_map(|arm| blocked(report, arm))
        .collect();
    found.extend(failed(report));
    found.extend(report.arms.iter().filter_map(|arm| held(report, arm)));
    found.extend(report.arms.iter().filter_map(not_saturated));
    found.extend(starved(report));
    found.extend(noisy(report));
    found.extend(few_wakeups(report));
    found
}

fn finding(
    id: &str,
    cause: String,
    evidence: Vec<String>,
    fix: &str,
    confidence: Confidence,
) -> Finding {
    Finding {
        id: id.to_owned(),
        cause,
        evidence,
        fix: Some(fix.to_owned()),
        expected_gain: None,
        confidence,
    }
}

fn blocked(report: &JitterReport, arm: &JitterArm) -> Option<Finding> {
    let runs = report.runs.iter().filter(|run| run.arm == arm.name);
    let evidence: Vec<String> = runs
        .filter_map(|run| match run.status {
            JitterStatus::Blocked {
                seconds,
                cpu_seconds,
            } => {
                let cpu = cpu_seconds.map_or(String::new(), |cpu| {
                    format!(", in which the VM used {cpu:.1} s of CPU")
                });
                Some(format!(
                    "block {}: no sign of life for {seconds:.1} s{cpu}",
                    run.block + 1
                ))
            }
            JitterStatus::Ok | JitterStatus::Failed { .. } => None,
        })
        .collect();
    (!evidence.is_empty()).then(|| {
        finding(
            "jitter.blocked",
            format!(
                "{}: no process of the VM could run, not even one of the highest priority",
                arm.name
            ),
            evidence,
            "make the native function yield, or let it run on a dirty scheduler",
            Confidence::Measured,
        )
    })
}

fn failed(report: &JitterReport) -> Option<Finding> {
    let mut whys = report.runs.iter().filter_map(|run| match &run.status {
        JitterStatus::Failed { why } => Some((run, why)),
        JitterStatus::Ok | JitterStatus::Blocked { .. } => None,
    });
    let (run, why) = whys.next()?;
    Some(finding(
        "jitter.failed-runs",
        format!(
            "{} of {} runs gave no figure",
            1 + whys.count(),
            report.runs.len()
        ),
        vec![format!(
            "first: {}, block {}: {why}",
            run.arm,
            run.block + 1
        )],
        "run that arm alone (--arms) and see why it fails",
        Confidence::Certain,
    ))
}

/// An arm under which normal schedulers are held clearly more often than under the baseline.
fn held(report: &JitterReport, arm: &JitterArm) -> Option<Finding> {
    let baseline = report
        .arms
        .iter()
        .find(|a| a.name == report.design.baseline)?;
    let (rate, usual) = (
        arm.long_schedules_per_second?,
        baseline.long_schedules_per_second?,
    );
    if arm.name == baseline.name || rate <= 2.0 * usual + 1.0 {
        return None;
    }
    let runs = || report.runs.iter().filter(|run| run.arm == arm.name);
    let most: Option<&HeldAt> = runs()
        .flat_map(|run| &run.held_at)
        .max_by_key(|at| at.count);
    let mut evidence = vec![format!(
        "{rate:.0} times a second, against {usual:.0} under {}",
        baseline.name
    )];
    evidence
        .extend(most.map(|at| format!("most often from {}, up to {} ms", at.place, at.worst_ms)));
    Some(finding(
        "jitter.held",
        format!(
            "{}: normal schedulers are held for more than a millisecond at a time",
            arm.name
        ),
        evidence,
        "find the function with `plimsoll jitter --audit MODULE --eval EXPRESSION`",
        Confidence::Measured,
    ))
}

fn not_saturated(arm: &JitterArm) -> Option<Finding> {
    let busy = arm.utilisation?.max(arm.dirty_utilisation.unwrap_or(0.0));
    (arm.name != "idle" && busy < SATURATED).then(|| {
        finding(
            "jitter.not-saturated",
            format!("{}: the workers did not keep the schedulers busy", arm.name),
            vec![format!(
                "busy share of the normal schedulers {:.0} %, of the dirty CPU schedulers {:.0} %",
                100.0 * arm.utilisation.unwrap_or(0.0),
                100.0 * arm.dirty_utilisation.unwrap_or(0.0)
            )],
            "use more workers (--workers), or longer inputs",
            Confidence::Measured,
        )
    })
}

fn starved(report: &JitterReport) -> Option<Finding> {
    let worst = report
        .arms
        .iter()
        .filter_map(|arm| Some((arm.cpu_wait_share?, arm)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let (share, arm) = worst.filter(|(share, _)| *share > STARVED)?;
    Some(finding(
        "jitter.no-cpu",
        "the kernel kept the VM's schedulers waiting for a CPU: part of every lateness, and of every hold, is its doing"
            .to_owned(),
        vec![format!("{}: no CPU for {:.0} % of the time in which schedulers wanted one", arm.name, 100.0 * share)],
        "end other programs, or measure on a machine of your own; comparisons inside blocks still hold",
        Confidence::Measured,
    ))
}

fn noisy(report: &JitterReport) -> Option<Finding> {
    let idle = report.arms.iter().find(|arm| arm.name == "idle")?;
    let p99 = idle
        .lateness
        .iter()
        .find(|f| f.statistic == JitterStatistic::P99)?
        .us;
    (p99 > NOISY_US).then(|| {
        finding(
            "jitter.noisy-machine",
            "this machine delays wake-ups even in an idle VM".to_owned(),
            vec![format!("idle: p99 is {:.1} ms", p99 / 1000.0)],
            "end other programs, or measure on a machine of your own; comparisons inside blocks still hold",
            Confidence::Measured,
        )
    })
}

fn few_wakeups(report: &JitterReport) -> Option<Finding> {
    let least = report
        .runs
        .iter()
        .filter(|run| run.status == JitterStatus::Ok)
        .map(wakeups)
        .min()?;
    (least < FOR_P999).then(|| {
        finding(
            "jitter.few-wakeups",
            "a run has too few wake-ups for a 99.9th percentile: it equals the worst".to_owned(),
            vec![format!("{least} wake-ups in a run, {FOR_P999} are needed")],
            "use a longer --window, more --probes or a shorter --period",
            Confidence::Certain,
        )
    })
}

fn wakeups(run: &JitterRun) -> u64 {
    run.wakeups
}
