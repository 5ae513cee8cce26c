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
fn a_comparison_looks_as_expected_on_80_columns() {
    let mut other = common::experiment();
    other.id = 13;
    other.effects.remove(0);
    other.settings.clear();
    let text = compare_text(&common::experiment(), &other, 80);
    assert_expected("compare.txt", &text);
    assert!(text.contains("they differ in: settings"));
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
            compare_text(&common::experiment(), &common::hostile(), width),
        ] {
            assert!(widest(&text) <= width, "at {width}:\n{text}");
        }
    }
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

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Whatever the shape, no CPU is lost or drawn twice, on paper or on a terminal.
    #[test]
    fn every_cpu_of_any_machine_is_drawn_once(
        packages in 1u32..4, nodes in 1u32..3, l3s in 1u32..4, cores in 1u32..6, threads in 1u32..5,
        width in 40usize..120,
    ) {
        let machine = common::Builder {
            packages, nodes, l3s, cores, threads, ..common::Builder::default()
        }.build();
        let pus = machine.pus.len();
        let map = common::map_of(machine);
        let svg = map_svg(&map, &[]);
        proptest::prop_assert_eq!(svg.matches("class=\"pu\"").count(), pus);
        let text = map_text(&map, width);
        proptest::prop_assert!(widest(&text) <= width, "{}", text);
        if pus <= 256 {
            let mut cpus: Vec<u32> = text
                .lines()
                .filter(|line| line.starts_with('│'))
                .flat_map(|line| line.split('[').skip(1))
                .filter_map(|cell| cell.split(']').next())
                .flat_map(|cell| cell.split_whitespace())
                .map(|cpu| cpu.parse().unwrap())
                .collect();
            cpus.sort_unstable();
            proptest::prop_assert_eq!(cpus, (0..pus as u32).collect::<Vec<_>>());
        }
    }
}
