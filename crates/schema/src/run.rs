use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BindType, CpuSet};

/// What a thread of a BEAM process does, told by its name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ThreadType {
    /// A normal scheduler: the only type that `+sbt` binds.
    Scheduler,
    /// A dirty CPU scheduler: long NIFs and BIFs run here.
    DirtyCpu,
    /// A dirty IO scheduler.
    DirtyIo,
    /// The aux thread.
    Aux,
    /// A poll thread.
    Poll,
    /// An async thread.
    Async,
    /// Any other thread: the main thread, native libraries' own pools, every thread of a program
    /// that is not a BEAM.
    Other,
}

/// One process, one measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Which block it belongs to, from 0.
    pub block: usize,
    /// Its place in the order of all runs, from 0.
    pub order: usize,
    /// Name of the arm.
    pub arm: String,
    /// The level.
    pub level: u32,
    /// The seed that the workload was given.
    pub seed: u64,
    /// How it ended.
    pub status: RunStatus,
    /// Start, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// Work per second after warm-up; `None` when the run failed. For a command that is timed as a
    /// whole: 1 ÷ its wall time.
    pub ops_per_second: Option<f64>,
    /// Seconds at the start that were left out as warm-up.
    pub warmup_seconds: f64,
    /// Seconds that the figure covers.
    pub measured_seconds: f64,
    /// False when the samples never became steady: the figure is then from the second half.
    pub steady: bool,
    /// Median time of one job as the workload measured it, milliseconds; `None` = it did not say.
    #[serde(default)]
    pub job_median_ms: Option<f64>,
    /// 95th percentile of the time of one job, milliseconds; `None` = it did not say.
    #[serde(default)]
    pub job_p95_ms: Option<f64>,
    /// The workload's samples, in order.
    pub samples: Vec<Sample>,
    /// What the probe saw meanwhile.
    pub evidence: Evidence,
    /// What the VM said of itself; `None` when the workload is not a BEAM.
    pub vm: Option<VmFacts>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunStatus {
    /// It gave a figure.
    Ok,
    /// It did not; `why` is a sentence.
    Failed {
        /// What happened, and what to do next.
        why: String,
    },
}

/// One sample of a run: work done between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Completed work.
    pub ops: f64,
    /// In so many seconds.
    pub seconds: f64,
}

/// What the probe saw during a run. A counter that is not available is `None`, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Per type of thread, sums over the threads of that type.
    pub threads: BTreeMap<ThreadType, ThreadTypeEvidence>,
    /// The whole machine and the cgroup.
    pub host: HostEvidence,
}

/// Sums over all threads of one type, over the time the probe watched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTypeEvidence {
    /// How many threads.
    pub threads: usize,
    /// CPU time in user mode, seconds.
    pub user_seconds: f64,
    /// CPU time in the kernel, seconds.
    pub system_seconds: f64,
    /// Part of `user_seconds + system_seconds` that was spent by threads whose mask was exactly one
    /// CPU, seconds.
    pub bound_seconds: f64,
    /// Moves from one CPU to another, as counted by the kernel.
    pub migrations: Option<u64>,
    /// Times a thread gave up the CPU by itself.
    pub voluntary_switches: Option<u64>,
    /// Times a thread was taken off the CPU.
    pub involuntary_switches: Option<u64>,
    /// Page faults without disk.
    pub minor_faults: Option<u64>,
    /// Page faults with disk.
    pub major_faults: Option<u64>,
    /// Time runnable but waiting for a CPU, seconds.
    pub run_delay_seconds: Option<f64>,
}

/// The whole machine and our cgroup during a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostEvidence {
    /// Share of all CPU time taken by the hypervisor, 0 to 1.
    pub steal_share: Option<f64>,
    /// Share of all CPU time used by anything but the run's own process, 0 to 1.
    pub other_share: Option<f64>,
    /// Periods in which our cgroup was throttled.
    pub throttled_periods: Option<u64>,
    /// Time throttled, seconds.
    pub throttled_seconds: Option<f64>,
    /// Mean number of runnable tasks on the machine over the samples.
    pub runnable_mean: Option<f64>,
    /// NUMA hint faults.
    pub numa_hint_faults: Option<u64>,
    /// Pages moved by automatic NUMA balancing.
    pub numa_pages_migrated: Option<u64>,
}

/// What a VM said of itself, read back after start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VmFacts {
    /// OTP release, for instance `25`.
    pub otp_release: String,
    /// Version of the runtime system, for instance `13.1.5`.
    pub erts: String,
    /// `jit` or `emu`.
    pub emulator_flavour: String,
    /// Normal schedulers.
    pub schedulers: usize,
    /// Normal schedulers online.
    pub schedulers_online: usize,
    /// Dirty CPU schedulers.
    pub dirty_cpu: usize,
    /// Dirty CPU schedulers online.
    pub dirty_cpu_online: usize,
    /// Dirty IO schedulers.
    pub dirty_io: usize,
    /// The bind type that the VM reports, as its atom says.
    pub bind_type: Option<BindType>,
    /// The CPU of scheduler 1, 2, … as the VM reports; `null` = unbound.
    pub bindings: Vec<Option<u32>>,
    /// The kernel's mask of each scheduler thread, read from outside; empty when not read.
    pub masks: Vec<CpuSet>,
    /// Mean length of all normal run queues over the samples.
    pub run_queue_mean: Option<f64>,
    /// Busy share of the online normal schedulers, 0 to 1.
    pub scheduler_utilisation: Option<f64>,
    /// Busy share of the dirty CPU schedulers, 0 to 1.
    pub dirty_cpu_utilisation: Option<f64>,
}
