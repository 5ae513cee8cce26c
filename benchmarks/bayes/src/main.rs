//! `./x bench bayes`: the bayes room against hand-written nuts-rs programs, everything in one
//! process, in turn, in CPU time. Figures are medians with smallest and largest of the pairs.
//!
//! `bench-bayes [--quick] [--json FILE] [--data DIRECTORY]`; the data directory holds the
//! `data.json` of the benchmark models. Without it the data are drawn by seed from the models.
//! `bench-bayes --fit MODEL SEED --data DIRECTORY` makes one run of M1 … M5 and prints its CPU
//! milliseconds and gradients: what `peers.py` puts beside the Python peers.
//! `bench-bayes --serve FILE` fits M1 to the numbers of a file, one a line, on request: what
//! `beam.exs` puts beside the same fits inside the VM.

mod hand;
mod jobs;
mod measure;

use std::hint::black_box;
use std::sync::Arc;

use measure::{Spread, paired, timed};
use nuts_rs::rand::rngs::ChaCha8Rng;
use nuts_rs::rand::{RngExt, SeedableRng};
use plimsoll_bayes::{Array, Chain, ChainSettings, Data, Draws, InstructionSet, Model, Program};
use serde_json::json;

const M1: &str = include_str!("../../../crates/bayes/models/m1.json");
const M5: &str = include_str!("../../../crates/bayes/models/m5.json");

/// Data of a vector `y`, under the name the models use.
pub fn named(y: &[f64]) -> Data {
    Data::from([("y".to_string(), Array::vector(y.to_vec()))])
}

/// One job: model and data to draws.
pub fn job(model: &Model, data: &Data, seed: u64) -> Draws {
    let program = Arc::new(Program::compile(model, data).expect("a sound model"));
    let settings = ChainSettings {
        seed,
        ..ChainSettings::default()
    };
    Chain::new(program, settings)
        .expect("a start")
        .run()
        .expect("a run")
}

/// A series for instrument `i`: three regimes as in M5, drawn by seed.
pub fn series(i: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1000 + i);
    let mut normal = |mean: f64, sd: f64| {
        let (a, b): (f64, f64) = (rng.random(), rng.random());
        mean + sd * (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    };
    (0..200)
        .map(|t| match t % 10 {
            0..5 => normal(0.3, 0.3),
            5..8 => normal(-0.2, 0.2),
            _ => normal(0.0, 1.0),
        })
        .collect()
}

fn shared(directory: Option<&str>, model: &str) -> Vec<f64> {
    let read = |d: &str| {
        let text = std::fs::read_to_string(format!("{d}/data.json")).ok()?;
        let all: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(
            all[model]["y"]
                .as_array()?
                .iter()
                .filter_map(|v| v.as_f64())
                .collect(),
        )
    };
    directory.and_then(read).unwrap_or_else(|| series(0))
}

fn m1_against_hand_written(y: &[f64], pairs: usize) -> serde_json::Value {
    let model: Model = serde_json::from_str(M1).expect("the model");
    let data = named(y);
    let mut out = Vec::new();
    let (mut ours_gradients, mut hand_gradients) = (0, 0);
    let times = paired(
        pairs,
        |seed| {
            let (t, draws) = timed(|| job(&model, &data, seed as u64));
            ours_gradients += draws.total_gradients();
            t
        },
        |seed| {
            let (t, g) = timed(|| hand::run(hand::m1, y, seed as u64, 500, 500, &mut out));
            hand_gradients += g;
            t
        },
    );
    let ratio = Spread::of(times.iter().map(|(a, b)| a / b).collect());
    let ours = Spread::of(times.iter().map(|t| t.0 * 1e3).collect());
    let hand = Spread::of(times.iter().map(|t| t.1 * 1e3).collect());
    println!("M1, 500 + 500 draws, compile included, CPU ms of one run ({pairs} pairs)");
    println!(
        "  engine        {ours:.2}    {} gradients a run",
        ours_gradients / pairs as u64
    );
    println!(
        "  hand-written  {hand:.2}    {} gradients a run",
        hand_gradients / pairs as u64
    );
    println!("  ratio         {ratio:.2}    target at most 1.3");
    json!({"engine_ms": ours.json(), "hand_ms": hand.json(), "ratio": ratio.json(), "pairs": pairs})
}

fn gradients(
    y: &[f64],
    name: &str,
    text: &str,
    f: hand::Gradient,
    pairs: usize,
    set: InstructionSet,
) -> serde_json::Value {
    let model: Model = serde_json::from_str(text).expect("the model");
    let program = Program::compile(&model, &named(y)).expect("a sound model");
    let program = program.with_instruction_set(set);
    let mut workspace = program.workspace().expect("memory");
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let points: Vec<[f64; 8]> = (0..64)
        .map(|_| std::array::from_fn(|_| rng.random::<f64>() * 2.0 - 1.0))
        .collect();
    // Both must compute the same thing, or the comparison means nothing.
    for u in &points {
        let (mut a, mut b) = ([0.0; 8], [0.0; 8]);
        let ours = program.log_density_gradient(&mut workspace, u, &mut a);
        let hand = f(y, u, &mut b);
        let close = |x: f64, y: f64| (x - y).abs() < 1e-9 * (1.0 + x.abs());
        assert!(
            close(ours, hand) && a.iter().zip(&b).all(|(a, b)| close(*a, *b)),
            "{name} differs"
        );
    }
    let n = 2_048;
    let mut gradient = [0.0; 8];
    let mut again = [0.0; 8];
    let times = paired(
        pairs,
        |_| {
            let evaluate = || {
                for i in 0..n {
                    let u = black_box(&points[i % 64]);
                    black_box(program.log_density_gradient(&mut workspace, u, &mut gradient));
                }
            };
            timed(evaluate).0 / n as f64
        },
        |_| {
            let evaluate = || {
                for i in 0..n {
                    black_box(f(y, black_box(&points[i % 64]), &mut again));
                }
            };
            timed(evaluate).0 / n as f64
        },
    );
    let ratio = Spread::of(times.iter().map(|(a, b)| b / a).collect());
    let ours = Spread::of(times.iter().map(|t| t.0 * 1e9).collect());
    let hand = Spread::of(times.iter().map(|t| t.1 * 1e9).collect());
    println!(
        "{name}, one gradient, CPU ns ({pairs} pairs of {n}), {}",
        program.instruction_set().name()
    );
    println!("  engine        {ours:.0}");
    println!("  hand-written  {hand:.0}");
    println!(
        "  gradients per second, engine over hand-written  {ratio:.2}{}",
        if name == "M5" {
            "    target at least 4"
        } else {
            ""
        }
    );
    json!({"engine_ns": ours.json(), "hand_ns": hand.json(), "ratio": ratio.json(), "pairs": pairs})
}

/// One run of a benchmark model: CPU milliseconds (compiling the program included), gradients.
fn fit(name: &str, seed: u64, directory: &str) {
    let text = match name {
        "M1" => M1,
        "M2" => include_str!("../../../crates/bayes/models/m2.json"),
        "M3" => include_str!("../../../crates/bayes/models/m3.json"),
        "M4" => include_str!("../../../crates/bayes/models/m4.json"),
        _ => M5,
    };
    let model: Model = serde_json::from_str(text).expect("the model");
    let all = std::fs::read_to_string(format!("{directory}/data.json")).expect("data.json");
    let all: serde_json::Value = serde_json::from_str(&all).expect("JSON");
    let numbers = |v: &serde_json::Value| -> Vec<f64> {
        v.as_array()
            .into_iter()
            .flatten()
            .filter_map(|v| v.as_f64())
            .collect()
    };
    let data: Data = model
        .data
        .iter()
        .map(|key| {
            let value = &all[name][key];
            let array = match value[0].as_array() {
                Some(row) => {
                    let rows = value.as_array().into_iter().flatten();
                    Array::matrix(row.len(), rows.flat_map(numbers).collect())
                }
                None => Array::vector(numbers(value)),
            };
            (key.clone(), array)
        })
        .collect();
    let (cpu, draws) = timed(|| job(&model, &data, seed));
    println!(
        "{}",
        json!({"cpu_ms": cpu * 1e3, "gradients": draws.total_gradients()})
    );
}

/// For every line `FIRST COUNT` of standard input: M1 jobs with these seeds; a line of their CPU
/// seconds and gradients.
fn serve(file: &str) {
    let model: Model = serde_json::from_str(M1).expect("the model");
    let text = std::fs::read_to_string(file).expect("the file");
    let y: Vec<f64> = text.lines().map(|l| l.parse().expect("a number")).collect();
    let data = named(&y);
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let mut words = line.split(' ').map(|w| w.parse().expect("a seed"));
        let (first, count): (u64, u64) = (words.next().unwrap_or(0), words.next().unwrap_or(1));
        let jobs = || (first..first + count).map(|seed| job(&model, &data, seed).total_gradients());
        let (cpu, gradients) = timed(|| jobs().sum::<u64>());
        println!("{cpu} {gradients}");
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        args.iter()
            .position(|a| a == flag)
            .and_then(|i| args.get(i + 1))
            .map(String::as_str)
    };
    if let Some(name) = value("--fit") {
        let seed = args
            .iter()
            .filter_map(|a| a.parse().ok())
            .next()
            .unwrap_or(0);
        return fit(name, seed, value("--data").unwrap_or("."));
    }
    if let Some(file) = value("--serve") {
        // In a thread of its own: allocation is cheaper in a process that has but one.
        return std::thread::scope(|scope| scope.spawn(|| serve(file)).join().expect("jobs"));
    }
    let quick = args.iter().any(|a| a == "--quick");
    let directory = value("--data");
    let scale = if quick { 5 } else { 1 };
    let (y1, y5) = (shared(directory, "M1"), shared(directory, "M5"));

    let best = InstructionSet::detect();
    let m5_by_set: Vec<_> = InstructionSet::available()
        .into_iter()
        .map(|set| {
            json!({"set": set.name(), "m5": gradients(&y5, "M5", M5, hand::m5, 100 / scale, set)})
        })
        .collect();
    let result = json!({
        "m1": m1_against_hand_written(&y1, 100 / scale),
        "m1_gradient": gradients(&y1, "M1", M1, hand::m1, 100 / scale, best),
        "m5_gradient": m5_by_set,
        "concurrent": jobs::concurrent(M1, &y1, 40 / scale),
        "instruments": jobs::instruments(M1, 1400 / scale as u64),
    });
    if let Some(file) = value("--json") {
        std::fs::write(file, format!("{result:#}\n")).expect("a writable file");
    }
}
