//! Starts the VM of a run.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use plimsoll_lab::{Planned, Stop};
use plimsoll_schema::{JitterDesign, JitterRun, JitterStatus};
use plimsoll_workload::Layout;

use crate::arm::default_input_bytes;
use crate::follow::{Followed, Limits, follow};
use crate::lab::{Executor, JitterError, Made};

/// A VM may take this long to start: many times what a loaded machine needs.
const BOOT: Duration = Duration::from_secs(30);
/// Beyond its window a VM that is alive may take this long to get through its schedule.
const GRACE: Duration = Duration::from_secs(60);
/// The environment's size moves the stack, and with it a program's speed: so it is varied.
const PADDING: u64 = 4096;

/// Where the code is.
#[derive(Debug, Clone)]
pub struct Vm {
    /// The program, `erl`.
    pub erl: PathBuf,
    /// Where Plimsoll's BEAM side is.
    pub layout: Layout,
    /// Folders with the user's code (`--pa`).
    pub paths: Vec<PathBuf>,
}

impl Vm {
    /// The command of one run: plain `erl` with the smallest boot script, and the settings in its
    /// environment (`Plimsoll.Jitter.Settings`).
    pub fn command(&self, design: &JitterDesign, arm: &str, seed: u64) -> Command {
        let mut command = Command::new(&self.erl);
        command.args(["-noinput", "-boot", "no_dot_erlang", "-pa"]);
        command
            .arg(self.layout.lib.join("ebin"))
            .arg(self.layout.lib.join("elixir/ebin"));
        command.args(&self.paths);
        command.args(["-run", "Elixir.Plimsoll.Jitter.CLI", "main"]);
        let mut set = |name: &str, value: &str| {
            command.env(format!("PLIMSOLL_JITTER_{name}"), value);
        };
        set("LOAD", arm);
        set("WORKERS", &design.workers.unwrap_or(0).to_string());
        set("PROBES", &design.probes.to_string());
        set("PERIOD_MS", &design.period_ms.to_string());
        set("WINDOW_MS", &design.window_ms.to_string());
        let input_bytes = design
            .input_bytes
            .unwrap_or_else(|| default_input_bytes(arm));
        set("INPUT_BYTES", &input_bytes.to_string());
        set("SEED", &seed.to_string());
        let optional = [
            ("EVAL", &design.eval),
            ("WITH", &design.with),
            ("AUDIT", &design.audit),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                set(name, value);
            }
        }
        command.env("PLIMSOLL_PADDING", "x".repeat((seed % PADDING) as usize));
        command
    }
}

/// Starts a fresh VM for every run.
#[derive(Debug)]
pub struct VmExecutor {
    vm: Vm,
    design: JitterDesign,
    stop: Stop,
}

impl VmExecutor {
    /// An executor that gives up the run in progress when `stop` is requested.
    pub fn new(vm: Vm, design: JitterDesign, stop: Stop) -> Self {
        Self { vm, design, stop }
    }
}

impl Executor for VmExecutor {
    fn execute(&mut self, arm: &str, planned: &Planned) -> Result<Made, JitterError> {
        let started_at_ms = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |d| d.as_millis() as u64);
        let patience = Duration::from_secs_f64(self.design.patience_seconds);
        let limits = Limits {
            boot: BOOT,
            patience,
            whole: Duration::from_millis(self.design.window_ms) + patience + BOOT + GRACE,
        };
        let command = self.vm.command(&self.design, arm, planned.seed);
        let followed = follow(command, limits, &self.stop)?;
        Ok(made(followed, arm, planned, started_at_ms))
    }
}

fn made(followed: Followed, arm: &str, planned: &Planned, started_at_ms: u64) -> Made {
    let Followed {
        status,
        vm,
        tally,
        longest_silence,
        beats,
        done,
        audit,
        cpu_wait_share,
    } = followed;
    // A failed run's figures would be taken for figures.
    let tally = tally.filter(|_| !matches!(status, JitterStatus::Failed { .. }));
    let mean = |sum: f64| (beats.count > 0).then(|| sum / beats.count as f64);
    let done = done.as_ref();
    let run = JitterRun {
        block: planned.block,
        order: planned.order,
        arm: arm.to_owned(),
        seed: planned.seed,
        status,
        started_at_ms,
        wakeups: tally.as_ref().map_or(0, |t| t.wakeups()),
        lower_bounds: tally.as_ref().map_or(0, |t| t.lower_bounds()),
        unknown: tally.as_ref().map_or(0, |t| t.unknown()),
        lateness: tally.as_ref().and_then(|t| t.lateness()),
        histogram: tally.as_ref().map_or(Vec::new(), |t| t.bins()),
        jobs_per_second: done
            .filter(|d| d.seconds > 0.0)
            .map(|d| d.jobs as f64 / d.seconds),
        run_queue_mean: mean(beats.run_queue),
        dirty_run_queue_mean: mean(beats.dirty_run_queue),
        utilisation: done.and_then(|d| d.utilisation),
        dirty_utilisation: done.and_then(|d| d.dirty_utilisation),
        cpu_wait_share,
        long_schedules: beats.long_schedules,
        longest_schedule_ms: beats.longest_schedule_ms,
        long_gcs: beats.long_gcs,
        longest_gc_ms: beats.longest_gc_ms,
        held_at: beats.held_at(10),
        longest_silence_seconds: longest_silence.map(|d| d.as_secs_f64()),
    };
    Made {
        run,
        vm,
        audit: audit.map(crate::audit::AuditEvent::record),
    }
}
