use plimsoll_schema::{Experiment, Run, RunStatus};

use super::table::table;
use super::{arm_index, escape, legend, section as titled};
use crate::number::{count, seconds, significant};
use crate::svg::{mark, n, strip, warmup};
use crate::words;

/// Every run: strips in the order in which they were made, warm-up, and a table to open.
pub fn section(e: &Experiment) -> String {
    if e.runs.is_empty() {
        return String::new();
    }
    let mut body = legend(e);
    for &level in &e.levels {
        if let Some(chart) = strip::chart(e, level) {
            body += &format!(
                "<figure class=\"strip-plot\"><figcaption><b>Level {level}</b> against the median \
                 of all runs at this level, first run left</figcaption>{chart}</figure>\n"
            );
        }
    }
    if let Some(chart) = warmup::chart(e) {
        body += &format!(
            "<figure class=\"warm\"><figcaption><b>Inside the runs</b> samples as a share of the \
             run's own figure; hollow ones were left out as warm-up</figcaption>{chart}</figure>\n"
        );
    }
    body += &format!("<p>{}</p>\n", escape(&warmth(e)));
    let failed: Vec<String> = words::failed(&e.runs)
        .take(8)
        .map(|(run, why)| {
            format!(
                "Run {} ({} at {}): {why}",
                run.order + 1,
                run.arm,
                run.level
            )
        })
        .collect();
    if !failed.is_empty() {
        body += &super::list("failures", failed.iter().map(|f| escape(f)));
    }
    body += &format!(
        "<details><summary>All {} as a table</summary>\n{}</details>\n",
        count(e.runs.len(), "run"),
        all(e)
    );
    titled(
        "runs",
        "Every run",
        "One mark is one run in a process of its own. A slope would be drift; arms take turns \
         inside each block, so that drift hits all of them alike.",
        &body,
    )
}

/// One sentence on warm-up and steadiness.
fn warmth(e: &Experiment) -> String {
    let good: Vec<&Run> = e
        .runs
        .iter()
        .filter(|r| r.status == RunStatus::Ok)
        .collect();
    let mut warm: Vec<f64> = good.iter().map(|r| r.warmup_seconds).collect();
    warm.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (warm.first(), warm.last()) else {
        return "No run gave a figure.".to_owned();
    };
    let restless = good.iter().filter(|r| !r.steady).count();
    let steady = match restless {
        0 => "every run became steady".to_owned(),
        k => format!(
            "{k} of {} never became steady and count with their second half (hollow marks)",
            count(good.len(), "run")
        ),
    };
    format!(
        "Left out as warm-up: {} in the median ({} to {}) of {}; {steady}.",
        seconds(warm[warm.len() / 2]),
        seconds(*first),
        seconds(*last),
        seconds(e.design.window_seconds)
    )
}

fn all(e: &Experiment) -> String {
    let rows: Vec<Vec<String>> = e
        .runs
        .iter()
        .map(|r| {
            let figure = match (&r.status, r.ops_per_second) {
                (RunStatus::Failed { .. }, _) => "failed".to_owned(),
                (RunStatus::Ok, Some(x)) => significant(x, 4),
                (RunStatus::Ok, None) => "–".to_owned(),
            };
            vec![
                (r.order + 1).to_string(),
                (r.block + 1).to_string(),
                format!("{}{}", mark::key(arm_index(e, &r.arm)), escape(&r.arm)),
                r.level.to_string(),
                figure,
                seconds(r.warmup_seconds),
                seconds(r.measured_seconds),
                spark(r),
                if r.steady { "yes" } else { "no" }.to_owned(),
                r.seed.to_string(),
            ]
        })
        .collect();
    let unit = if e.design.unit.is_empty() {
        ">per second".to_owned()
    } else {
        format!(">{}/s", e.design.unit)
    };
    table(
        "runs",
        "Runs in the order in which they were made",
        &[
            ">Run",
            ">Block",
            "Arm",
            ">Level",
            &unit,
            ">Warm-up",
            ">Measured",
            "Samples",
            "Steady",
            ">Seed",
        ],
        &rows,
    )
}

/// The samples of a run as a line; the part left out is thin.
fn spark(r: &Run) -> String {
    let rates: Vec<f64> = r.samples.iter().map(|s| s.ops / s.seconds).collect();
    let highest = rates
        .iter()
        .copied()
        .filter(|x| x.is_finite())
        .fold(0.0, f64::max);
    if rates.len() < 2 || highest <= 0.0 {
        return "–".to_owned();
    }
    // A line of more points than pixels is only heavier.
    let every = rates.len().div_ceil(60);
    let mut t = 0.0;
    let (mut cold, mut kept) = (Vec::new(), Vec::new());
    for (i, (sample, rate)) in r.samples.iter().zip(&rates).enumerate() {
        t += sample.seconds;
        if i % every != 0 {
            continue;
        }
        let x = 1.0 + 88.0 * i as f64 / (rates.len() - 1) as f64;
        let point = format!("{},{}", n(x), n(21.0 - 19.0 * rate / highest));
        if t <= r.warmup_seconds + 1e-9 {
            cold.push(point);
        } else {
            if kept.is_empty() && !cold.is_empty() {
                cold.push(point.clone());
            }
            kept.push(point);
        }
    }
    format!(
        "<svg class=\"spark\" width=\"90\" height=\"22\" aria-hidden=\"true\">\
         <polyline class=\"cold\" points=\"{}\"/><polyline class=\"kept\" points=\"{}\"/></svg>",
        cold.join(" "),
        kept.join(" ")
    )
}
