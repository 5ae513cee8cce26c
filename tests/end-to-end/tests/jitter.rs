//! `plimsoll jitter` from outside, with real VMs.

mod common;

use std::time::{Duration, Instant};

use common::{Bench, assert_valid};
use serde_json::Value;

/// Many times what a run needs on a loaded machine.
const BOUND: Duration = Duration::from_secs(120);

/// What stops every scheduler of a stock emulator, as a native function that blocks does.
const UNLOCK: &str = "_ = erts_debug:set_internal_state(available_internal_state, true)";
const BLOCK: &str = "erts_debug:set_internal_state(block, 600000)";

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["jitter", "--json", "--quiet", "--window", "200ms"];
    words.extend(more);
    if !more.contains(&"--blocks") {
        words.extend(["--blocks", "1"]);
    }
    words
}

fn arm<'a>(record: &'a Value, name: &str) -> &'a Value {
    record["arms"]
        .as_array()
        .unwrap()
        .iter()
        .find(|arm| arm["name"] == name)
        .unwrap()
}

#[test]
fn every_wake_up_of_every_arm_is_recorded() {
    let arms = "idle,spin,erlang,yielding,dirty,automatic,matrix-yielding,nif-spin";
    let record = Bench::new().json("jitter", &small(&["--arms", arms, "--input-bytes", "500"]));
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), arms.split(',').count());
    for run in runs {
        assert_eq!(run["status"]["kind"], "ok", "{run}");
        // Twenty probes, an intended time every 10 ms for 200 ms.
        assert_eq!(run["wakeups"], 400, "{run}");
        let bars: u64 = run["histogram"]
            .as_array()
            .unwrap()
            .iter()
            .map(|b| b["count"].as_u64().unwrap())
            .sum();
        assert_eq!(bars, 400);
        let figure = |name: &str| run["lateness"][name].as_u64().unwrap();
        assert!(figure("median_us") <= figure("p99_us") && figure("p99_us") <= figure("worst_us"));
        if run["arm"] != "idle" {
            assert!(run["jobs_per_second"].as_f64().unwrap() > 0.0, "{run}");
        }
    }
    assert_eq!(arm(&record, "dirty")["runs"], 1);
    assert_eq!(record["design"]["baseline"], "erlang");
}

#[test]
fn a_worker_that_blocks_every_scheduler_is_reported_and_ended() {
    let start = Instant::now();
    let record = Bench::new().json(
        "jitter",
        &small(&[
            "--arms",
            "eval",
            "--eval",
            BLOCK,
            "--with",
            UNLOCK,
            "--patience",
            "1s",
            "--blocks",
            "4",
        ]),
    );
    assert!(start.elapsed() < BOUND);
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "two runs are enough to know");
    for run in runs {
        assert_eq!(run["status"]["kind"], "blocked", "{run}");
        assert!(run["status"]["seconds"].as_f64().unwrap() >= 1.0, "{run}");
        assert!(run["lower_bounds"].as_u64().unwrap() > 0, "{run}");
        assert!(
            run["lateness"]["worst_us"].as_u64().unwrap() > 100_000,
            "{run}"
        );
    }
    assert!(
        record["verdict"][0]
            .as_str()
            .unwrap()
            .contains("schedulers blocked for"),
        "{}",
        record["verdict"]
    );
}

#[test]
fn a_native_function_that_does_not_yield_blocks_although_each_call_is_short() {
    // Thousands of calls count as one turn of the process.
    let record = Bench::new().json(
        "jitter",
        &small(&[
            "--arms",
            "blocking",
            "--input-bytes",
            "60000",
            "--patience",
            "1s",
        ]),
    );
    assert_eq!(
        record["runs"][0]["status"]["kind"], "blocked",
        "{}",
        record["runs"][0]["status"]
    );
}

#[test]
fn a_gate_fails_when_an_arm_blocks() {
    let mut words = small(&[
        "--arms",
        "eval",
        "--eval",
        BLOCK,
        "--with",
        UNLOCK,
        "--patience",
        "1s",
    ]);
    words.push("--fail-if-late");
    let ended = Bench::new().run(&words);
    assert_eq!(ended.code(), 1, "{}", ended.errors());
    assert_valid("jitter", &serde_json::from_str(&ended.text()).unwrap());
}

#[test]
fn an_audit_tells_dirty_calls_from_others_and_names_what_was_not_called() {
    let record = Bench::new().json(
        "jitter",
        &[
            "jitter", "--json", "--quiet", "--window", "400ms", "--audit", "Plimsoll.Native", "--eval",
            "'Elixir.Plimsoll.Native':spin(1, 2000000), 'Elixir.Plimsoll.Native':levenshtein_matrix(blocking, A, A)",
            "--with", "A = rand:bytes(2000)",
        ],
    );
    let audit = &record["audit"];
    let function = |name: &str| {
        audit["functions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|f| f["function"] == name)
            .unwrap_or_else(|| panic!("{name}: {audit}"))
    };
    let (spin, matrix) = (function("spin/2"), function("levenshtein_matrix/3"));
    assert_eq!(spin["native"], true);
    assert!(
        spin["dirty_calls"].as_u64().unwrap() + 4 >= spin["calls"].as_u64().unwrap(),
        "{spin}"
    );
    assert_eq!(matrix["dirty_calls"], 0, "{matrix}");
    // Four million cells take milliseconds on any machine; what a dirty call does on a normal
    // scheduler takes microseconds.
    assert!(
        matrix["holds"]["median_us"].as_u64().unwrap() > 1_000,
        "{matrix}"
    );
    assert!(
        spin["holds"]["median_us"].as_u64().unwrap() < 1_000,
        "{spin}"
    );
    assert!(
        audit["not_called"]
            .as_array()
            .unwrap()
            .iter()
            .any(|f| f == "levenshtein_many/5"),
        "{audit}"
    );
}

#[test]
fn the_table_fits_80_columns_and_the_report_is_one_file() {
    let bench = Bench::new();
    let report = bench.folder.path().join("jitter.html");
    let words = [
        "jitter",
        "--arms",
        "idle,spin",
        "--window",
        "100ms",
        "--blocks",
        "6",
        "--report",
        report.to_str().unwrap(),
    ];
    let ended = bench.run(&words);
    assert_eq!(ended.code(), 0, "{}", ended.errors());
    for line in ended.text().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let html = std::fs::read_to_string(&report).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("<svg class=\"plot\""));
    assert!(!html.contains("<script") && !html.contains("http://") && !html.contains("https://"));
    assert!(
        ended.errors().contains("block 6 of 6"),
        "{}",
        ended.errors()
    );
}

#[test]
fn bad_usage_names_the_option_and_exits_with_2() {
    let bench = Bench::new();
    for (words, named) in [
        (vec!["--arms", "idel"], "idel"),
        (vec!["--arms", "idle,idle"], "twice"),
        (vec!["--arms", "eval"], "--eval"),
        (
            vec!["--arms", "idle", "--baseline", "spin"],
            "--baseline spin",
        ),
        (vec!["--period", "1.5ms"], "whole milliseconds"),
        (vec!["--period", "2s", "--window", "1s"], "--window"),
        (vec!["--blocks", "0"], "--blocks"),
        (vec!["--error-rate", "2"], "--error-rate"),
        (vec!["--pa", "/no/such/folder"], "/no/such/folder"),
        (vec!["--audit", "lists"], "--eval"),
        (
            vec!["--audit", "no_such_module", "--eval", "ok"],
            "no_such_module",
        ),
        (vec!["--eval", "foo(", "--blocks", "1"], "--eval"),
        (
            vec!["--eval", "ok", "--with", "1 = 2", "--blocks", "1"],
            "--with",
        ),
    ] {
        let mut all = vec!["jitter", "--quiet"];
        all.extend(&words);
        let ended = bench.run(&all);
        assert_eq!(ended.code(), 2, "{words:?}: {}", ended.errors());
        assert!(
            ended.errors().contains(named),
            "{words:?}: {}",
            ended.errors()
        );
    }
}

#[test]
fn an_expression_that_fails_is_quoted_with_its_reason() {
    let ended = Bench::new().run(&[
        "jitter",
        "--quiet",
        "--arms",
        "eval",
        "--eval",
        "no_such:work()",
        "--blocks",
        "1",
    ]);
    assert_eq!(ended.code(), 3);
    assert!(ended.errors().contains("no_such"), "{}", ended.errors());
}

#[test]
fn a_dry_run_says_what_would_be_run() {
    let ended = Bench::new().run(&["jitter", "--dry-run"]);
    assert_eq!(ended.code(), 0);
    assert!(
        ended.text().contains("10 blocks of 7 runs"),
        "{}",
        ended.text()
    );
}
