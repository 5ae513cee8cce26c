//! What a terminal shows, compared with committed files.
//! `PLIMSOLL_UPDATE_EXPECTED=1 cargo test -p plimsoll-report` rewrites them; read the difference.

mod common;

use std::path::PathBuf;

use plimsoll_report::*;
use plimsoll_schema::*;

fn assert_expected(name: &str, actual: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "expected", name]
        .iter()
        .collect();
    if std::env::var_os("PLIMSOLL_UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (i, (a, b)) in actual.lines().zip(expected.lines()).enumerate() {
        assert_eq!(a, b, "line {} of {name}", i + 1);
    }
    assert_eq!(
        actual.lines().count(),
        expected.lines().count(),
        "lines of {name}"
    );
}

fn widest(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

fn machines() -> Vec<(&'static str, Machine)> {
    vec![
        ("map-1-cpu.txt", common::one_cpu()),
        ("map-2-cores.txt", common::two_cores()),
        ("map-88.txt", common::two_sockets()),
        ("map-192-chiplets.txt", common::chiplets()),
        ("map-1024.txt", common::thousand_cpus()),
        ("map-odd.txt", common::odd()),
        ("map-bare.txt", common::bare()),
    ]
}

#[test]
fn maps_look_as_expected_on_80_columns() {
    for (name, machine) in machines() {
        assert_expected(name, &map_text(&common::map_of(machine), 80));
    }
}

#[test]
fn an_experiment_looks_as_expected_on_80_columns() {
    assert_expected(
        "experiment.txt",
        &experiment_text(&common::experiment(), 80),
    );
}

#[test]
fn a_calibration_looks_as_expected_on_80_columns() {
    assert_expected(
        "calibration.txt",
        &calibration_text(&common::calibration(), 80),
    );
}

#[test]
fn a_list_of_runs_looks_as_expected_on_80_columns() {
    let e = common::experiment();
    let row = RunsRow {
        id: 12,
        started_at_ms: e.started_at_ms,
        workload: "spin".to_owned(),
        status: ExperimentStatus::Complete,
        runs: 60,
        verdict: e.verdict.map(|v| v.sentence),
    };
    let running = RunsRow {
        id: 13,
        status: ExperimentStatus::Running,
        runs: 7,
        verdict: None,
        workload: "ets-counter".to_owned(),
        ..row.clone()
    };
    assert_expected("runs.txt", &runs_table(&[row, running], 80));
    assert!(runs_table(&[], 80).contains("plimsoll bench"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 132] {
        for (name, machine) in machines() {
            let text = map_text(&common::map_of(machine), width);
            assert!(widest(&text) <= width, "{name} at {width}:\n{text}");
        }
        for text in [
            experiment_text(&common::experiment(), width),
            experiment_text(&common::hostile(), width),
            calibration_text(&common::calibration(), width),
        ] {
            assert!(widest(&text) <= width, "at {width}:\n{text}");
        }
    }
}

#[test]
fn every_cpu_of_a_drawn_machine_appears_once() {
    let text = map_text(&common::map_of(common::chiplets()), 80);
    let drawing: String = text
        .lines()
        .filter(|l| l.starts_with('│'))
        .map(|l| l.replace(['[', ']', '│'], " "))
        .map(|l| l.split("MiB").last().unwrap().to_owned() + " ")
        .collect();
    let mut cpus: Vec<u32> = drawing
        .split_whitespace()
        .filter_map(|w| w.parse().ok())
        .collect();
    cpus.sort_unstable();
    cpus.retain(|&cpu| cpu < 192);
    let missing: Vec<u32> = (0..192).filter(|cpu| !cpus.contains(cpu)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn one_placement_under_three_names_is_said() {
    let text = map_text(&common::map_of(common::two_sockets()), 80);
    assert!(
        text.contains("ts = tnnps = db; ps = s; nnts = nnps: one placement each"),
        "{text}"
    );
}

#[test]
fn the_verdict_comes_first() {
    let e = common::experiment();
    let text = experiment_text(&e, 80);
    let first_words = &e.verdict.unwrap().sentence[..40];
    assert!(text.starts_with(first_words), "{text}");
}

#[test]
fn escape_sequences_in_names_do_not_reach_the_terminal() {
    assert!(!experiment_text(&common::hostile(), 80).contains('\u{1b}'));
}

#[test]
fn an_unfinished_experiment_says_how_to_go_on() {
    let mut e = common::experiment();
    e.verdict = None;
    e.status = ExperimentStatus::Running;
    e.effects.clear();
    e.efficiency.clear();
    assert!(experiment_text(&e, 80).contains("--resume 12"));
}

#[test]
fn too_few_blocks_give_no_interval_and_no_claim() {
    let mut e = common::experiment();
    for effect in &mut e.effects {
        effect.interval = None;
        effect.smallest_detectable = None;
        effect.conclusion = Conclusion::TooFewBlocks;
    }
    let text = experiment_text(&e, 80);
    assert!(text.contains("too few"), "{text}");
    assert!(!text.contains("faster\n"), "{text}");
}
