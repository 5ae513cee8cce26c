use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BindType, Effect, Finding, Interval, Machine, Run};

/// A design, all its runs, and what follows from them: what `plimsoll bench --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Always `plimsoll.experiment/1`.
    pub schema: String,
    /// Number in the store; 0 when it was not stored.
    pub id: i64,
    /// Version of Plimsoll that ran it.
    pub plimsoll_version: String,
    /// Start, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// How far it came.
    pub status: ExperimentStatus,
    /// What was asked for.
    pub design: Design,
    /// The machine it ran on.
    pub machine: Machine,
    /// The arms: one for each distinct placement and setting.
    pub arms: Vec<Arm>,
    /// The levels.
    pub levels: Vec<u32>,
    /// Every run, in the order in which they were made.
    pub runs: Vec<Run>,
    /// Each arm against the baseline at each level.
    pub effects: Vec<Effect>,
    /// Each arm's throughput at each level against its throughput at level 1.
    pub efficiency: Vec<Efficiency>,
    /// What it means.
    pub verdict: Option<Verdict>,
    /// Drift, throttling, placements not honoured and the like.
    pub findings: Vec<Finding>,
    /// Settings that were in force, from the allow-list, redacted.
    pub settings: BTreeMap<String, String>,
    /// The command that repeats it.
    pub reproduce: String,
}

impl Experiment {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "plimsoll.experiment/1";
}

/// How far an experiment came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentStatus {
    /// Not all blocks have been run: `plimsoll bench --resume ID` goes on.
    Running,
    /// All blocks have been run, or the budget was used up.
    Complete,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Name of the built-in workload, or the command's first word.
    pub workload: String,
    /// The command's words, with `{level}`, `{seconds}` and `{seed}` not yet filled in; empty for a
    /// built-in workload.
    pub command: Vec<String>,
    /// `--env` settings, not yet filled in.
    pub env: BTreeMap<String, String>,
    /// Regular expression whose first group is the figure, from `--metric`.
    pub metric: Option<String>,
    /// Unit of the work counted, for instance `jobs`.
    pub unit: String,
    /// Blocks planned; `None` = as many as fit the budget.
    pub blocks: Option<usize>,
    /// Wall-clock budget in seconds.
    pub budget_seconds: Option<f64>,
    /// Timed window of a run in seconds, warm-up included.
    pub window_seconds: f64,
    /// Family-wise error rate of the experiment's claims.
    pub error_rate: f64,
    /// Seed of the order of runs and of the workload's own randomness.
    pub seed: u64,
    /// Name of the arm that the others are compared with.
    pub baseline: String,
}

/// One placement plus settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arm {
    /// Its name: the first of the bind types or settings that it stands for.
    pub name: String,
    /// All names that it stands for: bind types that are the same placement here.
    pub same_as: Vec<String>,
    /// The bind type; `None` when the arm is not a bind type.
    pub bind: Option<BindType>,
    /// VM flags of the arm, as they go into `ERL_FLAGS`.
    pub vm_flags: Vec<String>,
    /// Environment settings of the arm.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Name of the arm that it is compared with; `None` = the design's baseline.
    #[serde(default)]
    pub against: Option<String>,
    /// The built-in workload that it runs instead of the design's: a ceiling, compared with nothing.
    #[serde(default)]
    pub ceiling: Option<String>,
    /// The CPU of scheduler 1, 2, … that we predict; `null` = unbound; empty = no prediction.
    pub predicted: Vec<Option<u32>>,
}

/// An arm's throughput at a level against its own throughput at level 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Efficiency {
    /// Name of the arm.
    pub arm: String,
    /// The level.
    pub level: u32,
    /// Median work per second over the runs.
    pub ops_per_second: f64,
    /// Interval for the median work per second over runs; `None` = too few runs.
    pub ops_interval: Option<Interval>,
    /// Throughput ÷ throughput at level 1, paired by block; `None` when level 1 was not run.
    pub speedup: Option<f64>,
    /// Interval for the speedup; `None` = too few blocks.
    pub speedup_interval: Option<Interval>,
    /// CPUs that could work on it: min(level, CPUs allowed).
    pub usable_cpus: u32,
    /// Speedup ÷ the ceiling arm's speedup at the same level, paired by block; `None` when the
    /// experiment has no ceiling arm or no level 1.
    #[serde(default)]
    pub of_ceiling: Option<f64>,
    /// Interval for `of_ceiling`; `None` = too few blocks.
    #[serde(default)]
    pub of_ceiling_interval: Option<Interval>,
    /// Time of one job, milliseconds: median over runs of the run's median; `None` = not measured.
    #[serde(default)]
    pub job_median_ms: Option<f64>,
    /// The same of the run's 95th percentile.
    #[serde(default)]
    pub job_p95_ms: Option<f64>,
    /// Runs that it rests on.
    pub runs: usize,
}

/// What an experiment means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// One sentence.
    pub sentence: String,
    /// What it does not say, and what to look at first: further sentences.
    pub notes: Vec<String>,
    /// How to launch with the setting that the evidence supports.
    pub launch: LaunchLine,
}

/// How to launch, and how to see that it took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchLine {
    /// The command line.
    pub command: String,
    /// What to run in the live system, and what it should say.
    pub verify: String,
}

/// What `plimsoll bench --calibrate --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// Always `plimsoll.calibration/1`.
    pub schema: String,
    /// Simulated experiments per figure.
    pub experiments: usize,
    /// Blocks in each.
    pub blocks: usize,
    /// Effects in each.
    pub effects: usize,
    /// The stated error rate.
    pub error_rate: f64,
    /// Share of simulated A/A experiments with any false claim, by kind of noise.
    pub false_claims: BTreeMap<String, f64>,
    /// Share of planted 3 % differences that were found, by kind of noise.
    pub power: BTreeMap<String, f64>,
    /// Share of intervals that contained the true ratio, by kind of noise.
    pub coverage: BTreeMap<String, f64>,
    /// The interval's stated coverage.
    pub stated_coverage: f64,
    /// The real machine's noise floor; `None` when only simulated.
    pub noise_floor: Option<NoiseFloor>,
}

impl Calibration {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "plimsoll.calibration/1";
}

/// What a machine's own noise is, from two identical arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseFloor {
    /// Coefficient of variation of single runs.
    pub run_cv: f64,
    /// Standard deviation of the paired log ratio.
    pub pair_sd: f64,
    /// The effect between the two identical arms.
    pub effect: Effect,
}
