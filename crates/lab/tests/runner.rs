//! Order, budget, interruption and storage, without starting a process.

mod common;

use std::time::Duration;

use common::{Fake, experiment, wobble};
use plimsoll_lab::{RunError, RunnerError, Stop, Store, run};
use plimsoll_schema::ExperimentStatus;

fn nothing(_: &plimsoll_lab::Progress<'_>) {}

#[test]
fn every_block_holds_every_arm_at_every_level() {
    let mut e = experiment(&["u", "ts", "ps"], &[1, 4], Some(5));
    run(
        &mut e,
        &mut Fake(|_: &_, p: &_| Ok(wobble(p))),
        None,
        &Stop::default(),
        Duration::ZERO,
        &mut nothing,
    )
    .unwrap();
    assert_eq!(e.status, ExperimentStatus::Complete);
    assert_eq!(e.runs.len(), 30);
    for block in 0..5 {
        for arm in ["u", "ts", "ps"] {
            for level in [1, 4] {
                let found = e
                    .runs
                    .iter()
                    .filter(|r| r.block == block && r.arm == arm && r.level == level)
                    .count();
                assert_eq!(found, 1, "block {block}, arm {arm}, level {level}");
            }
        }
    }
}

#[test]
fn an_interrupted_experiment_resumes_to_the_same_runs_as_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("runs.db")).unwrap();

    let mut whole = experiment(&["u", "ts"], &[1, 2], Some(4));
    run(
        &mut whole,
        &mut Fake(|_: &_, p: &_| Ok(wobble(p))),
        None,
        &Stop::default(),
        Duration::ZERO,
        &mut nothing,
    )
    .unwrap();

    let mut first = experiment(&["u", "ts"], &[1, 2], Some(4));
    store.add(&mut first).unwrap();
    let stop = Stop::default();
    let mut made = 0;
    let mut executor = Fake(|_: &_, p: &_| {
        made += 1;
        if made == 7 {
            stop.request();
        }
        Ok(wobble(p))
    });
    let end = run(
        &mut first,
        &mut executor,
        Some(&mut store),
        &stop,
        Duration::ZERO,
        &mut nothing,
    );
    assert!(matches!(end, Err(RunnerError::Run(RunError::Stopped))));

    // A new process knows only what the store holds.
    let (mut second, elapsed) = store.load(first.id).unwrap();
    assert_eq!(second.runs.len(), 7);
    assert_eq!(second.status, ExperimentStatus::Running);
    run(
        &mut second,
        &mut Fake(|_: &_, p: &_| Ok(wobble(p))),
        Some(&mut store),
        &Stop::default(),
        elapsed,
        &mut nothing,
    )
    .unwrap();
    assert_eq!(second.runs, whole.runs);
    assert_eq!(store.load(first.id).unwrap().0.runs, whole.runs);
}

#[test]
fn a_budget_ends_with_a_whole_block_and_runs_at_least_one() {
    let mut e = experiment(&["u", "ts"], &[1], None);
    e.design.budget_seconds = Some(0.001);
    let slow = |_: &plimsoll_schema::Arm, p: &plimsoll_lab::Planned| {
        std::thread::sleep(Duration::from_millis(2));
        Ok(wobble(p))
    };
    run(
        &mut e,
        &mut Fake(slow),
        None,
        &Stop::default(),
        Duration::ZERO,
        &mut nothing,
    )
    .unwrap();
    assert_eq!(e.runs.len(), 2);
    assert_eq!(e.status, ExperimentStatus::Complete);
}

#[test]
fn time_used_before_an_interruption_counts_against_the_budget() {
    let mut e = experiment(&["u", "ts"], &[1], None);
    e.design.budget_seconds = Some(3600.0);
    let spent = Duration::from_secs(3600);
    run(
        &mut e,
        &mut Fake(|_: &_, p: &_| Ok(wobble(p))),
        None,
        &Stop::default(),
        spent,
        &mut nothing,
    )
    .unwrap();
    assert_eq!(e.runs.len(), 2, "only the block that was under way");
}

#[test]
fn a_failing_workload_ends_the_experiment_after_one_block() {
    let mut e = experiment(&["u", "ts"], &[1], Some(10));
    let mut executor = Fake(|_: &_, _: &_| Err("it ended with exit status: 1".to_owned()));
    let end = run(
        &mut e,
        &mut executor,
        None,
        &Stop::default(),
        Duration::ZERO,
        &mut nothing,
    );
    let why = end.unwrap_err().to_string();
    assert_eq!(
        why,
        "every run of the first block failed: it ended with exit status: 1"
    );
    assert_eq!(e.runs.len(), 2);
}

#[test]
fn a_single_failure_is_kept_and_the_experiment_goes_on() {
    let mut e = experiment(&["u", "ts"], &[1], Some(8));
    let mut executor = Fake(|_: &_, p: &plimsoll_lab::Planned| {
        if p.order == 5 {
            Err("killed".to_owned())
        } else {
            Ok(wobble(p))
        }
    });
    run(
        &mut e,
        &mut executor,
        None,
        &Stop::default(),
        Duration::ZERO,
        &mut nothing,
    )
    .unwrap();
    plimsoll_lab::analyse(&mut e);
    assert_eq!(e.runs.len(), 16);
    assert_eq!(
        e.effects[0].blocks, 7,
        "the pair of the failed run is left out"
    );
    assert_eq!(e.findings[0].id, "lab.failed-runs");
}

#[test]
fn a_store_of_a_newer_plimsoll_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(Store::open(&path).unwrap());
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 99")
        .unwrap();
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(error.contains("layout 99"), "{error}");
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text =
        "these are my notes, not a database, and they are long enough to be looked at\n".repeat(20);
    std::fs::write(&path, &text).unwrap();
    assert!(Store::open(&path).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}
