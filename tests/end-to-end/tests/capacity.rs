//! `plimsoll capacity` from outside.

mod common;

use common::{Bench, assert_valid};
use serde_json::{Value, json};

#[test]
fn a_told_throughput_gives_the_arithmetic_and_no_risk() {
    let record = Bench::new().json(
        "capacity",
        &[
            "capacity",
            "--cycle",
            "20m",
            "--instruments",
            "1000,1400",
            "--from-throughput",
            "0.98",
            "--json",
        ],
    );
    let rows = &record["tables"][0]["rows"];
    assert!(
        (rows[0]["seconds"].as_f64().unwrap() / 60.0 - 17.0).abs() < 0.05,
        "{rows}"
    );
    assert!(
        (rows[1]["seconds"].as_f64().unwrap() / 60.0 - 23.8).abs() < 0.05,
        "{rows}"
    );
    assert_eq!(rows[0]["fits"], "on_average");
    assert_eq!(rows[1]["fits"], "no");
    assert_eq!(record["tables"][0]["most_instruments"], Value::Null);
}

#[test]
fn the_published_table_is_flagged_and_exits_with_1() {
    let bench = Bench::new();
    let mut words = vec![
        "capacity",
        "--cycle",
        "20m",
        "--instruments",
        "1000",
        "--from-throughput",
        "0.73,0.87,0.88,0.98",
    ];
    for claim in [
        "100=1.4m",
        "500=7.2m",
        "1000=14.4m",
        "1400=20.1m",
        "2000=28.7m",
    ] {
        words.extend(["--claimed", claim]);
    }
    words.push("--json");
    let ended = bench.run(&words);
    assert_eq!(ended.code(), 1, "{}", ended.errors());
    let record: Value = serde_json::from_str(&ended.text()).unwrap();
    assert_valid("capacity", &record);
    assert_eq!(
        record["findings"][0]["id"],
        json!("capacity.faster-than-measured")
    );
}

#[test]
fn a_stored_experiment_is_judged_by_its_runs() {
    let bench = Bench::new();
    let ended = bench.run(&[
        "bench",
        "--blocks",
        "6",
        "--quiet",
        "--metric",
        "([0-9.]+)",
        "--",
        "sh",
        "-c",
        "echo 0.9$PLIMSOLL_SEED",
    ]);
    assert_eq!(ended.code(), 0, "{}", ended.errors());
    let record = bench.json(
        "capacity",
        &[
            "capacity",
            "--cycle",
            "20m",
            "--instruments",
            "100,5000",
            "--json",
        ],
    );
    let table = &record["tables"][0];
    assert_eq!(table["runs"], 6);
    let most = table["most_instruments"].as_u64().unwrap();
    assert!((900..1200).contains(&most), "{most}");
    assert_eq!(table["rows"][0]["fits"], "yes");
    assert_eq!(table["rows"][1]["fits"], "no");
}

#[test]
fn bad_usage_names_the_option() {
    let bench = Bench::new();
    for (words, named) in [
        (
            vec![
                "capacity",
                "--cycle",
                "20m",
                "--instruments",
                "0",
                "--from-throughput",
                "1",
            ],
            "--instruments",
        ),
        (
            vec![
                "capacity",
                "--cycle",
                "20m",
                "--instruments",
                "1",
                "--from-throughput",
                "0",
            ],
            "throughput",
        ),
        (
            vec![
                "capacity",
                "--cycle",
                "20m",
                "--instruments",
                "1",
                "--risk",
                "2",
                "--from-throughput",
                "1",
            ],
            "--risk",
        ),
        (
            vec![
                "capacity",
                "--cycle",
                "20m",
                "--instruments",
                "1",
                "--from-throughput",
                "1",
                "--claimed",
                "x",
            ],
            "--claimed x",
        ),
        (
            vec!["capacity", "--cycle", "20m", "--instruments", "1"],
            "store is empty",
        ),
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
