//! Many jobs on two threads: against the spin ceiling of the same run, and a fleet's wall time.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use plimsoll_bayes::{Data, Model};
use serde_json::json;

use crate::measure::{Spread, process_cpu, timed};
use crate::{job, named, series};

/// Wall and CPU seconds of `n` pieces of work taken from one queue by `threads` threads.
fn queue(threads: usize, n: usize, work: impl Fn(usize) + Sync) -> (f64, f64) {
    let next = AtomicUsize::new(0);
    let (wall, cpu) = (Instant::now(), process_cpu());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= n {
                        break;
                    }
                    work(i);
                }
            });
        }
    });
    (wall.elapsed().as_secs_f64(), process_cpu() - cpu)
}

/// Arithmetic in registers that nothing but another thread on the same core can slow down.
fn spin(iterations: u64) {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..iterations {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
    black_box(x);
}

/// 44 M1 jobs on two threads: speed-up over one thread, relative to that of pure arithmetic cut
/// into 44 pieces of the same length, measured in turn.
pub fn concurrent(model: &str, y: &[f64], blocks: usize) -> serde_json::Value {
    const JOBS: usize = 44;
    let model: Model = serde_json::from_str(model).expect("the model");
    let data = named(y);
    let work = |i: usize| {
        black_box(job(&model, &data, i as u64));
    };
    // As many iterations as an average job lasts.
    let (job_time, ()) = timed(|| (0..JOBS).for_each(work));
    let (spin_time, ()) = timed(|| spin(10_000_000));
    let iterations = (1e7 * job_time / JOBS as f64 / spin_time) as u64;
    let pieces = |_: usize| spin(iterations);

    let (mut wall, mut cpu, mut rate, mut ceiling, mut free) =
        (vec![], vec![], vec![], vec![], vec![]);
    for i in 0..blocks {
        let one = || (queue(1, JOBS, work), queue(1, JOBS, pieces));
        let two = || (queue(2, JOBS, work), queue(2, JOBS, pieces));
        let (((j1, c1), (s1, d1)), ((j2, c2), (s2, d2))) = if i % 2 == 0 {
            let one = one();
            (one, two())
        } else {
            let two = two();
            (one(), two)
        };
        wall.push((j1 / j2) / (s1 / s2));
        cpu.push((c1 / c2) / (d1 / d2));
        rate.push(JOBS as f64 / j2);
        free.push(2.0 * JOBS as f64 / c2);
        ceiling.push(s1 / s2);
    }
    let [wall, cpu, rate, ceiling, free] = [wall, cpu, rate, ceiling, free].map(Spread::of);
    println!("44 M1 jobs on two threads ({blocks} blocks)");
    println!("  share of the spin ceiling, wall time  {wall:.3}    target at least 0.95");
    println!("  share of the spin ceiling, CPU time   {cpu:.3}");
    println!("  spin ceiling, two threads over one    {ceiling:.2}");
    println!("  jobs per second, wall                 {rate:.0}");
    println!("  jobs per second of two free cores     {free:.0}    (from CPU time)");
    json!({"share_wall": wall.json(), "share_cpu": cpu.json(), "spin_ceiling": ceiling.json(),
        "jobs_per_second": rate.json(), "jobs_per_second_free_cores": free.json(), "blocks": blocks})
}

/// As many M1 instruments, each with its own series, compiled and sampled on two threads.
pub fn instruments(model: &str, n: u64) -> serde_json::Value {
    let model: Model = serde_json::from_str(model).expect("the model");
    let data: Vec<Data> = (0..n).map(|i| named(&series(i))).collect();
    let rounds: Vec<(f64, f64)> = (0..5)
        .map(|round| {
            queue(2, data.len(), |i| {
                black_box(job(&model, &data[i], round * n + i as u64));
            })
        })
        .collect();
    let wall = Spread::of(rounds.iter().map(|r| r.0).collect());
    let cpu = Spread::of(rounds.iter().map(|r| r.1).collect());
    println!("{n} M1 instruments on two threads, 5 rounds, seconds");
    println!("  wall  {wall:.2}    target under 3 for 1400");
    println!(
        "  CPU   {cpu:.2}    ({:.2} on each of two free cores)",
        cpu.median / 2.0
    );
    json!({"instruments": n, "wall_s": wall.json(), "cpu_s": cpu.json()})
}
