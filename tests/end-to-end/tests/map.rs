//! `plimsoll map` from outside.

mod common;

use common::Bench;
use serde_json::{Value, json};

const E5_2699: &str = "pack:2 [numa(memory=137438953472)] l3:1 core:22 pu:2";

fn class_of<'a>(map: &'a Value, bind: &str) -> &'a Value {
    map["classes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c.as_array().unwrap().contains(&json!(bind)))
        .unwrap()
}

#[test]
fn this_machine_prints_a_valid_record() {
    let map = Bench::new().json("map", &["map", "--json"]);
    let counted = std::thread::available_parallelism().unwrap().get();
    assert!(map["machine"]["counts"]["allowed"].as_u64().unwrap() as usize >= counted);
    assert_eq!(map["schema"], "plimsoll.map/1");
}

#[test]
fn on_the_published_machine_ts_tnnps_and_db_are_one_placement() {
    let bench = Bench::new();
    let map = bench.json("map", &["map", "--synthetic", E5_2699, "--json"]);
    assert_eq!(*class_of(&map, "ts"), json!(["ts", "tnnps", "db"]));
    let first: Vec<u64> = (0..88).collect();
    assert_eq!(map["bindings"]["ts"], json!(first));
    let text = bench.run(&["map", "--synthetic", E5_2699]).text();
    assert!(text.contains("ts = tnnps = db"), "{text}");
}

#[test]
fn schedulers_and_cpuset_change_the_bindings() {
    let map = Bench::new().json(
        "map",
        &[
            "map",
            "--synthetic",
            E5_2699,
            "--schedulers",
            "3",
            "--cpuset",
            "22-43",
            "--json",
        ],
    );
    assert_eq!(map["bindings"]["ts"], json!([22, 23, 24]));
}

#[test]
fn no_line_is_wider_than_eighty_columns() {
    let bench = Bench::new();
    for words in [
        &["map"][..],
        &["map", "--synthetic", E5_2699],
        &["map", "--synthetic", "pack:8 core:64 pu:2"],
    ] {
        let ended = bench.run(words);
        assert_eq!(ended.code(), 0, "{}", ended.errors());
        for line in ended.text().lines() {
            assert!(line.chars().count() <= 80, "{words:?}: {line}");
        }
    }
}

#[test]
fn bad_input_names_what_is_wrong_and_exits_with_2() {
    let bench = Bench::new();
    let broken = bench.folder.path().join("broken.xml");
    std::fs::write(&broken, "<topology version=\"2.0\"><object type=\"Mach").unwrap();
    for (words, named) in [
        (vec!["map", "--xml", broken.to_str().unwrap()], "broken.xml"),
        (vec!["map", "--xml", "/nowhere/at.all"], "/nowhere/at.all"),
        (vec!["map", "--synthetic", "pack:0 core:banana"], "banana"),
        (vec!["map", "--cpuset", "3-1"], "3-1"),
        (vec!["map", "--schedulers", "0"], "0"),
        (vec!["map", "--cpuset", "9999"], "9999"),
        (vec!["map", "--colour"], "--colour"),
    ] {
        let ended = bench.run(&words);
        assert_eq!(ended.code(), 2, "{words:?}: {}", ended.errors());
        assert!(
            ended.errors().contains(named),
            "{words:?}: {}",
            ended.errors()
        );
        assert!(
            ended.text().is_empty(),
            "{words:?} printed {}",
            ended.text()
        );
    }
}

#[test]
fn an_output_file_is_written_whole_or_not_at_all() {
    let bench = Bench::new();
    assert_eq!(
        bench.run(&["map", "--svg", "--out", "machine.svg"]).code(),
        0
    );
    let svg = std::fs::read_to_string(bench.folder.path().join("machine.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    let ended = bench.run(&["map", "--out", "no/such/folder/map.txt"]);
    assert_eq!(ended.code(), 2);
    assert!(
        ended.errors().contains("no/such/folder/map.txt"),
        "{}",
        ended.errors()
    );
}
