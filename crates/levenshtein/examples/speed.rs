//! Milliseconds for two random strings, by instruction set: `cargo run --release --example speed`.

use plimsoll_levenshtein::{Distance, InstructionSet, Options, find};
use std::hint::black_box;
use std::time::Instant;

fn random(length: usize, mut seed: u64) -> Vec<u8> {
    (0..length)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as u8
        })
        .collect()
}

fn main() {
    for length in [8, 64, 65, 256, 1000, 10_000, 100_000] {
        let (a, b) = (random(length, 1), random(length, 2));
        let rounds = (400_000_000 / (length * length + 50_000)).max(1);
        let time = |work: &dyn Fn()| {
            let mut best = f64::MAX;
            for _ in 0..5 {
                let start = Instant::now();
                (0..rounds).for_each(|_| work());
                best = best.min(start.elapsed().as_secs_f64() / rounds as f64);
            }
            best * 1e6
        };
        print!(
            "{length:7} bytes, microseconds: find {:10.3}",
            time(&|| {
                black_box(find(black_box(&a), &b, Options::default()).ok());
            })
        );
        for set in InstructionSet::available() {
            let one = || {
                let distance = Distance::new(black_box(&a), &b, Options::default());
                black_box(distance.map(|d| d.with_instruction_set(set).finish()).ok());
            };
            print!("  {set:?} {:10.3}", time(&one));
        }
        println!();
    }
}
