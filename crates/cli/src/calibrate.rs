//! `plimsoll bench --calibrate`.

use std::process::ExitCode;

use plimsoll_lab::{ArmRequest, calibration, noise_floor};
use plimsoll_report::calibration_text;
use plimsoll_schema::Experiment;

use crate::args::BenchArgs;
use crate::bench::{Request, carry_out};
use crate::failure::Failure;
use crate::output::{deliver, json, width};

/// Simulated experiments for each figure: a standard error of 0.2 % at a rate of 5 %.
const EXPERIMENTS: usize = 10_000;
/// Comparisons in each: two arms against the baseline at three levels.
const EFFECTS: usize = 6;

pub fn main(args: &BenchArgs) -> Result<ExitCode, Failure> {
    if !args.shown.quiet {
        eprintln!("simulating {EXPERIMENTS} experiments for each kind of noise");
    }
    let mut calibration = calibration(
        EXPERIMENTS,
        EFFECTS,
        args.error_rate,
        args.seed.unwrap_or(1),
    );
    if !args.shown.quiet {
        eprintln!("measuring this machine against itself: workload spin, two identical arms");
    }
    let experiment = a_against_a(args)?;
    calibration.noise_floor = noise_floor(&experiment);
    let text = if args.shown.json {
        json(&calibration)
    } else {
        calibration_text(&calibration, width())
    };
    deliver(&args.shown.output, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// An experiment whose two arms are the same in everything but the name.
fn a_against_a(args: &BenchArgs) -> Result<Experiment, Failure> {
    let mut request = Request::builtin("spin", args)?;
    let arm = |name: &str| ArmRequest::Flags {
        name: name.to_owned(),
        words: Vec::new(),
    };
    request.arms = request.arms_of(&[arm("a"), arm("a again")])?;
    request.experiment(args).and_then(|mut experiment| {
        carry_out(&mut experiment, &request.programme, args)?;
        Ok(experiment)
    })
}
