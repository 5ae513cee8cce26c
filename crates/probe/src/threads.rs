//! All threads of a family of processes, summed by type.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use plimsoll_schema::{CpuSet, ThreadType, ThreadTypeEvidence};

use crate::counts::{Counts, Look, look};
use crate::process::{Family, ProcessKey, numbers};
use crate::{scheduler_number, thread_type};

/// A thread and what it has done since the start of the window.
#[derive(Debug)]
struct Thread {
    /// Counts at the start of the window; zeros for one that started in it.
    start: Counts,
    last: Counts,
    /// CPU time in the window while its mask was one CPU, ns.
    bound_ns: u64,
}

/// The VM among the processes, and the masks of its schedulers by number.
#[derive(Debug)]
struct Vm {
    process: ProcessKey,
    depth: usize,
    masks: BTreeMap<usize, CpuSet>,
}

/// All threads seen in a window.
#[derive(Debug)]
pub(crate) struct Threads {
    tick_ns: u64,
    /// By process and thread number.
    present: BTreeMap<(ProcessKey, u32), Thread>,
    /// Sums over threads that have ended in the window.
    ended: BTreeMap<ThreadType, ThreadTypeEvidence>,
    vm: Option<Vm>,
}

impl Threads {
    /// `ticks_per_second`: the unit of times in `stat`.
    pub fn new(ticks_per_second: u64) -> Self {
        Self {
            tick_ns: 1_000_000_000 / ticks_per_second.max(1),
            present: BTreeMap::new(),
            ended: BTreeMap::new(),
            vm: None,
        }
    }

    /// Looks at every thread of the family. `full`: also at those that have not run since the last
    /// look (their masks may have been changed from outside). `cpus`: how many are online.
    pub fn look(&mut self, proc: &Path, family: &Family, cpus: usize, full: bool) {
        let mut seen = BTreeSet::new();
        let mut candidates: Vec<(usize, ProcessKey)> = Vec::new();
        for (process, member) in family.alive() {
            let tasks = proc.join(format!("{}/task", process.0));
            for number in numbers(&tasks) {
                let key = (process, number);
                if self.look_at(key, &tasks.join(number.to_string()), cpus, full) {
                    seen.insert(key);
                }
            }
            let mut threads = self.present.range((process, 0)..=(process, u32::MAX));
            if threads.any(|(_, t)| scheduler_number(&t.last.stat.comm).is_some()) {
                candidates.push((member.depth, process));
            }
        }
        let gone: Vec<_> = self
            .present
            .keys()
            .filter(|key| !seen.contains(key))
            .copied()
            .collect();
        for key in gone {
            self.end(key);
        }
        self.choose_vm(candidates);
    }

    /// Looks at one thread; false = it has ended.
    fn look_at(&mut self, key: (ProcessKey, u32), task: &Path, cpus: usize, full: bool) -> bool {
        let known = self.present.get(&key).map(|thread| &thread.last);
        let counts = match look(task, known.filter(|_| !full)) {
            Look::Gone => return false,
            Look::Unchanged => return true,
            Look::Counts(counts) => *counts,
        };
        if known.is_some_and(|last| last.stat.start != counts.stat.start) {
            self.end(key);
        }
        let tick_ns = self.tick_ns;
        let thread = self.present.entry(key).or_insert_with(|| Thread {
            start: Counts::default(),
            last: Counts::default(),
            bound_ns: 0,
        });
        if counts.mask.len() == 1 && cpus > 1 {
            let ran = counts
                .cpu_ns(tick_ns)
                .saturating_sub(thread.last.cpu_ns(tick_ns));
            thread.bound_ns = thread.bound_ns.saturating_add(ran);
        }
        thread.last = counts;
        true
    }

    /// The thread has ended: what was last seen of it remains.
    fn end(&mut self, key: (ProcessKey, u32)) {
        if let Some(thread) = self.present.remove(&key) {
            add(&mut self.ended, &thread, self.tick_ns);
        }
    }

    /// The outermost process with schedulers; among equals the one that was first, unless it has
    /// ended (start scripts run helper VMs before the real one).
    fn choose_vm(&mut self, mut candidates: Vec<(usize, ProcessKey)>) {
        candidates.sort_by_key(|(depth, (pid, start))| (*depth, *start, *pid));
        if let Some((depth, process)) = candidates.first().copied() {
            let better = self.vm.as_ref().is_none_or(|vm| {
                let present = candidates
                    .iter()
                    .any(|(_, candidate)| *candidate == vm.process);
                depth < vm.depth || !present
            });
            if better {
                self.vm = Some(Vm {
                    process,
                    depth,
                    masks: BTreeMap::new(),
                });
            }
        }
        if let Some(vm) = &mut self.vm {
            for (_, thread) in self.present.range((vm.process, 0)..=(vm.process, u32::MAX)) {
                // A thread that ends between two reads shows no mask any more: the last one holds.
                if let Some(number) = scheduler_number(&thread.last.stat.comm)
                    && !thread.last.mask.is_empty()
                {
                    vm.masks.insert(number, thread.last.mask.clone());
                }
            }
        }
    }

    /// Restarts all counters.
    pub fn begin_window(&mut self) {
        self.ended.clear();
        for thread in self.present.values_mut() {
            thread.start = thread.last.clone();
            thread.bound_ns = 0;
        }
    }

    /// Sums by type of thread.
    pub fn evidence(&self) -> BTreeMap<ThreadType, ThreadTypeEvidence> {
        let mut sums = self.ended.clone();
        for thread in self.present.values() {
            add(&mut sums, thread, self.tick_ns);
        }
        sums
    }

    /// The process of the VM.
    pub fn vm(&self) -> Option<u32> {
        self.vm.as_ref().map(|vm| vm.process.0)
    }

    /// The masks of schedulers 1, 2, …; an empty set where one was not seen.
    pub fn scheduler_masks(&self) -> Vec<CpuSet> {
        let Some(vm) = &self.vm else {
            return Vec::new();
        };
        let highest = vm.masks.keys().max().copied().unwrap_or(0);
        (1..=highest)
            .map(|number| vm.masks.get(&number).cloned().unwrap_or_default())
            .collect()
    }
}

fn add(sums: &mut BTreeMap<ThreadType, ThreadTypeEvidence>, thread: &Thread, tick_ns: u64) {
    let (a, b) = (&thread.start, &thread.last);
    let sum = sums.entry(thread_type(&b.stat.comm)).or_default();
    sum.threads += 1;
    let cpu = b.cpu_ns(tick_ns).saturating_sub(a.cpu_ns(tick_ns)) as f64 * 1e-9;
    // The kernel tells user from system time in ticks only; their ratio divides the exact time.
    let user = b.stat.user.saturating_sub(a.stat.user) as f64;
    let system = b.stat.system.saturating_sub(a.stat.system) as f64;
    let share = if user + system > 0.0 {
        system / (user + system)
    } else {
        0.0
    };
    sum.user_seconds += cpu * (1.0 - share);
    sum.system_seconds += cpu * share;
    sum.bound_seconds += thread.bound_ns as f64 * 1e-9;
    // A thread that started in the window has no counts at its start: zero then, not "unknown".
    let plus = |sum: &mut Option<u64>, a: Option<u64>, b: Option<u64>| {
        if let Some(b) = b {
            *sum = Some(
                sum.unwrap_or(0)
                    .saturating_add(b.saturating_sub(a.unwrap_or(0))),
            );
        }
    };
    plus(&mut sum.migrations, a.migrations, b.migrations);
    plus(&mut sum.voluntary_switches, a.voluntary, b.voluntary);
    plus(&mut sum.involuntary_switches, a.involuntary, b.involuntary);
    plus(
        &mut sum.minor_faults,
        Some(a.stat.minor_faults),
        Some(b.stat.minor_faults),
    );
    plus(
        &mut sum.major_faults,
        Some(a.stat.major_faults),
        Some(b.stat.major_faults),
    );
    if let Some(sched) = b.sched {
        let before = a.sched.map_or(0, |sched| sched.delay_ns);
        let delay = sched.delay_ns.saturating_sub(before) as f64 * 1e-9;
        sum.run_delay_seconds = Some(sum.run_delay_seconds.unwrap_or(0.0) + delay);
    }
}
