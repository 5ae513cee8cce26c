//! What an experiment says, for figures whose truth is known.

mod common;

use std::time::Duration;

use common::{Fake, experiment, wobble};
use plimsoll_lab::{Planned, Stop, analyse, run};
use plimsoll_schema::{Arm, Conclusion, Experiment};

fn carried_out(
    arms: &[&str],
    levels: &[u32],
    blocks: usize,
    figure: fn(&Arm, &Planned) -> f64,
) -> Experiment {
    let mut e = experiment(arms, levels, Some(blocks));
    run(
        &mut e,
        &mut Fake(|a: &_, p: &_| Ok(figure(a, p) * wobble(p))),
        None,
        &Stop::default(),
        Duration::ZERO,
        &mut |_| {},
    )
    .unwrap();
    analyse(&mut e);
    e
}

fn sentence(e: &Experiment) -> &str {
    &e.verdict.as_ref().unwrap().sentence
}

#[test]
fn a_real_gain_is_claimed_with_its_interval_and_a_launch_line() {
    let e = carried_out(&["u", "ts"], &[1, 2], 12, |arm, _| {
        if arm.name == "ts" { 1.06 } else { 1.0 }
    });
    for effect in &e.effects {
        assert_eq!(effect.conclusion, Conclusion::Faster);
        let interval = effect.interval.unwrap();
        assert!(interval.low < 1.06 && 1.06 < interval.high, "{interval:?}");
    }
    assert!(sentence(&e).starts_with("ts does"), "{}", sentence(&e));
    assert!(sentence(&e).ends_with("use ts."), "{}", sentence(&e));
    assert!(
        e.verdict
            .unwrap()
            .launch
            .command
            .contains("ERL_FLAGS=\"+sbt ts\"")
    );
}

#[test]
fn equal_arms_keep_the_baseline_and_say_what_would_have_been_found() {
    let e = carried_out(&["u", "ts"], &[1], 12, |_, _| 1.0);
    assert_eq!(e.effects[0].conclusion, Conclusion::NoDifferenceSeen);
    assert!(
        sentence(&e).starts_with("No difference between u and ts in 12 blocks; a difference of"),
        "{}",
        sentence(&e)
    );
    assert!(
        e.verdict
            .unwrap()
            .launch
            .command
            .contains("the default was not beaten")
    );
}

#[test]
fn too_few_blocks_claim_nothing_and_say_how_many_are_needed() {
    let e = carried_out(&["u", "ts"], &[1], 3, |arm, _| {
        if arm.name == "ts" { 2.0 } else { 1.0 }
    });
    assert_eq!(e.effects[0].conclusion, Conclusion::TooFewBlocks);
    assert_eq!(
        sentence(&e),
        "3 blocks are too few to claim anything at an error rate of 5 % over 1 comparison: run at least 6 (--blocks 6)."
    );
}

#[test]
fn an_arm_that_wins_at_one_level_and_loses_at_another_is_not_recommended() {
    let e = carried_out(&["u", "ts"], &[1, 2], 12, |arm, p| {
        match (arm.name.as_str(), p.level) {
            ("ts", 1) => 1.1,
            ("ts", _) => 0.9,
            _ => 1.0,
        }
    });
    assert!(sentence(&e).ends_with("keep u."), "{}", sentence(&e));
}

#[test]
fn jobs_that_do_not_scale_are_told_to_look_for_the_serial_part() {
    // The published table: 44 jobs on 44 cores run 3.7 times as fast as one.
    let mut e = experiment(&["ts"], &[1, 44], Some(8));
    e.machine.counts.allowed = 88;
    run(
        &mut e,
        &mut Fake(|_: &_, p: &Planned| Ok(wobble(p) * if p.level == 1 { 1.0 } else { 3.7 })),
        None,
        &Stop::default(),
        Duration::ZERO,
        &mut |_| {},
    )
    .unwrap();
    analyse(&mut e);
    let notes = e.verdict.unwrap().notes.join("\n");
    assert!(notes.contains("44 jobs run 3.7"), "{notes}");
    assert!(notes.contains("find the serial part first"), "{notes}");
}

#[test]
fn an_experiment_loaded_again_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = plimsoll_lab::Store::open(&folder.path().join("runs.db")).unwrap();
    let mut e = experiment(&["u", "ts"], &[1, 2], Some(10));
    store.add(&mut e).unwrap();
    run(
        &mut e,
        &mut Fake(|_: &_, p: &_| Ok(wobble(p))),
        Some(&mut store),
        &Stop::default(),
        Duration::ZERO,
        &mut |_| {},
    )
    .unwrap();
    analyse(&mut e);
    store.update(&e).unwrap();
    let (mut again, _) = store.load(e.id).unwrap();
    analyse(&mut again);
    assert_eq!(again, e);
}
