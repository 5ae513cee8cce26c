use std::collections::BTreeSet;

use plimsoll_schema::{Effect, Efficiency, Experiment};

use super::layout::{Align, Page};
use crate::number::{interval, ratio, utc};
use crate::words;

/// Two stored experiments side by side: their effects and throughput where arm and level are the
/// same. No line is wider than `width` columns (at least 40).
///
/// Nothing is claimed from the comparison: runs of different experiments share no block, so that a
/// difference between them may be the day's.
pub fn compare_text(a: &Experiment, b: &Experiment, width: usize) -> String {
    let mut page = Page::new(width);
    page.heading("Two experiments side by side");
    for e in [a, b] {
        page.item(&format!(
            "{}: {}, {}: {}",
            e.id,
            e.design.workload,
            utc(e.started_at_ms),
            e.verdict
                .as_ref()
                .map_or_else(|| words::no_verdict(e), |v| v.sentence.clone())
        ));
    }
    for (what, differs) in [
        ("workload", a.design.workload != b.design.workload),
        ("baseline", a.design.baseline != b.design.baseline),
        ("machine", a.machine.counts != b.machine.counts),
        ("window", a.design.window_seconds != b.design.window_seconds),
        ("settings", a.settings != b.settings),
    ] {
        if differs {
            page.item(&format!("they differ in: {what}"));
        }
    }
    let names = [format!("in {}", a.id), format!("in {}", b.id)];
    let effect = |x: &Effect| {
        let ends = x
            .interval
            .as_ref()
            .map_or("no interval".to_owned(), interval);
        format!("{} ({ends})", ratio(x.ratio, x.interval.as_ref()))
    };
    let of = |e: &Experiment, arm: &str, level: u32| {
        let found = e.effects.iter().find(|x| x.arm == arm && x.level == level);
        found.map_or("–".to_owned(), effect)
    };
    let keys = |e: &Experiment| -> Vec<(String, u32)> {
        e.effects.iter().map(|x| (x.arm.clone(), x.level)).collect()
    };
    table(
        &mut page,
        "Effects: ratio to the baseline",
        &names,
        keys(a),
        keys(b),
        |arm, level| [of(a, arm, level), of(b, arm, level)],
    );
    let throughput = |x: &Efficiency| {
        let ends = x
            .ops_interval
            .as_ref()
            .map_or("no interval".to_owned(), interval);
        format!(
            "{} ({ends})",
            ratio(x.ops_per_second, x.ops_interval.as_ref())
        )
    };
    let of = |e: &Experiment, arm: &str, level: u32| {
        let found = e
            .efficiency
            .iter()
            .find(|x| x.arm == arm && x.level == level);
        found.map_or("–".to_owned(), throughput)
    };
    let keys = |e: &Experiment| -> Vec<(String, u32)> {
        e.efficiency
            .iter()
            .map(|x| (x.arm.clone(), x.level))
            .collect()
    };
    table(
        &mut page,
        "Throughput: work per second",
        &names,
        keys(a),
        keys(b),
        |arm, level| [of(a, arm, level), of(b, arm, level)],
    );
    page.heading("No claim follows from this");
    page.body(
        "Runs of different experiments share no block: a difference between them may be the day's. \
         To compare two settings, make them arms of one experiment.",
    );
    page.finish()
}

fn table(
    page: &mut Page,
    title: &str,
    names: &[String; 2],
    a: Vec<(String, u32)>,
    b: Vec<(String, u32)>,
    cells: impl Fn(&str, u32) -> [String; 2],
) {
    let keys: BTreeSet<(String, u32)> = a.into_iter().chain(b).collect();
    if keys.is_empty() {
        return;
    }
    page.heading(title);
    let rows: Vec<Vec<String>> = keys
        .into_iter()
        .map(|(arm, level)| {
            let [a, b] = cells(&arm, level);
            vec![arm, level.to_string(), a, b]
        })
        .collect();
    page.table(
        &[
            ("arm", Align::Left),
            ("level", Align::Right),
            (&names[0], Align::Left),
            (&names[1], Align::Left),
        ],
        &rows,
    );
}
