//! Whole experiments with VMs that are made up.

use std::collections::BTreeSet;

use plimsoll_jitter::{Executor, JitterError, Made, Progress, analyse, run};
use plimsoll_lab::{Planned, Stop};
use plimsoll_schema::{
    JitterConclusion, JitterDesign, JitterReport, JitterRun, JitterStatistic, JitterStatus,
    Lateness, LatenessBin,
};

/// Gives what `of` says of an arm and a block: lateness in microseconds, or how it ended.
struct Fake<F>(F);

impl<F: FnMut(&str, usize) -> Result<u64, JitterStatus>> Executor for Fake<F> {
    fn execute(&mut self, arm: &str, planned: &Planned) -> Result<Made, JitterError> {
        let (status, us) = match (self.0)(arm, planned.block) {
            Ok(us) => (JitterStatus::Ok, Some(us)),
            Err(status @ JitterStatus::Blocked { .. }) => (status, Some(2_000_000)),
            Err(status) => (status, None),
        };
        Ok(Made {
            run: record(arm, planned, status, us),
            vm: None,
            audit: None,
        })
    }
}

fn record(arm: &str, planned: &Planned, status: JitterStatus, us: Option<u64>) -> JitterRun {
    JitterRun {
        block: planned.block,
        order: planned.order,
        arm: arm.to_owned(),
        seed: planned.seed,
        lower_bounds: u64::from(status != JitterStatus::Ok),
        status,
        started_at_ms: 0,
        wakeups: 1000,
        unknown: 0,
        lateness: us.map(|us| Lateness {
            median_us: us,
            p99_us: 2 * us,
            p999_us: 3 * us,
            worst_us: 4 * us,
        }),
        histogram: us.map_or(Vec::new(), |us| {
            vec![LatenessBin {
                up_to_us: us,
                count: 1000,
            }]
        }),
        jobs_per_second: Some(10.0),
        run_queue_mean: Some(2.0),
        dirty_run_queue_mean: Some(0.0),
        utilisation: Some(1.0),
        dirty_utilisation: Some(0.0),
        cpu_wait_share: Some(0.0),
        long_schedules: 0,
        longest_schedule_ms: None,
        long_gcs: 0,
        longest_gc_ms: None,
        held_at: Vec::new(),
        longest_silence_seconds: Some(0.1),
    }
}

fn report(arms: &[&str], blocks: usize) -> JitterReport {
    JitterReport {
        schema: JitterReport::SCHEMA.to_owned(),
        plimsoll_version: "0".to_owned(),
        started_at_ms: 0,
        complete: false,
        design: JitterDesign {
            arms: arms.iter().map(|arm| (*arm).to_owned()).collect(),
            baseline: "erlang".to_owned(),
            blocks,
            probes: 10,
            period_ms: 10,
            window_ms: 1000,
            workers: None,
            input_bytes: None,
            eval: None,
            with: None,
            audit: None,
            patience_seconds: 3.0,
            error_rate: 0.05,
            seed: 1,
        },
        machine: serde_json::from_str(
            r#"{"source":{"kind":"live"},"cpu_model":null,"counts":{"packages":0,"numa_nodes":0,"l3_domains":0,
            "cores":0,"pus":0,"online":0,"allowed":0,"threads_per_core":0},"packages":[],"numa_nodes":[],
            "l3_domains":[],"cores":[],"pus":[],"kernel":null,"limits":null}"#,
        )
        .unwrap(),
        vm: None,
        arms: Vec::new(),
        runs: Vec::new(),
        effects: Vec::new(),
        audit: None,
        verdict: Vec::new(),
        findings: Vec::new(),
        settings: Default::default(),
        reproduce: String::new(),
    }
}

fn carried_out(
    arms: &[&str],
    blocks: usize,
    of: impl FnMut(&str, usize) -> Result<u64, JitterStatus>,
) -> (JitterReport, Result<(), JitterError>) {
    let mut report = report(arms, blocks);
    let result = run(&mut report, &mut Fake(of), &Stop::default(), &mut |_| {});
    analyse(&mut report);
    (report, result)
}

fn blocked() -> JitterStatus {
    JitterStatus::Blocked {
        seconds: 3.1,
        cpu_seconds: Some(6.0),
    }
}

fn conclusions(report: &JitterReport, arm: &str) -> BTreeSet<String> {
    report
        .effects
        .iter()
        .filter(|e| e.arm == arm)
        .map(|e| format!("{:?}", e.conclusion))
        .collect()
}

#[test]
fn an_arm_that_is_twice_as_late_in_every_block_is_later_in_every_figure() {
    // The machine is slower in some blocks than in others: it is the pairing that sees through it.
    let (report, result) = carried_out(&["idle", "erlang", "yielding"], 12, |arm, block| {
        let machine = 100 + 400 * (block as u64 % 3);
        Ok(if arm == "idle" {
            2 * machine + block as u64
        } else {
            machine + u64::from(arm == "yielding") * (block as u64 % 2)
        })
    });
    result.unwrap();
    assert!(report.complete);
    assert_eq!(report.runs.len(), 36);
    assert_eq!(
        conclusions(&report, "idle"),
        BTreeSet::from(["Later".to_owned()])
    );
    assert_eq!(
        conclusions(&report, "yielding"),
        BTreeSet::from(["NoDifferenceSeen".to_owned()])
    );
    let median = report
        .effects
        .iter()
        .find(|e| e.arm == "idle" && e.statistic == JitterStatistic::Median)
        .unwrap();
    assert!((median.ratio.unwrap() - 2.0).abs() < 0.05, "{median:?}");
    assert!(
        report.verdict[0].contains("idle") && report.verdict[0].contains("later"),
        "{:?}",
        report.verdict
    );
}

#[test]
fn an_arm_that_blocks_is_run_twice_and_reported_first() {
    let (report, result) = carried_out(&["erlang", "blocking"], 6, |arm, _| {
        if arm == "blocking" {
            Err(blocked())
        } else {
            Ok(100)
        }
    });
    result.unwrap();
    let made = |name: &str| report.runs.iter().filter(|run| run.arm == name).count();
    assert_eq!((made("blocking"), made("erlang")), (2, 6));
    assert_eq!(
        conclusions(&report, "blocking"),
        BTreeSet::from(["Blocked".to_owned()])
    );
    assert!(
        report.verdict[0].contains("schedulers blocked for 3.1 s"),
        "{:?}",
        report.verdict
    );
    assert!(report.arms[1].at_least);
    assert!(report.findings.iter().any(|f| f.id == "jitter.blocked"));
}

#[test]
fn too_few_blocks_are_said_to_be_too_few() {
    let (report, _) = carried_out(&["erlang", "dirty"], 3, |arm, _| {
        Ok(if arm == "dirty" { 1 } else { 1000 })
    });
    assert!(
        report
            .effects
            .iter()
            .all(|e| e.conclusion == JitterConclusion::TooFewBlocks && e.interval.is_none())
    );
    assert!(
        report.verdict[0].contains("3 blocks are too few")
            && report.verdict[0].contains("--blocks 8"),
        "{:?}",
        report.verdict
    );
}

#[test]
fn every_block_holds_every_arm_once_in_changing_order() {
    let (report, _) = carried_out(&["idle", "erlang", "dirty"], 20, |_, _| Ok(1));
    let mut orders = BTreeSet::new();
    for block in 0..20 {
        let arms: Vec<&str> = report
            .runs
            .iter()
            .filter(|r| r.block == block)
            .map(|r| r.arm.as_str())
            .collect();
        assert_eq!(arms.iter().collect::<BTreeSet<_>>().len(), 3);
        orders.insert(arms);
    }
    // Each of the six orders has probability 1/6 in each of 20 blocks.
    assert!(orders.len() >= 3, "{orders:?}");
}

#[test]
fn failed_runs_have_no_figures_and_do_not_stop_the_others() {
    let failed = || JitterStatus::Failed {
        why: "it broke".to_owned(),
    };
    let (report, result) = carried_out(&["erlang", "dirty"], 7, |arm, block| {
        if arm == "dirty" && block == 2 {
            Err(failed())
        } else {
            Ok(100)
        }
    });
    result.unwrap();
    assert_eq!((report.arms[1].runs, report.arms[1].failed), (6, 1));
    assert!(report.effects.iter().all(|e| e.blocks == 6));
    assert!(
        report
            .findings
            .iter()
            .any(|f| f.id == "jitter.failed-runs" && f.evidence[0].contains("it broke"))
    );

    let (_, result) = carried_out(&["erlang", "dirty"], 7, |_, _| Err(failed()));
    assert!(matches!(result, Err(JitterError::NothingWorks(why)) if why == "it broke"));
}

#[test]
fn a_stop_keeps_the_runs_that_were_made() {
    let mut report = report(&["erlang", "dirty"], 10);
    let stop = Stop::default();
    let flag = stop.clone();
    let mut fake = Fake(move |_: &str, block: usize| {
        if block == 1 {
            flag.request();
        }
        Ok(5)
    });
    let mut seen = Vec::new();
    let result = run(&mut report, &mut fake, &stop, &mut |p: &Progress<'_>| {
        seen.push((p.done, p.total))
    });
    assert!(matches!(result, Err(JitterError::Stopped)));
    assert_eq!(report.runs.len(), 3);
    assert!(!report.complete);
    assert!(seen.iter().all(|(done, total)| done < total), "{seen:?}");
}
