//! What the crate knows of itself: how many computations are under way and, on demand, how long
//! their slices were.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

static LIVE: AtomicI64 = AtomicI64::new(0);
static RECORDING: AtomicBool = AtomicBool::new(false);
static WALL: Histogram = Histogram::new();
static CPU: Histogram = Histogram::new();

/// Microseconds a bucket.
const BUCKET: u64 = 10;
/// The last one is for everything longer.
const BUCKETS: usize = 2001;

struct Histogram([AtomicU64; BUCKETS]);

impl Histogram {
    const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; BUCKETS])
    }

    fn add(&self, nanoseconds: u64) {
        let bucket = (nanoseconds / 1000 / BUCKET).min(BUCKETS as u64 - 1);
        self.0[bucket as usize].fetch_add(1, Relaxed);
    }

    fn take(&self) -> Vec<(u64, u64)> {
        let counts = self.0.iter().map(|count| count.swap(0, Relaxed));
        let ends = (1..).map(|end| end * BUCKET);
        ends.zip(counts).filter(|(_, count)| *count > 0).collect()
    }
}

/// Computations whose state exists, running or between slices, of all types in this library.
#[must_use]
pub fn live() -> i64 {
    LIVE.load(Relaxed)
}

/// Starts or stops recording the lengths of slices on normal schedulers (two clock reads more a
/// slice, about half a microsecond).
pub fn record(on: bool) {
    RECORDING.store(on, Relaxed);
}

/// Slices recorded since the last call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slices {
    /// (upper edge in microseconds, count) by elapsed time, which includes the time for which
    /// the operating system took the core away; over 20 ms in one.
    pub wall: Vec<(u64, u64)>,
    /// The same by the thread's CPU time.
    pub cpu: Vec<(u64, u64)>,
}

/// Takes what was recorded.
#[must_use]
pub fn take_slices() -> Slices {
    Slices {
        wall: WALL.take(),
        cpu: CPU.take(),
    }
}

/// Counts one state for as long as it exists.
pub(crate) struct Live(());

impl Default for Live {
    fn default() -> Self {
        LIVE.fetch_add(1, Relaxed);
        Self(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Relaxed);
    }
}

/// One slice, measured while it exists.
pub(crate) struct Stay(Option<(u64, u64)>);

impl Stay {
    pub(crate) fn begin(counts: bool) -> Self {
        Self((counts && RECORDING.load(Relaxed)).then(now))
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some((wall, cpu)) = self.0 {
            let (wall_now, cpu_now) = now();
            WALL.add(wall_now.saturating_sub(wall));
            CPU.add(cpu_now.saturating_sub(cpu));
        }
    }
}

/// CPU nanoseconds that the whole process has used, by every thread: what a benchmark of a VM on
/// a shared machine should compare.
#[must_use]
pub fn process_cpu() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Elapsed and CPU nanoseconds of this thread.
fn now() -> (u64, u64) {
    (
        read(libc::CLOCK_MONOTONIC),
        read(libc::CLOCK_THREAD_CPUTIME_ID),
    )
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the one timespec; the three clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
