use plimsoll_schema::Experiment;

use super::table::table;
use super::{arm_index, escape, legend, prose, section as titled};
use crate::number::percent;
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
    let counted_alike = words::without_ceilings(e);
    if let Some(chart) = throughput::chart(&counted_alike) {
        body += &format!(
            "<figure>{}<div class=\"y-name\">{} per second</div>{chart}\
             <figcaption>Level: how many run at once. The figures are in the table below.</figcaption></figure>\n",
            legend(&counted_alike),
            escape(unit)
        );
    }
    let mut rows: Vec<Vec<String>> = e
        .efficiency
        .iter()
        .map(|x| {
            vec![
                format!("{}{}", mark::key(arm_index(e, &x.arm)), escape(&x.arm)),
                x.level.to_string(),
                format!("<b>{}</b>", words::figure(e, x)),
                words::figure_interval(e, x),
                words::speedup(x),
                words::efficiency(x).map_or("–".to_owned(), percent),
                words::of_ceiling(x),
                x.runs.to_string(),
            ]
        })
        .collect();
    let per_second = format!(">{unit}/s");
    let mut columns = vec![
        "Arm",
        ">Level",
        &per_second,
        ">Interval",
        ">× one",
        ">Of ideal",
        ">Of ceiling",
        ">Runs",
    ];
    if !words::has_ceiling(e) {
        columns.remove(6);
        rows.iter_mut().for_each(|row| drop(row.remove(6)));
    }
    body += &table(
        "throughput",
        "Throughput by level, medians over runs",
        &columns,
        &rows,
    );
    if let Some(sentence) = words::latency(e) {
        body += &format!("<p>{}.</p>\n", prose(&sentence));
    }
    let lead = words::scaling(e).map_or(String::new(), |s| format!("{}.", prose(&s)));
    titled("throughput", "How far it scales", &lead, &body)
}
