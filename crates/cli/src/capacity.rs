//! `plimsoll capacity`.

use std::process::ExitCode;

use plimsoll_capacity::{Claim, Plan, contradictions};
use plimsoll_lab::{Store, default_path};
use plimsoll_report::capacity_text;
use plimsoll_schema::CapacityReport;

use crate::args::CapacityArgs;
use crate::failure::{FOUND, Failure};
use crate::output::{deliver, json, width};

pub fn main(args: &CapacityArgs) -> Result<ExitCode, Failure> {
    let plan = Plan::new(
        args.cycle.as_secs_f64(),
        args.instruments.clone(),
        args.risk,
    )
    .map_err(Failure::usage)?;
    let claims = args
        .claimed
        .iter()
        .map(|word| claim(word))
        .collect::<Result<Vec<_>, _>>()?;
    let (experiment, tables) = if args.from_throughput.is_empty() {
        let store = Store::open(&args.store.clone().unwrap_or_else(default_path))
            .map_err(Failure::usage)?;
        let id = match args.experiment {
            Some(id) => id,
            None => newest(&store)?,
        };
        let (experiment, _) = store.load(id).map_err(Failure::usage)?;
        let tables = plan.of_experiment(&experiment);
        if tables.is_empty() {
            return Err(Failure::usage(format!(
                "experiment {id} has no run that gave a figure"
            )));
        }
        (Some(id), tables)
    } else {
        let tables = args
            .from_throughput
            .iter()
            .map(|t| plan.of_throughput(*t))
            .collect::<Result<_, _>>();
        (None, tables.map_err(Failure::usage)?)
    };
    let throughputs: Vec<f64> = tables.iter().map(|t| t.jobs_per_second).collect();
    let report = CapacityReport {
        schema: CapacityReport::SCHEMA.to_owned(),
        experiment,
        cycle_seconds: plan.cycle_seconds,
        risk: plan.risk,
        tables,
        findings: if claims.is_empty() {
            Vec::new()
        } else {
            contradictions(&claims, &throughputs)
        },
    };
    let text = if args.shown.json {
        json(&report)
    } else {
        capacity_text(&report, width())
    };
    deliver(&args.shown.output, &text)?;
    // Claims were given to be checked: a contradiction is what was asked for.
    Ok(if report.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        FOUND.into()
    })
}

fn newest(store: &Store) -> Result<i64, Failure> {
    store
        .list()
        .map_err(Failure::cannot)?
        .first()
        .map(|summary| summary.id)
        .ok_or_else(|| {
            Failure::usage(
                "the store is empty: run `plimsoll bench nuts` first, or give --from-throughput",
            )
        })
}

/// `1000=19.2m`.
fn claim(word: &str) -> Result<Claim, Failure> {
    let wrong = || {
        Failure::usage(format!(
            "--claimed {word}: write it like 1000=19.2m (instruments=time)"
        ))
    };
    let (instruments, time) = word.split_once('=').ok_or_else(wrong)?;
    let (number, unit) = time.split_at(time.trim_end_matches(char::is_alphabetic).len());
    let factor = match unit {
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let seconds = number.parse::<f64>().map_err(|_| wrong())? * factor;
    let instruments = instruments.parse().map_err(|_| wrong())?;
    if instruments == 0 || !(seconds > 0.0 && seconds.is_finite()) {
        return Err(wrong());
    }
    Ok(Claim {
        instruments,
        seconds,
    })
}
