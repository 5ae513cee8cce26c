use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ExperimentStatus, Interval};

/// What `plimsoll runs list --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsList {
    /// Always `plimsoll.runs/1`.
    pub schema: String,
    /// All experiments in the store, newest first.
    pub experiments: Vec<Summary>,
}

impl RunsList {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "plimsoll.runs/1";
}

/// One stored experiment in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Number in the store.
    pub id: i64,
    /// Start, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// Name of the workload.
    pub workload: String,
    /// How far it came.
    pub status: ExperimentStatus,
    /// Names of the arms.
    pub arms: Vec<String>,
    /// The levels.
    pub levels: Vec<u32>,
    /// Runs stored.
    pub runs: usize,
    /// The verdict's sentence, if there is one.
    pub verdict: Option<String>,
}

/// What `plimsoll runs compare --json` prints: two experiments side by side, without a claim, because
/// they were not interleaved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Always `plimsoll.comparison/1`.
    pub schema: String,
    /// Number of the first experiment.
    pub a: i64,
    /// Number of the second experiment.
    pub b: i64,
    /// Arms and levels that both have.
    pub rows: Vec<ComparisonRow>,
    /// What differs between the two besides the arms, and why no claim is made.
    pub cautions: Vec<String>,
}

impl Comparison {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "plimsoll.comparison/1";
}

/// One arm at one level in two experiments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonRow {
    /// Name of the arm.
    pub arm: String,
    /// The level.
    pub level: u32,
    /// Median work per second in the first.
    pub a: f64,
    /// Its interval.
    pub a_interval: Option<Interval>,
    /// Median work per second in the second.
    pub b: f64,
    /// Its interval.
    pub b_interval: Option<Interval>,
}
