use plimsoll_schema::Experiment;

use super::table::table;
use super::{arm_index, escape, legend, prose, section as titled};
use crate::number::{interval, percent, ratio};
use crate::svg::{mark, throughput};
use crate::words;

/// Throughput against level, with what would be ideal.
pub fn section(e: &Experiment) -> String {
    if e.efficiency.is_empty() {
        return String::new();
    }
    let unit = if e.design.unit.is_empty() {
        "work"
    } else {
        &e.design.unit
    };
    let mut body = String::new();
    if let Some(chart) = throughput::chart(e) {
        body += &format!(
            "<figure>{}<div class=\"y-name\">{} per second</div>{chart}\
             <figcaption>Level: how many run at once. The figures are in the table below.</figcaption></figure>\n",
            legend(e),
            escape(unit)
        );
    }
    let rows: Vec<Vec<String>> = e
        .efficiency
        .iter()
        .map(|x| {
            vec![
                format!("{}{}", mark::key(arm_index(e, &x.arm)), escape(&x.arm)),
                x.level.to_string(),
                format!(
                    "<b>{}</b>",
                    ratio(x.ops_per_second, x.ops_interval.as_ref())
                ),
                x.ops_interval.as_ref().map_or("–".to_owned(), interval),
                words::speedup(x),
                words::efficiency(x).map_or("–".to_owned(), percent),
                x.runs.to_string(),
            ]
        })
        .collect();
    let per_second = format!(">{unit}/s");
    body += &table(
        "throughput",
        "Throughput by level, medians over runs",
        &[
            "Arm",
            ">Level",
            &per_second,
            ">Interval",
            ">× one",
            ">Of ideal",
            ">Runs",
        ],
        &rows,
    );
    let lead = words::scaling(e).map_or(String::new(), |s| format!("{}.", prose(&s)));
    titled("throughput", "How far it scales", &lead, &body)
}
