use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, Interval, Machine};

/// How late processes wake up inside a VM under load: what `plimsoll jitter --json` prints. Every
/// lateness is measured against the intended time of a closed schedule, in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JitterReport {
    /// Always `plimsoll.jitter/1`.
    pub schema: String,
    /// Version of Plimsoll that ran it.
    pub plimsoll_version: String,
    /// Start, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// Whether all planned runs were made.
    pub complete: bool,
    /// What was asked for.
    pub design: JitterDesign,
    /// The machine it ran on.
    pub machine: Machine,
    /// What the VM said of itself; `None` = no run got so far.
    pub vm: Option<JitterVm>,
    /// Each arm over all its runs, in the order asked for.
    pub arms: Vec<JitterArm>,
    /// Every run, in the order in which they were made.
    pub runs: Vec<JitterRun>,
    /// Each arm against the baseline, for each statistic.
    pub effects: Vec<JitterEffect>,
    /// What an audited module's functions do to the schedulers; `None` = nothing was audited.
    pub audit: Option<JitterAudit>,
    /// What it means: sentences, the most important one first.
    pub verdict: Vec<String>,
    /// What a reader must know before believing the figures.
    pub findings: Vec<Finding>,
    /// Settings that were in force, from the allow-list, redacted.
    pub settings: BTreeMap<String, String>,
    /// The command that repeats it.
    pub reproduce: String,
}

impl JitterReport {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "plimsoll.jitter/1";
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JitterDesign {
    /// Names of the arms: what the workers do.
    pub arms: Vec<String>,
    /// The arm that the others are compared with.
    pub baseline: String,
    /// Blocks planned: each holds one run of every arm, in random order.
    pub blocks: usize,
    /// Processes that wake on the schedule.
    pub probes: u32,
    /// Time between two intended wake-ups of a probe, milliseconds.
    pub period_ms: u64,
    /// Length of a run's schedule, milliseconds.
    pub window_ms: u64,
    /// Worker processes; `None` = one for each scheduler online.
    pub workers: Option<u32>,
    /// Length of each input of the edit distance, bytes; `None` = each arm's own default.
    pub input_bytes: Option<u64>,
    /// Expression that the arm `eval` runs.
    pub eval: Option<String>,
    /// Expressions evaluated once in each worker before it.
    pub with: Option<String>,
    /// Module to audit.
    pub audit: Option<String>,
    /// Silence after which the watchdog ends the VM, seconds.
    pub patience_seconds: f64,
    /// Family-wise error rate of the experiment's claims.
    pub error_rate: f64,
    /// Seed of the order of runs and of the inputs.
    pub seed: u64,
}

/// What the VM said of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JitterVm {
    /// OTP release, for instance `25`.
    pub otp_release: String,
    /// Version of the runtime system.
    pub erts: String,
    /// `jit` or `emu`.
    pub emulator_flavour: String,
    /// Normal schedulers online.
    pub schedulers_online: u32,
    /// Dirty CPU schedulers online.
    pub dirty_cpu_online: u32,
}

/// Figures of lateness that are compared.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum JitterStatistic {
    /// Half of the wake-ups are later.
    Median,
    /// One in a hundred is later.
    P99,
    /// One in a thousand is later.
    P999,
    /// The latest of the run.
    Worst,
}

impl JitterStatistic {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Median, Self::P99, Self::P999, Self::Worst];
}

/// Lateness of one run, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lateness {
    /// Half of the wake-ups are later.
    pub median_us: u64,
    /// One in a hundred is later.
    pub p99_us: u64,
    /// One in a thousand is later; with fewer than a thousand wake-ups the worst.
    pub p999_us: u64,
    /// The latest.
    pub worst_us: u64,
}

impl Lateness {
    /// The figure that `statistic` names.
    pub fn get(&self, statistic: JitterStatistic) -> u64 {
        match statistic {
            JitterStatistic::Median => self.median_us,
            JitterStatistic::P99 => self.p99_us,
            JitterStatistic::P999 => self.p999_us,
            JitterStatistic::Worst => self.worst_us,
        }
    }
}

/// One bar of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatenessBin {
    /// Largest lateness that belongs to it, microseconds.
    pub up_to_us: u64,
    /// Wake-ups in it.
    pub count: u64,
}

/// How a run of the jitter lab ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JitterStatus {
    /// It went through its schedule.
    Ok,
    /// The VM gave no sign of life and was ended from outside.
    Blocked {
        /// Time since its last sign of life, seconds.
        seconds: f64,
        /// CPU time that the VM used meanwhile, seconds; `None` = not known.
        cpu_seconds: Option<f64>,
    },
    /// It gave no figure.
    Failed {
        /// What happened, and what to do next.
        why: String,
    },
}

/// One fresh VM, one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JitterRun {
    /// Which block it belongs to, from 0.
    pub block: usize,
    /// Its place in the order of all runs, from 0.
    pub order: usize,
    /// Name of the arm.
    pub arm: String,
    /// The seed that the load was given.
    pub seed: u64,
    /// How it ended.
    pub status: JitterStatus,
    /// Start, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// Intended wake-ups that were recorded, lower bounds included.
    pub wakeups: u64,
    /// Of these, the ones that never came before the VM was ended: they are counted with the time
    /// that had passed by then, so the figures are lower bounds.
    pub lower_bounds: u64,
    /// Intended wake-ups of which nothing is known: between the VM's last report and its silence.
    pub unknown: u64,
    /// Its figures; `None` when nothing was recorded.
    pub lateness: Option<Lateness>,
    /// All wake-ups, with values rounded up by at most 1 %.
    pub histogram: Vec<LatenessBin>,
    /// Completed jobs of the workers per second; `None` when it did not end by itself.
    pub jobs_per_second: Option<f64>,
    /// Mean number of processes that waited for a normal scheduler, over the heartbeats.
    pub run_queue_mean: Option<f64>,
    /// The same for dirty CPU schedulers.
    pub dirty_run_queue_mean: Option<f64>,
    /// Busy share of the normal schedulers online, 0 to 1.
    pub utilisation: Option<f64>,
    /// Busy share of the dirty CPU schedulers online, 0 to 1.
    pub dirty_utilisation: Option<f64>,
    /// Share of the time in which the VM's scheduler threads wanted a CPU and had none, 0 to 1: what
    /// other programs, and more threads than CPUs, cost. `None` = the kernel does not say.
    pub cpu_wait_share: Option<f64>,
    /// Times that a process or port held a normal scheduler for more than a millisecond, as the VM's
    /// system monitor saw it (wall time, whatever the kernel did to the thread meanwhile).
    pub long_schedules: u64,
    /// The longest of these, milliseconds.
    pub longest_schedule_ms: Option<u64>,
    /// Garbage collections of more than a millisecond.
    pub long_gcs: u64,
    /// The longest of these, milliseconds.
    pub longest_gc_ms: Option<u64>,
    /// Where schedulers were held, most often first: at most ten.
    pub held_at: Vec<HeldAt>,
    /// The longest time between two heartbeats as seen from outside, seconds; they are a tenth of a
    /// second apart.
    pub longest_silence_seconds: Option<f64>,
}

/// A place where normal schedulers were held for more than a millisecond.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldAt {
    /// From the function in which the process was scheduled in to the one in which it was scheduled out.
    pub place: String,
    /// How often.
    pub count: u64,
    /// The longest, milliseconds.
    pub worst_ms: u64,
}

/// One arm over all its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JitterArm {
    /// Its name.
    pub name: String,
    /// What its workers do, in one line.
    pub summary: String,
    /// Runs that went through their schedule.
    pub runs: usize,
    /// Runs that the watchdog ended.
    pub blocked: usize,
    /// Runs that gave no figure.
    pub failed: usize,
    /// Lateness over its runs; `None` when no run recorded any.
    pub lateness: Vec<JitterFigure>,
    /// The latest wake-up of all runs, microseconds.
    pub worst_us: Option<u64>,
    /// Whether the figures are lower bounds, because a run was ended before all wake-ups came.
    pub at_least: bool,
    /// All wake-ups of all runs, for drawing only.
    pub histogram: Vec<LatenessBin>,
    /// Median over runs of completed jobs per second.
    pub jobs_per_second: Option<f64>,
    /// Median over runs.
    pub run_queue_mean: Option<f64>,
    /// Median over runs.
    pub dirty_run_queue_mean: Option<f64>,
    /// Median over runs.
    pub utilisation: Option<f64>,
    /// Median over runs.
    pub dirty_utilisation: Option<f64>,
    /// Median over runs.
    pub cpu_wait_share: Option<f64>,
    /// Median over runs, per second.
    pub long_schedules_per_second: Option<f64>,
    /// The longest of all runs, milliseconds.
    pub longest_schedule_ms: Option<u64>,
}

/// A statistic of lateness over the runs of an arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JitterFigure {
    /// Which.
    pub statistic: JitterStatistic,
    /// Median over the runs, microseconds.
    pub us: f64,
    /// Interval for that median; `None` = too few runs.
    pub interval: Option<Interval>,
}

/// What may be said of one arm against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JitterConclusion {
    /// Wake-ups are later than under the baseline.
    Later,
    /// Wake-ups are earlier than under the baseline.
    Earlier,
    /// The interval contains 1: no claim.
    NoDifferenceSeen,
    /// Too few blocks for the stated error rate.
    TooFewBlocks,
    /// The arm blocked every scheduler until the watchdog ended it: no comparison is needed.
    Blocked,
}

/// One arm against the baseline for one statistic, paired by block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JitterEffect {
    /// Name of the arm.
    pub arm: String,
    /// Name of the arm that it is compared with.
    pub baseline: String,
    /// Which figure of the run.
    pub statistic: JitterStatistic,
    /// Hodges–Lehmann estimate of arm ÷ baseline; above 1 = later. `None` without a pair.
    pub ratio: Option<f64>,
    /// Interval for the ratio; `None` = too few blocks.
    pub interval: Option<Interval>,
    /// Probability of a difference at least this clear by chance alone, corrected for the number of
    /// effects.
    pub p_adjusted: f64,
    /// Pairs of runs that it rests on.
    pub blocks: usize,
    /// The smallest true difference that so many blocks would have found with 90 % probability.
    pub smallest_detectable: Option<f64>,
    /// What may be said.
    pub conclusion: JitterConclusion,
}

/// What the functions of a module do to the schedulers they run on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JitterAudit {
    /// The module.
    pub module: String,
    /// A hold longer than this is counted, microseconds.
    pub limit_us: u64,
    /// Functions that were called, those that hold a scheduler longest first.
    pub functions: Vec<AuditedFunction>,
    /// Exported functions that nothing called.
    pub not_called: Vec<String>,
    /// Times that tracing was switched off because its messages came faster than they could be read;
    /// what was called meanwhile is not in the figures.
    pub suspended: u64,
    /// What this audit cannot see, one sentence each.
    pub cannot_see: Vec<String>,
}

/// One function of an audited module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditedFunction {
    /// Name and arity, such as `distance/3`.
    pub function: String,
    /// Whether it is native.
    pub native: bool,
    /// Calls seen, those that had not returned included.
    pub calls: u64,
    /// Calls that went on to a dirty scheduler.
    pub dirty_calls: u64,
    /// Calls that had not returned when the audit ended.
    pub unreturned: u64,
    /// Uninterrupted stays on a normal scheduler inside it, without what other functions of the module
    /// took meanwhile.
    pub holds: HoldFigures,
}

/// Uninterrupted stays on a normal scheduler; times in microseconds of wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HoldFigures {
    /// How many.
    pub count: u64,
    /// How many were longer than the limit.
    pub over_limit: u64,
    /// Half are longer.
    pub median_us: u64,
    /// One in a hundred is longer.
    pub p99_us: u64,
    /// One in a thousand is longer.
    pub p999_us: u64,
    /// The longest.
    pub worst_us: u64,
}
