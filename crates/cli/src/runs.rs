//! `plimsoll runs`: what is in the store.

use std::collections::BTreeSet;
use std::process::ExitCode;

use plimsoll_lab::{Store, analyse, default_path};
use plimsoll_placement::map_report;
use plimsoll_report::{RunsRow, compare_text, experiment_html, experiment_text, runs_table};
use plimsoll_schema::{Comparison, ComparisonRow, Experiment, RunStatus, RunsList, Summary};

use crate::args::{Format, RunsArgs, RunsVerb};
use crate::failure::Failure;
use crate::output::{deliver, json, width};

pub fn main(args: &RunsArgs) -> Result<ExitCode, Failure> {
    let store =
        Store::open(&args.store.clone().unwrap_or_else(default_path)).map_err(Failure::usage)?;
    match &args.what {
        RunsVerb::List(shown) => {
            let rows = store.list().map_err(Failure::cannot)?;
            let text = if shown.json {
                json(&RunsList {
                    schema: RunsList::SCHEMA.to_owned(),
                    experiments: rows,
                })
            } else {
                table(rows)
            };
            deliver(&shown.output, &text)?;
        }
        RunsVerb::Show { id, shown } => {
            let experiment = load(&store, *id)?;
            let text = if shown.json {
                json(&experiment)
            } else {
                experiment_text(&experiment, width())
            };
            deliver(&shown.output, &text)?;
        }
        RunsVerb::Compare { a, b, shown } => {
            let (a, b) = (load(&store, *a)?, load(&store, *b)?);
            let text = if shown.json {
                json(&comparison(&a, &b))
            } else {
                compare_text(&a, &b, width())
            };
            deliver(&shown.output, &text)?;
        }
        RunsVerb::Export { id, format, output } => {
            let experiment = load(&store, *id)?;
            let text = match format {
                Format::Json => json(&experiment),
                Format::Csv => csv(&experiment),
                Format::Html => {
                    let map = map_report(&experiment.machine, None, None).ok();
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

fn comparison(a: &Experiment, b: &Experiment) -> Comparison {
    let rows = a
        .efficiency
        .iter()
        .filter_map(|x| {
            let y = b
                .efficiency
                .iter()
                .find(|y| y.arm == x.arm && y.level == x.level)?;
            Some(ComparisonRow {
                arm: x.arm.clone(),
                level: x.level,
                a: x.ops_per_second,
                a_interval: x.ops_interval,
                b: y.ops_per_second,
                b_interval: y.ops_interval,
            })
        })
        .collect();
    let mut cautions = vec![
        "The two were not interleaved: what the machine did in between is part of every difference, so no \
         claim is made. To compare, make them arms of one experiment."
            .to_owned(),
    ];
    let mut differs = |what: &str, x: String, y: String| {
        if x != y {
            cautions.push(format!("{what} differs: {x} and {y}."));
        }
    };
    differs(
        "The workload",
        a.design.workload.clone(),
        b.design.workload.clone(),
    );
    differs(
        "The command",
        a.design.command.join(" "),
        b.design.command.join(" "),
    );
    differs(
        "The window",
        format!("{} s", a.design.window_seconds),
        format!("{} s", b.design.window_seconds),
    );
    differs(
        "Plimsoll",
        a.plimsoll_version.clone(),
        b.plimsoll_version.clone(),
    );
    for name in a
        .settings
        .keys()
        .chain(b.settings.keys())
        .collect::<BTreeSet<_>>()
    {
        let value = |e: &Experiment| {
            e.settings
                .get(name)
                .cloned()
                .unwrap_or_else(|| "unset".to_owned())
        };
        differs(name, value(a), value(b));
    }
    if a.machine.counts != b.machine.counts || a.machine.cpu_model != b.machine.cpu_model {
        cautions.push("They ran on different machines.".to_owned());
    }
    Comparison {
        schema: Comparison::SCHEMA.to_owned(),
        a: a.id,
        b: b.id,
        rows,
        cautions,
    }
}

fn csv(experiment: &Experiment) -> String {
    let mut text = "block,order,arm,level,seed,status,started_at_ms,ops_per_second,warmup_seconds,measured_seconds,steady\n".to_owned();
    for run in &experiment.runs {
        let status = match &run.status {
            RunStatus::Ok => "ok",
            RunStatus::Failed { .. } => "failed",
        };
        let figure = run.ops_per_second.map_or(String::new(), |x| x.to_string());
        let line = [
            run.block.to_string(),
            run.order.to_string(),
            quoted(&run.arm),
            run.level.to_string(),
            run.seed.to_string(),
            status.to_owned(),
            run.started_at_ms.to_string(),
            figure,
            run.warmup_seconds.to_string(),
            run.measured_seconds.to_string(),
            run.steady.to_string(),
        ];
        text.push_str(&line.join(","));
        text.push('\n');
    }
    text
}

/// A field as RFC 4180 has it.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
