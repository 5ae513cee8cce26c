//! `plimsoll runs`: what is in the store.

use std::fmt::Write;
use std::process::ExitCode;

use plimsoll_lab::{Store, Summary, analyse, default_path};
use plimsoll_placement::map_report;
use plimsoll_report::{RunsRow, experiment_html, experiment_text, runs_table};
use plimsoll_schema::{Experiment, RunStatus};
use serde_json::json;

use crate::args::{Format, RunsArgs, RunsVerb};
use crate::failure::Failure;
use crate::output::{deliver, json as to_json, width};

pub fn main(args: &RunsArgs) -> Result<ExitCode, Failure> {
    let store = Store::open(&args.store.clone().unwrap_or_else(default_path)).map_err(Failure::usage)?;
    match &args.what {
        RunsVerb::List(shown) => {
            let rows = store.list().map_err(Failure::cannot)?;
            let text = if shown.json { to_json(&list(&rows)) } else { table(rows) };
            deliver(&shown.output, &text)?;
        }
        RunsVerb::Show { id, shown } => {
            let experiment = load(&store, *id)?;
            let text = if shown.json { to_json(&experiment) } else { experiment_text(&experiment, width()) };
            deliver(&shown.output, &text)?;
        }
        RunsVerb::Compare { a, b, shown } => {
            let (a, b) = (load(&store, *a)?, load(&store, *b)?);
            let text = if shown.json { to_json(&comparison(&a, &b)) } else { side_by_side(&a, &b) };
            deliver(&shown.output, &text)?;
        }
        RunsVerb::Export { id, format, output } => {
            let experiment = load(&store, *id)?;
            let text = match format {
                Format::Json => to_json(&experiment),
                Format::Csv => csv(&experiment),
                Format::Html => {
                    let map = map_report(experiment.machine.clone(), None, None).ok();
                    experiment_html(&experiment, map.as_ref())
                }
            };
            deliver(output, &text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Loads and analyses again: a newer Plimsoll may say more of old runs.
fn load(store: &Store, id: i64) -> Result<Experiment, Failure> {
    let (mut experiment, _) = store.load(id).map_err(Failure::usage)?;
    analyse(&mut experiment);
    Ok(experiment)
}

fn table(rows: Vec<Summary>) -> String {
    let rows: Vec<RunsRow> = rows
        .into_iter()
        .map(|s| RunsRow {
            id: s.id,
            started_at_ms: s.started_at_ms,
            workload: s.workload,
            status: s.status,
            runs: s.runs,
            verdict: s.verdict,
        })
        .collect();
    runs_table(&rows, width())
}

fn list(rows: &[Summary]) -> serde_json::Value {
    json!({
        "schema": "plimsoll.runs/1",
        "experiments": rows.iter().map(|s| json!({
            "id": s.id,
            "started_at_ms": s.started_at_ms,
            "workload": s.workload,
            "status": s.status,
            "arms": s.arms,
            "levels": s.levels,
            "runs": s.runs,
            "verdict": s.verdict,
        })).collect::<Vec<_>>(),
    })
}
