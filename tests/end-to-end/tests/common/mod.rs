//! Runs the built program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The program that `./x` built.
pub fn program() -> PathBuf {
    let path = std::env::var_os("PLIMSOLL").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.build/prefix/bin/plimsoll"),
        PathBuf::from,
    );
    assert!(
        path.is_file(),
        "{} is not built: run `./x test cli`, which builds it",
        path.display()
    );
    path
}

/// A store and a folder of its own for one test.
pub struct Bench {
    pub folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(words)
            .env("PLIMSOLL_STORE", self.store())
            .env_remove("COLUMNS")
            .current_dir(self.folder.path());
        command
    }

    pub fn store(&self) -> PathBuf {
        self.folder.path().join("runs.db")
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        Ended(self.command(words).output().unwrap())
    }

    /// The record that it prints; it must be valid against the documented schema of that name.
    pub fn json(&self, schema: &str, words: &[&str]) -> Value {
        let ended = self.run(words);
        assert_eq!(ended.code(), 0, "{words:?}: {}", ended.errors());
        let record: Value = serde_json::from_str(&ended.text()).unwrap();
        assert_valid(schema, &record);
        record
    }
}

pub struct Ended(pub Output);

impl Ended {
    pub fn code(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn errors(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }
}

pub fn assert_valid(schema: &str, record: &Value) {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schemas/{schema}.json"));
    let documented: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&documented).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(record)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{schema}: {errors:#?}");
}
