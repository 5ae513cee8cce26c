use plimsoll_schema::{Effect, Experiment};

use super::layout::{Align, Page};
use super::map::advice;
use crate::number::{count, interval, p_value, percent, ratio, significant, utc};
use crate::words;

/// The experiment, verdict first: effects, mechanisms, efficiency, findings, launch line. No line
/// is wider than `width` columns (at least 40).
pub fn experiment_text(e: &Experiment, width: usize) -> String {
    let mut page = Page::new(width);
    match &e.verdict {
        Some(verdict) => {
            page.heading(&verdict.sentence);
            for note in &verdict.notes {
                page.item(note);
            }
        }
        None => page.heading(&words::no_verdict(e)),
    }
    effects(&mut page, e);
    mechanisms(&mut page, e);
    efficiency(&mut page, e);
    failures(&mut page, e);
    if !e.findings.is_empty() {
        page.heading("Findings");
        for finding in &e.findings {
            advice(&mut page, finding);
        }
    }
    if let Some(verdict) = &e.verdict {
        page.heading("Launch with");
        page.body(&verdict.launch.command);
        page.paragraph(&verdict.launch.verify, "  verify: ", "          ");
    }
    page.heading(&format!(
        "{} · {}{} · {}",
        e.design.workload,
        if e.id > 0 {
            format!("experiment {} · ", e.id)
        } else {
            String::new()
        },
        utc(e.started_at_ms),
        words::status(e.status)
    ));
    page.body(&words::design(e));
    page.paragraph(&e.reproduce, "  repeat: ", "          ");
    page.finish()
}

fn effects(page: &mut Page, e: &Experiment) {
    if e.effects.is_empty() {
        return;
    }
    page.heading(&format!(
        "Work per second compared with {} (above 1 = faster)",
        e.design.baseline
    ));
    let rows: Vec<Vec<String>> = e
        .effects
        .iter()
        .map(|effect| {
            vec![
                words::compared(e, effect),
                effect.level.to_string(),
                ratio(effect.ratio, effect.interval.as_ref()),
                effect.interval.as_ref().map_or("–".to_owned(), interval),
                p_value(effect.p_adjusted),
                effect.blocks.to_string(),
                words::detects(effect),
                words::conclusion(effect.conclusion).to_owned(),
            ]
        })
        .collect();
    page.table(
        &[
            ("arm", Align::Left),
            ("level", Align::Right),
            ("ratio", Align::Right),
            ("interval", Align::Right),
            ("p", Align::Right),
            ("blocks", Align::Right),
            ("detects", Align::Right),
            ("conclusion", Align::Left),
        ],
        &rows,
    );
    for arm in e.arms.iter().filter(|arm| arm.same_as.len() > 1) {
        page.item(&format!(
            "{}: the same placement here, measured as one arm",
            words::arm_names(arm)
        ));
    }
    page.item(
        "detects: the smallest true difference that so many blocks find with 90 % probability",
    );
}

fn mechanisms(page: &mut Page, e: &Experiment) {
    let with: Vec<&Effect> = e
        .effects
        .iter()
        .filter(|x| !x.mechanisms.is_empty())
        .collect();
    if with.is_empty() {
        return;
    }
    page.heading("Counters beside each effect (median over runs)");
    let rows: Vec<Vec<String>> = with
        .into_iter()
        .flat_map(|effect| {
            effect.mechanisms.iter().map(|m| {
                vec![
                    format!("{} at {}", effect.arm, effect.level),
                    m.counter.clone(),
                    format!("{} ({})", significant(m.arm, 3), significant(m.baseline, 3)),
                    m.unit.clone(),
                    if m.explains { "explains it" } else { "–" }.to_owned(),
                ]
            })
        })
        .collect();
    page.table(
        &[
            ("effect", Align::Left),
            ("counter", Align::Left),
            ("arm (baseline)", Align::Right),
            ("unit", Align::Left),
            ("evidence", Align::Left),
        ],
        &rows,
    );
}

fn efficiency(page: &mut Page, e: &Experiment) {
    if e.efficiency.is_empty() {
        return;
    }
    let unit = if e.design.unit.is_empty() {
        "work"
    } else {
        &e.design.unit
    };
    page.heading("Throughput by level (median over runs)");
    let per_second = format!("{unit}/s");
    let mut rows: Vec<Vec<String>> = e
        .efficiency
        .iter()
        .map(|x| {
            vec![
                x.arm.clone(),
                x.level.to_string(),
                words::figure(e, x),
                words::figure_interval(e, x),
                words::speedup(x),
                words::efficiency(x).map_or("–".to_owned(), percent),
                words::of_ceiling(x),
                x.runs.to_string(),
            ]
        })
        .collect();
    let mut columns = vec![
        ("arm", Align::Left),
        ("level", Align::Right),
        (&per_second, Align::Right),
        ("interval", Align::Right),
        ("× one", Align::Right),
        ("of ideal", Align::Right),
        ("of ceiling", Align::Right),
        ("runs", Align::Right),
    ];
    // The share of the ideal gives way to the share of what was measured to be possible.
    let left_out = if words::has_ceiling(e) { 5 } else { 6 };
    columns.remove(left_out);
    rows.iter_mut().for_each(|row| drop(row.remove(left_out)));
    page.table(&columns, &rows);
    for sentence in [words::scaling(e), words::latency(e)].into_iter().flatten() {
        page.item(&sentence);
    }
}

fn failures(page: &mut Page, e: &Experiment) {
    let failed: Vec<_> = words::failed(&e.runs).collect();
    if failed.is_empty() {
        return;
    }
    page.heading(&format!("{} failed", count(failed.len(), "run")));
    for (run, why) in failed.iter().take(5) {
        page.item(&format!(
            "{} at level {}, block {}: {why}",
            run.arm,
            run.level,
            run.block + 1
        ));
    }
    if failed.len() > 5 {
        page.item(&format!("… and {} more", failed.len() - 5));
    }
}
