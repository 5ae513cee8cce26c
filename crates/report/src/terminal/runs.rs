use plimsoll_schema::ExperimentStatus;

use super::layout::{Align, Page};
use crate::number::utc;
use crate::words;

/// One line of `plimsoll runs list`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunsRow {
    /// Number in the store.
    pub id: i64,
    /// Start, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    /// Name of the workload.
    pub workload: String,
    /// How far it came.
    pub status: ExperimentStatus,
    /// Runs stored.
    pub runs: usize,
    /// The verdict's sentence, when there is one.
    pub verdict: Option<String>,
}

/// The stored experiments, in the order given, no line wider than `width` columns (at least 40).
pub fn runs_table(rows: &[RunsRow], width: usize) -> String {
    let mut page = Page::new(width);
    if rows.is_empty() {
        page.heading("No experiment is stored yet. Make one: plimsoll bench spin");
        return page.finish();
    }
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.id.to_string(),
                utc(row.started_at_ms),
                row.workload.clone(),
                row.runs.to_string(),
                row.verdict
                    .clone()
                    .unwrap_or_else(|| words::status(row.status).to_owned()),
            ]
        })
        .collect();
    page.table(
        &[
            ("id", Align::Right),
            ("started", Align::Left),
            ("workload", Align::Left),
            ("runs", Align::Right),
            ("verdict", Align::Left),
        ],
        &rows,
    );
    page.finish()
}
