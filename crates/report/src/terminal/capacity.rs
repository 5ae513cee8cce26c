use plimsoll_schema::{CapacityReport, CapacityRow, CapacityTable, Fits};

use super::layout::{Align, Page};
use super::map::advice;
use crate::number::{NOT_AVAILABLE, count, percent, seconds, significant};

/// What fits the cycle, a table for each arm and level; then what contradicts it. No line wider than
/// `width` columns (at least 40).
pub fn capacity_text(report: &CapacityReport, width: usize) -> String {
    let mut page = Page::new(width);
    page.heading(&format!(
        "What fits a cycle of {}, overrunning in at most {} of rounds",
        time(report.cycle_seconds),
        percent(report.risk)
    ));
    for table in &report.tables {
        one(&mut page, table);
    }
    if !report.findings.is_empty() {
        page.heading("Contradictions");
        for finding in &report.findings {
            advice(&mut page, finding);
        }
    }
    page.finish()
}

fn one(page: &mut Page, table: &CapacityTable) {
    let rate = significant(table.jobs_per_second, 3);
    page.heading(&match (table.level, table.jobs_per_second_at_risk) {
        (Some(level), Some(at_risk)) => format!(
            "arm {}, level {level}: {rate} jobs/s, {} at the risk ({})",
            table.arm,
            significant(at_risk, 3),
            count(table.runs, "run")
        ),
        (Some(level), None) => format!(
            "arm {}, level {level}: {rate} jobs/s; {} are too few to judge the risk",
            table.arm,
            count(table.runs, "run")
        ),
        (None, _) => format!("{rate} jobs/s as given; without its runs the risk cannot be judged"),
    });
    let rows: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
    page.table(
        &[
            ("instruments", Align::Right),
            ("round", Align::Right),
            ("at the risk", Align::Right),
            ("machines", Align::Right),
            ("fits", Align::Left),
        ],
        &rows,
    );
    if let Some(most) = table.most_instruments {
        page.body(&format!(
            "at most {} on one machine",
            count(most as usize, "instrument")
        ));
    }
}

fn cells(row: &CapacityRow) -> Vec<String> {
    let fits = match row.fits {
        Fits::Yes => "yes",
        Fits::NotAtThisRisk => "on average, but late too often",
        Fits::OnAverage => "on average",
        Fits::No => "no",
    };
    vec![
        row.instruments.to_string(),
        time(row.seconds),
        row.seconds_at_risk.map_or(NOT_AVAILABLE.to_owned(), time),
        row.machines.map_or("–".to_owned(), |m| m.to_string()),
        fits.to_owned(),
    ]
}

/// Minutes for what takes minutes, as capacity tables have it.
fn time(s: f64) -> String {
    if s >= 60.0 {
        format!("{:.1} min", s / 60.0)
    } else {
        seconds(s)
    }
}
