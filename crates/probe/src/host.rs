//! The whole machine: CPU time by use, runnable tasks, NUMA balancing.

use std::path::{Path, PathBuf};

use plimsoll_schema::HostEvidence;

use crate::cgroup::{Throttling, cpu_stat_files, throttling};
use crate::process::read;

/// The `cpu` lines of `/proc/stat`. Times in clock ticks, summed over CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct CpuTimes {
    /// All of it.
    total: u64,
    /// Spent on work.
    busy: u64,
    /// Taken by the hypervisor; `None` = a kernel that does not count it.
    steal: Option<u64>,
    /// How many CPUs are online.
    cpus: usize,
}

/// Reads `/proc/stat`; `None` = not of that form.
fn parse_stat(text: &str) -> Option<CpuTimes> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user nice system idle iowait irq softirq steal; guest time after them is part of user.
    let times: Vec<u64> = line
        .split_ascii_whitespace()
        .take(8)
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    if times.len() < 4 {
        return None;
    }
    let sum = |times: &[u64]| {
        times
            .iter()
            .fold(0_u64, |sum, &time| sum.saturating_add(time))
    };
    let total = sum(&times);
    let steal = times.get(7).copied();
    let idle = sum(times.get(3..5.min(times.len())).unwrap_or_default());
    Some(CpuTimes {
        total,
        busy: total
            .saturating_sub(idle)
            .saturating_sub(steal.unwrap_or(0)),
        steal,
        cpus: text
            .lines()
            .filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "))
            .count(),
    })
}

/// The number of runnable tasks in `/proc/loadavg` (the first half of its fourth word).
fn parse_loadavg(text: &str) -> Option<u64> {
    let (running, _) = text.split_ascii_whitespace().nth(3)?.split_once('/')?;
    running.parse().ok()
}

/// A counter of `/proc/vmstat`.
fn parse_vmstat(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(key, _)| *key == name)
        .and_then(|(_, value)| value.trim().parse().ok())
}

/// Counters of the whole machine at one moment.
#[derive(Debug, Clone, Default)]
struct Counters {
    cpu: Option<CpuTimes>,
    throttling: Option<Throttling>,
    numa_hint_faults: Option<u64>,
    numa_pages_migrated: Option<u64>,
    /// CPU time of the watched processes, in clock ticks.
    own: u64,
}

/// The whole machine since a moment.
#[derive(Debug)]
pub(crate) struct Host {
    root: PathBuf,
    cpu_stat_files: Vec<PathBuf>,
    start: Counters,
    runnable_sum: u64,
    samples: u64,
}

impl Host {
    /// From now on, for process `pid` below `root`. `own`: CPU time of the watched processes so
    /// far, in clock ticks.
    pub fn start(root: &Path, pid: u32, own: u64) -> Self {
        let mut host = Self {
            root: root.to_owned(),
            cpu_stat_files: cpu_stat_files(root, pid),
            start: Counters::default(),
            runnable_sum: 0,
            samples: 0,
        };
        host.begin_window(own);
        host
    }

    /// Restarts all counters.
    pub fn begin_window(&mut self, own: u64) {
        self.start = self.counters(own);
        self.runnable_sum = 0;
        self.samples = 0;
    }

    /// How many CPUs were online at the start of the window.
    pub fn cpus(&self) -> usize {
        self.start.cpu.map_or(0, |cpu| cpu.cpus)
    }

    /// One look at the number of runnable tasks. `/proc/loadavg` gives the same figure as
    /// `/proc/stat`, which is long on large machines.
    pub fn sample(&mut self) {
        let text = read(&self.root.join("proc/loadavg"));
        if let Some(running) = text.as_deref().and_then(parse_loadavg) {
            // The task that is looking is runnable itself.
            self.runnable_sum = self.runnable_sum.saturating_add(running.saturating_sub(1));
            self.samples += 1;
        }
    }

    /// What happened since the start of the window. A share needs at least one tick of time.
    pub fn evidence(&self, own: u64) -> HostEvidence {
        let now = self.counters(own);
        let start = &self.start;
        let cpu = start.cpu.zip(now.cpu).and_then(|(a, b)| {
            let total = b.total.checked_sub(a.total).filter(|&total| total > 0)?;
            Some((a, b, total as f64))
        });
        let own = now.own.saturating_sub(start.own);
        let throttled = start.throttling.zip(now.throttling);
        let since = |a: Option<u64>, b: Option<u64>| Some(b?.saturating_sub(a?));
        HostEvidence {
            steal_share: cpu
                .and_then(|(a, b, total)| Some(since(a.steal, b.steal)? as f64 / total)),
            other_share: cpu.map(|(a, b, total)| {
                let busy = b.busy.saturating_sub(a.busy);
                (busy.saturating_sub(own) as f64 / total).min(1.0)
            }),
            throttled_periods: throttled.map(|(a, b)| b.periods.saturating_sub(a.periods)),
            throttled_seconds: throttled.map(|(a, b)| (b.seconds - a.seconds).max(0.0)),
            runnable_mean: (self.samples > 0)
                .then(|| self.runnable_sum as f64 / self.samples as f64),
            numa_hint_faults: since(start.numa_hint_faults, now.numa_hint_faults),
            numa_pages_migrated: since(start.numa_pages_migrated, now.numa_pages_migrated),
        }
    }

    fn counters(&self, own: u64) -> Counters {
        let vmstat = read(&self.root.join("proc/vmstat")).unwrap_or_default();
        Counters {
            cpu: read(&self.root.join("proc/stat")).and_then(|text| parse_stat(&text)),
            throttling: throttling(&self.cpu_stat_files),
            numa_hint_faults: parse_vmstat(&vmstat, "numa_hint_faults"),
            numa_pages_migrated: parse_vmstat(&vmstat, "numa_pages_migrated"),
            own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    proptest! {
        #[test]
        fn no_text_crashes_the_readers(text in any::<String>(), numbers in "cpu [0-9 ]{0,200}") {
            for text in [text, numbers] {
                let _ = parse_stat(&text);
                let _ = parse_loadavg(&text);
                let _ = parse_vmstat(&text, "numa_hint_faults");
            }
        }
    }

    #[test]
    fn shares_are_of_all_cpu_time_and_ours_is_not_others() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc");
        fs::create_dir(&proc).unwrap();
        let stat = |line: &str| {
            fs::write(
                proc.join("stat"),
                format!("cpu  {line}\ncpu0 1\ncpu1 1\nintr 5\n"),
            )
            .unwrap()
        };
        //    user nice system idle iowait irq softirq steal guest guest_nice
        stat("100 0 100 1000 0 0 0 10 50 0");
        let host = Host::start(root.path(), 1, 40);
        assert_eq!(host.cpus(), 2);
        stat("150 0 120 1100 10 0 0 30 90 0");
        // 200 ticks in all: 70 busy of which 50 ours, 110 idle, 20 stolen.
        let evidence = host.evidence(90);
        assert_eq!(evidence.steal_share, Some(0.1));
        assert_eq!(evidence.other_share, Some(0.1));
        assert_eq!(evidence.numa_hint_faults, None);
        assert_eq!(evidence.throttled_periods, None);
        assert_eq!(evidence.runnable_mean, None);
    }

    #[test]
    fn runnable_tasks_leave_out_the_one_that_looks() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc");
        fs::create_dir(&proc).unwrap();
        let mut host = Host::start(root.path(), 1, 0);
        for running in [1, 4] {
            fs::write(
                proc.join("loadavg"),
                format!("0.01 0.17 0.19 {running}/95 21714\n"),
            )
            .unwrap();
            host.sample();
        }
        assert_eq!(host.evidence(0).runnable_mean, Some(1.5));
    }

    #[test]
    fn numa_counters_are_differences_and_zero_is_not_missing() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc");
        fs::create_dir(&proc).unwrap();
        let vmstat = |hints: u64| {
            fs::write(proc.join("vmstat"), format!("numa_hit 3\nnuma_hint_faults {hints}\nnuma_hint_faults_local 9\nnuma_pages_migrated 8\n")).unwrap()
        };
        vmstat(5);
        let host = Host::start(root.path(), 1, 0);
        vmstat(12);
        assert_eq!(host.evidence(0).numa_hint_faults, Some(7));
        assert_eq!(host.evidence(0).numa_pages_migrated, Some(0));
    }
}
