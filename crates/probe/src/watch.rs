use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_schema::{CpuSet, Evidence};

use crate::ProbeError;
use crate::host::Host;
use crate::process::Family;
use crate::threads::Threads;

/// The sampling thread rests for so many times the CPU time of its last look: it takes at most one
/// per cent of one CPU, however many threads there are.
const PAUSE_PER_COST: u32 = 99;

/// What a [`Watch`] saw.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// Sums by type of thread, and the host meanwhile.
    pub evidence: Evidence,
    /// The kernel's mask of normal scheduler 1, 2, … when last seen; empty when there was no VM.
    pub scheduler_masks: Vec<CpuSet>,
    /// The VM among the processes watched: the outermost one when a VM starts another.
    pub pid_of_vm: Option<u32>,
}

/// A process and all its descendants under observation.
///
/// A thread of its own looks at them. Counters are differences of what the kernel counts anyway, so
/// seldom looking loses nothing but the end of threads that end between two looks, and processes
/// that start and end between two looks (their CPU time still counts as ours in `other_share`).
///
/// Cost: a look at a VM with 200 threads takes 2 to 2.5 ms of CPU time when they are idle and 6 to
/// 9 ms when all of them have run since the last look; with 20 threads 0.4 and 1 ms
/// (`examples/cost.rs`, a virtual machine with two CPUs). Threads that have not run are not read in
/// full. The pause between looks grows with their cost, so that the sampler never takes more than
/// 1 % of one CPU.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    sampler: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    stopped: Condvar,
}

#[derive(Debug)]
struct State {
    proc: PathBuf,
    family: Family,
    threads: Threads,
    host: Host,
    stop: bool,
}

impl State {
    fn look(&mut self, full: bool) {
        self.family.look(&self.proc);
        self.threads
            .look(&self.proc, &self.family, self.host.cpus(), full);
    }

    fn begin_window(&mut self) {
        self.look(true);
        self.threads.begin_window();
        self.host.begin_window(self.family.ticks());
    }
}

impl Watch {
    /// Watches process `pid` and all its descendants from now on, looking every `every`,
    /// or less often when looks are expensive.
    ///
    /// # Errors
    /// [`ProbeError::NoProcess`] when there is no such process.
    pub fn start(pid: u32, every: Duration) -> Result<Self, ProbeError> {
        Self::start_below(Path::new("/"), pid, every)
    }

    /// The same with `/proc` and the control groups below another root.
    ///
    /// # Errors
    /// As [`Watch::start`].
    pub fn start_below(root: &Path, pid: u32, every: Duration) -> Result<Self, ProbeError> {
        let proc = root.join("proc");
        let family = Family::of(&proc, pid).ok_or_else(|| ProbeError::NoProcess {
            pid,
            path: proc.join(pid.to_string()),
        })?;
        let host = Host::start(root, pid, family.ticks());
        let mut state = State {
            threads: Threads::new(ticks_per_second()),
            proc,
            family,
            host,
            stop: false,
        };
        state.begin_window();
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            stopped: Condvar::new(),
        });
        let for_sampler = Arc::clone(&shared);
        let sampler = thread::Builder::new()
            .name("plimsoll-probe".to_owned())
            .spawn(move || for_sampler.sample_until_stopped(every))
            .map_err(ProbeError::Thread)?;
        Ok(Self {
            shared,
            sampler: Some(sampler),
        })
    }

    /// Restarts all counters: the warm-up is over.
    pub fn begin_window(&self) {
        self.shared.lock().begin_window();
    }

    /// Looks once more, and says what was seen since [`Watch::begin_window`], or since the start.
    ///
    /// Call it before the process is waited for: what it used after the last look is lost with it.
    pub fn finish(mut self) -> Observation {
        self.stop();
        let mut state = self.shared.lock();
        state.look(true);
        Observation {
            evidence: Evidence {
                threads: state.threads.evidence(),
                host: state.host.evidence(state.family.ticks()),
            },
            scheduler_masks: state.threads.scheduler_masks(),
            pid_of_vm: state.threads.vm(),
        }
    }

    fn stop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.stopped.notify_all();
        if let Some(sampler) = self.sampler.take() {
            // A sampler that panicked has nothing more to say; what it saw is in the state.
            let _ = sampler.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sample_until_stopped(&self, every: Duration) {
        let mut pause = every;
        let mut state = self.lock();
        loop {
            let (next, _) = self
                .stopped
                .wait_timeout_while(state, pause, |state| !state.stop)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if state.stop {
                return;
            }
            let before = own_cpu_time();
            state.host.sample();
            state.look(false);
            pause = every.max(own_cpu_time().saturating_sub(before) * PAUSE_PER_COST);
        }
    }
}

/// CPU time of the calling thread.
fn own_cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the record is ours; a failing call leaves the zeros in it.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

/// The unit of times in `stat` files: 100 on every Linux that matters, but it may be asked.
fn ticks_per_second() -> u64 {
    // SAFETY: sysconf has no preconditions.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks)
        .ok()
        .filter(|&ticks| ticks > 0)
        .unwrap_or(100)
}
