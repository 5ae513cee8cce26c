use std::collections::{BTreeMap, BTreeSet};

use plimsoll_schema::Calibration;

use super::layout::{Align, Page};
use crate::number::{NOT_AVAILABLE, count, interval, percent, ratio};
use crate::words;

/// How often the statistics claim falsely, find what is there, and cover the truth; then the real
/// machine's own noise. No line wider than `width` columns (at least 40).
pub fn calibration_text(c: &Calibration, width: usize) -> String {
    let mut page = Page::new(width);
    let worst = c.false_claims.values().copied().fold(0.0, f64::max);
    page.heading(&format!(
        "False claims on identical arms: at most {} in {} (stated: {})",
        percent(worst),
        count(c.experiments, "simulated experiment"),
        percent(c.error_rate)
    ));
    page.body(&format!(
        "{} and {} in each experiment",
        count(c.blocks, "block"),
        count(c.effects, "effect")
    ));
    let kinds: BTreeSet<&String> = [&c.false_claims, &c.power, &c.coverage]
        .into_iter()
        .flat_map(BTreeMap::keys)
        .collect();
    let cell = |map: &BTreeMap<String, f64>, kind: &String| {
        map.get(kind)
            .map_or("–".to_owned(), |&share| percent(share))
    };
    let rows: Vec<Vec<String>> = kinds
        .into_iter()
        .map(|kind| {
            vec![
                kind.clone(),
                cell(&c.false_claims, kind),
                cell(&c.power, kind),
                cell(&c.coverage, kind),
            ]
        })
        .collect();
    page.table(
        &[
            ("noise", Align::Left),
            ("false claims", Align::Right),
            ("3 % found", Align::Right),
            ("covered", Align::Right),
        ],
        &rows,
    );
    page.body(&format!(
        "stated: false claims ≤ {}, covered ≥ {}",
        percent(c.error_rate),
        percent(c.stated_coverage)
    ));
    match &c.noise_floor {
        None => page.heading("Simulated only: the real machine was not measured"),
        Some(floor) => {
            page.heading("This machine's own noise, from two identical arms");
            let e = &floor.effect;
            page.item(&format!("single runs vary by {}", percent(floor.run_cv)));
            page.item(&format!(
                "ratios inside a block vary by {}",
                percent(floor.pair_sd)
            ));
            page.item(&format!(
                "ratio of the two: {} ({}), {}: {}, {} would have been found",
                ratio(e.ratio, e.interval.as_ref()),
                e.interval
                    .as_ref()
                    .map_or(NOT_AVAILABLE.to_owned(), interval),
                count(e.blocks, "block"),
                words::conclusion(e.conclusion),
                words::detects(e)
            ));
        }
    }
    page.finish()
}
