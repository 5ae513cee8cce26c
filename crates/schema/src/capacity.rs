use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Finding;

/// What `plimsoll capacity --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityReport {
    /// Always `plimsoll.capacity/1`.
    pub schema: String,
    /// The experiment that the throughputs come from; `None` = they were given.
    pub experiment: Option<i64>,
    /// Length of the cycle in seconds.
    pub cycle_seconds: f64,
    /// Accepted probability that a round takes longer than the cycle.
    pub risk: f64,
    /// One table for each throughput.
    pub tables: Vec<CapacityTable>,
    /// Contradictions between claimed times and the throughputs, and the like.
    pub findings: Vec<Finding>,
}

impl CapacityReport {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "plimsoll.capacity/1";
}

/// What one arm at one level can carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityTable {
    /// Name of the arm, or how the throughput was given.
    pub arm: String,
    /// The level; `None` when the throughput was given.
    pub level: Option<u32>,
    /// Jobs per second, median over runs.
    pub jobs_per_second: f64,
    /// Jobs per second that a future round falls below with probability `risk`; `None` = it was given
    /// without runs, or there are too few.
    pub jobs_per_second_at_risk: Option<f64>,
    /// Runs that it rests on; 0 = it was given.
    pub runs: usize,
    /// One row for each number of instruments.
    pub rows: Vec<CapacityRow>,
    /// The most instruments that fit the cycle at the risk; `None` = the risk cannot be judged.
    pub most_instruments: Option<u64>,
}

/// One number of instruments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityRow {
    /// Instruments, one job each.
    pub instruments: u64,
    /// Expected wall time of a round, seconds.
    pub seconds: f64,
    /// Wall time that a round exceeds with probability `risk`, seconds; `None` = it cannot be judged.
    pub seconds_at_risk: Option<f64>,
    /// Whether it fits the cycle.
    pub fits: Fits,
    /// Machines like this one needed to fit the cycle; `None` = the risk cannot be judged.
    pub machines: Option<u64>,
}

/// Whether a round fits the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fits {
    /// At the accepted risk.
    Yes,
    /// On average, but it overruns more often than the risk accepts.
    NotAtThisRisk,
    /// On average, from a throughput given without runs: the risk cannot be judged.
    OnAverage,
    /// Not even on average.
    No,
}
