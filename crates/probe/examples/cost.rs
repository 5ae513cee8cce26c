//! What a look costs: `cargo run --release -p plimsoll-probe --example cost [threads]`.
//!
//! Watches this very process with that many threads, idle and then busy (each wakes every
//! 10 ms), and prints the CPU time of the sampling thread per look.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_probe::Watch;

/// Long enough to hide the sampler's own slowing down, which starts at 1 % of a CPU.
const EVERY: Duration = Duration::from_secs(1);
const LOOKS: u32 = 10;

fn main() {
    let threads = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(200);
    let busy = Arc::new(AtomicBool::new(false));
    for number in 1..=threads {
        let busy = Arc::clone(&busy);
        thread::Builder::new()
            .name(format!("erts_sched_{number}"))
            .spawn(move || {
                loop {
                    thread::sleep(Duration::from_millis(if busy.load(Ordering::Relaxed) {
                        10
                    } else {
                        10_000
                    }));
                }
            })
            .expect("a thread");
    }
    for (what, state) in [("idle", false), ("busy", true)] {
        busy.store(state, Ordering::Relaxed);
        if state {
            thread::sleep(Duration::from_secs(10));
        }
        let watch = Watch::start(std::process::id(), EVERY).expect("this process is there");
        let before = sampler_ns();
        thread::sleep(EVERY * LOOKS);
        let spent = sampler_ns() - before;
        watch.finish();
        println!(
            "{threads} {what} threads: {:.0} µs CPU per look",
            spent as f64 / 1e3 / f64::from(LOOKS)
        );
    }
}

/// CPU time of the sampling thread so far, from the scheduler's own count.
fn sampler_ns() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task")
        .expect("procfs")
        .flatten();
    tasks
        .filter(|task| {
            std::fs::read_to_string(task.path().join("comm"))
                .is_ok_and(|comm| comm == "plimsoll-probe\n")
        })
        .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split(' ').next()?.parse::<u64>().ok())
        .sum()
}
