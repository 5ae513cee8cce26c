//! What the kernel has counted for one thread.

use std::path::Path;

use plimsoll_schema::CpuSet;

use crate::process::{Stat, parse_stat, read};

/// `/proc/PID/task/TID/schedstat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SchedStat {
    /// Time on a CPU, ns.
    pub run_ns: u64,
    /// Time runnable but waiting, ns.
    pub delay_ns: u64,
    /// How often it was put on a CPU.
    pub slices: u64,
}

/// Reads a `schedstat`; `None` = not of that form, or a kernel that does not count (it then writes
/// zeros, also for a thread that reads its own file and so has been put on a CPU).
fn parse_schedstat(text: &str) -> Option<SchedStat> {
    let mut words = text.split_ascii_whitespace().map(|word| word.parse().ok());
    let mut next = || words.next().flatten();
    let stat = SchedStat {
        run_ns: next()?,
        delay_ns: next()?,
        slices: next()?,
    };
    (stat.slices > 0).then_some(stat)
}

/// The members of `/proc/PID/task/TID/status` that are used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Status {
    mask: CpuSet,
    voluntary: Option<u64>,
    involuntary: Option<u64>,
}

fn parse_status(text: &str) -> Status {
    let mut status = Status::default();
    for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match key {
            "Cpus_allowed_list" => status.mask = value.parse().unwrap_or_default(),
            "voluntary_ctxt_switches" => status.voluntary = value.parse().ok(),
            "nonvoluntary_ctxt_switches" => status.involuntary = value.parse().ok(),
            _ => {}
        }
    }
    status
}

/// The count of moves between CPUs in `/proc/PID/task/TID/sched`; `None` = a kernel that does not
/// show it.
fn parse_migrations(text: &str) -> Option<u64> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim_end() == "se.nr_migrations")
        .and_then(|(_, value)| value.trim().parse().ok())
}

/// One thread's counters since it started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub stat: Stat,
    pub sched: Option<SchedStat>,
    pub mask: CpuSet,
    pub migrations: Option<u64>,
    pub voluntary: Option<u64>,
    pub involuntary: Option<u64>,
}

impl Counts {
    /// CPU time since the thread started, ns: exact where the kernel counts it, else in clock ticks
    /// of `tick_ns`.
    pub fn cpu_ns(&self, tick_ns: u64) -> u64 {
        match self.sched {
            Some(sched) => sched.run_ns,
            None => self.stat.ticks().saturating_mul(tick_ns),
        }
    }
}

/// What a look at a thread's directory gave.
#[derive(Debug)]
pub(crate) enum Look {
    /// The thread has ended.
    Gone,
    /// It has not run since the counts given, so that these still hold.
    Unchanged,
    /// These are its counts now.
    Counts(Box<Counts>),
}

/// Looks at the thread whose directory is `task`. `last`: what the last look gave, when a thread
/// that has not run since need not be read in full.
pub(crate) fn look(task: &Path, last: Option<&Counts>) -> Look {
    let sched = read(&task.join("schedstat")).and_then(|text| parse_schedstat(&text));
    if sched.is_some() && last.is_some_and(|last| last.sched == sched) {
        return Look::Unchanged;
    }
    let Some(stat) = read(&task.join("stat")).and_then(|text| parse_stat(&text)) else {
        return Look::Gone;
    };
    let status = read(&task.join("status"))
        .map(|text| parse_status(&text))
        .unwrap_or_default();
    let migrations = read(&task.join("sched")).and_then(|text| parse_migrations(&text));
    Look::Counts(Box::new(Counts {
        stat,
        sched,
        mask: status.mask,
        migrations,
        voluntary: status.voluntary,
        involuntary: status.involuntary,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_crashes_the_readers(
            text in any::<String>(),
            value in "[-0-9 ,a]{0,40}",
        ) {
            for text in [text, format!("Cpus_allowed_list:{value}\nse.nr_migrations : {value}"), value] {
                let _ = (parse_schedstat(&text), parse_status(&text), parse_migrations(&text));
            }
        }
    }

    #[test]
    fn zeros_of_a_kernel_that_does_not_count_are_no_figures() {
        assert_eq!(parse_schedstat("0 0 0\n"), None);
        let counted = SchedStat {
            run_ns: 19,
            delay_ns: 0,
            slices: 1,
        };
        assert_eq!(parse_schedstat("19 0 1\n"), Some(counted));
    }

    #[test]
    fn migrations_are_told_from_their_neighbours() {
        let text = "se.sum_exec_runtime : 0.778387\nse.nr_migrations_cold : 3\nse.nr_migrations                             :                    7\n";
        assert_eq!(parse_migrations(text), Some(7));
        assert_eq!(parse_migrations("nr_switches : 1\n"), None);
    }

    #[test]
    fn a_status_gives_mask_and_switches() {
        let status = parse_status(
            "Name:\tx\nCpus_allowed_list:\t0-1,4\nvoluntary_ctxt_switches:\t19\nnonvoluntary_ctxt_switches:\t16\n",
        );
        assert_eq!(status.mask.to_string(), "0-1,4");
        assert_eq!((status.voluntary, status.involuntary), (Some(19), Some(16)));
        assert_eq!(parse_status("Name:\tx\n").voluntary, None);
    }
}
