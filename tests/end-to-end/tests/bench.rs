//! `plimsoll bench` and `plimsoll runs` from outside, with real VMs and real processes.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use common::{Bench, assert_valid};
use serde_json::{Value, json};

/// A workload that speaks the protocol and needs no VM: ten samples, in a tenth of a second.
fn talker(bench: &Bench) -> String {
    let path = bench.folder.path().join("talker");
    let script = r#"#!/bin/sh
for i in 1 2 3 4 5 6 7 8 9 10; do
  echo "{\"plimsoll\":1,\"event\":\"sample\",\"ops\":$((100 * PLIMSOLL_LEVEL)),\"seconds\":0.01}"
  sleep 0.01
done
echo '{"plimsoll":1,"event":"done","ops":1000,"seconds":0.1}'
"#;
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_vm_is_bound_as_its_arm_says() {
    let record = Bench::new().json(
        "experiment",
        &[
            "bench", "spin", "--arms", "u,db", "--levels", "1", "--blocks", "1", "--window",
            "400ms", "--json", "--quiet",
        ],
    );
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(run["status"]["kind"], "ok", "{run}");
        let arm = record["arms"]
            .as_array()
            .unwrap()
            .iter()
            .find(|a| a["name"] == run["arm"])
            .unwrap();
        assert_eq!(
            run["vm"]["bindings"], arm["predicted"],
            "the VM's own word against our prediction"
        );
    }
}

#[test]
fn bind_types_that_are_one_placement_are_one_arm() {
    let record = Bench::new().json(
        "experiment",
        &[
            "bench",
            "spin",
            "--arms",
            "u,db,tnnps",
            "--levels",
            "1",
            "--blocks",
            "1",
            "--window",
            "300ms",
            "--json",
            "--quiet",
        ],
    );
    assert_eq!(record["arms"].as_array().unwrap().len(), 2);
    assert_eq!(record["arms"][1]["same_as"], json!(["db", "tnnps"]));
}

#[test]
fn a_dirty_nif_is_seen_to_escape_the_binding() {
    let record = Bench::new().json(
        "experiment",
        &[
            "bench", "nif-spin", "--arms", "u,db", "--levels", "2", "--blocks", "1", "--window",
            "600ms", "--json", "--quiet",
        ],
    );
    let findings = record["findings"].as_array().unwrap();
    let allowed = record["machine"]["counts"]["allowed"].as_u64().unwrap();
    if allowed > 1 {
        assert!(
            findings.iter().any(|f| f["id"] == "bind.dirty-unbound"),
            "{findings:#?}"
        );
    }
}

#[test]
fn a_command_of_ones_own_is_measured_through_the_protocol() {
    let bench = Bench::new();
    let talker = talker(&bench);
    let record = bench.json(
        "experiment",
        &[
            "bench", "--levels", "1,3", "--blocks", "6", "--unit", "jobs", "--json", "--quiet",
            "--", &talker,
        ],
    );
    for row in record["efficiency"].as_array().unwrap() {
        let expected = 10_000.0 * row["level"].as_f64().unwrap();
        assert!(
            (row["ops_per_second"].as_f64().unwrap() - expected).abs() < 1e-6,
            "{row}"
        );
    }
    let speedup = record["efficiency"][1]["speedup"].as_f64().unwrap();
    assert!((speedup - 3.0).abs() < 1e-9, "{speedup}");
}

#[test]
fn a_command_that_starts_no_vm_refuses_bind_arms() {
    let ended = Bench::new().run(&["bench", "--arms", "u,db", "--quiet", "--", "true"]);
    assert_eq!(ended.code(), 3);
    assert!(
        ended.errors().contains("starts no BEAM"),
        "{}",
        ended.errors()
    );
}

#[test]
fn a_metric_is_taken_from_the_last_match() {
    let record = Bench::new().json(
        "experiment",
        &[
            "bench",
            "--metric",
            "rate: ([0-9.]+)",
            "--blocks",
            "1",
            "--json",
            "--quiet",
            "--",
            "sh",
            "-c",
            "echo rate: 1; echo rate: 41.5",
        ],
    );
    assert_eq!(record["runs"][0]["ops_per_second"], json!(41.5));
}

#[test]
fn bad_usage_names_the_option_and_exits_with_2() {
    let bench = Bench::new();
    for (words, named) in [
        (vec!["bench"], "say what to run"),
        (vec!["bench", "spinn"], "spinn"),
        (vec!["bench", "spin", "--arms", "u,xs"], "xs"),
        (vec!["bench", "spin", "--arms", "u,u"], "`u` is named twice"),
        (vec!["bench", "spin", "--levels", "0"], "--levels"),
        (vec!["bench", "spin", "--blocks", "0"], "--blocks"),
        (vec!["bench", "spin", "--budget", "soon"], "soon"),
        (vec!["bench", "spin", "--error-rate", "7"], "--error-rate"),
        (vec!["bench", "spin", "--arm", "quiet"], "--arm quiet"),
        (vec!["bench", "spin", "--env", "NAME"], "--env NAME"),
        (vec!["bench", "--metric", "(", "--", "true"], "--metric"),
        (vec!["bench", "--resume", "12"], "12"),
        (vec!["runs", "show", "12"], "no experiment 12"),
    ] {
        let ended = bench.run(&words);
        assert_eq!(ended.code(), 2, "{words:?}: {}", ended.errors());
        assert!(
            ended.errors().contains(named),
            "{words:?}: {}",
            ended.errors()
        );
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let ended = Bench::new().run(&["bench", "--quiet", "--", "no-such-program-here"]);
    assert_eq!(ended.code(), 3);
    assert!(
        ended.errors().contains("no-such-program-here"),
        "{}",
        ended.errors()
    );
}

#[test]
fn an_interrupted_experiment_keeps_its_runs_and_resumes() {
    let bench = Bench::new();
    let talker = talker(&bench);
    let mut child = bench
        .command(&["bench", "--blocks", "40", "--quiet", "--", &talker])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_runs(&bench, 3);
    // SAFETY: plain integers; the process is our own child and has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let before = bench.json("runs", &["runs", "list", "--json"]);
    assert_eq!(before["experiments"][0]["status"], "running");
    assert!(before["experiments"][0]["runs"].as_u64().unwrap() >= 3);

    let after = bench.json(
        "experiment",
        &["bench", "--resume", "1", "--json", "--quiet"],
    );
    assert_eq!(after["status"], "complete");
    assert_eq!(after["runs"].as_array().unwrap().len(), 40);
}

#[test]
fn a_killed_experiment_loses_at_most_the_run_in_progress() {
    let bench = Bench::new();
    let talker = talker(&bench);
    let mut child = bench
        .command(&["bench", "--blocks", "40", "--quiet", "--", &talker])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for_runs(&bench, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = bench.json("experiment", &["runs", "show", "1", "--json"]);
    let orders: Vec<u64> = kept["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["order"].as_u64().unwrap())
        .collect();
    assert!(orders.len() >= 3);
    assert_eq!(
        orders,
        (0..orders.len() as u64).collect::<Vec<_>>(),
        "no hole"
    );
    let after = bench.json(
        "experiment",
        &["bench", "--resume", "1", "--json", "--quiet"],
    );
    assert_eq!(after["runs"].as_array().unwrap().len(), 40);
}

fn wait_for_runs(bench: &Bench, runs: i64) {
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < Duration::from_secs(60), "no runs came");
        std::thread::sleep(Duration::from_millis(50));
        let Ok(db) = rusqlite::Connection::open_with_flags(
            bench.store(),
            rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
        ) else {
            continue;
        };
        let stored: i64 = db
            .query_row("SELECT count(*) FROM run", [], |row| row.get(0))
            .unwrap_or(0);
        if stored >= runs {
            return;
        }
    }
}

#[test]
fn stored_runs_are_listed_shown_compared_and_exported() {
    let bench = Bench::new();
    let talker = talker(&bench);
    for _ in 0..2 {
        assert_eq!(
            bench
                .run(&["bench", "--blocks", "6", "--quiet", "--", &talker])
                .code(),
            0
        );
    }
    assert_eq!(
        bench.json("runs", &["runs", "list", "--json"])["experiments"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        bench.json("comparison", &["runs", "compare", "1", "2", "--json"])["rows"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(
        bench
            .run(&["runs", "compare", "1", "2"])
            .text()
            .contains("No claim follows from this")
    );

    let exported: Value =
        serde_json::from_str(&bench.run(&["runs", "export", "1"]).text()).unwrap();
    assert_valid("experiment", &exported);
    let csv = bench
        .run(&["runs", "export", "1", "--format", "csv"])
        .text();
    assert_eq!(csv.lines().count(), 7);
    let html = bench
        .run(&["runs", "export", "1", "--format", "html"])
        .text();
    assert!(
        html.to_lowercase().starts_with("<!doctype html>"),
        "{}",
        &html[..80.min(html.len())]
    );
}

#[test]
fn a_gate_fails_only_when_an_arm_is_slower() {
    let bench = Bench::new();
    let talker = talker(&bench);
    assert_eq!(
        bench
            .run(&[
                "bench",
                "--blocks",
                "6",
                "--quiet",
                "--fail-if-slower",
                "--",
                &talker
            ])
            .code(),
        0
    );
}

#[test]
fn a_dry_run_says_what_would_be_run_and_stores_nothing() {
    let bench = Bench::new();
    let ended = bench.run(&[
        "bench",
        "spin",
        "--arms",
        "u,db",
        "--levels",
        "1,2",
        "--dry-run",
    ]);
    assert_eq!(ended.code(), 0);
    assert!(
        ended.text().contains("blocks of 4 runs"),
        "{}",
        ended.text()
    );
    assert!(!bench.store().exists());
}

#[test]
fn the_manual_and_the_completions_name_every_verb() {
    let bench = Bench::new();
    let manual = bench.run(&["man"]).text();
    for verb in ["map", "bench", "runs"] {
        assert!(manual.contains(verb), "{verb}");
        for shell in ["bash", "zsh", "fish"] {
            assert!(
                bench.run(&["completions", shell]).text().contains(verb),
                "{shell}, {verb}"
            );
        }
    }
}
