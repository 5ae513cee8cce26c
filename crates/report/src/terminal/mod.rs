use plimsoll_schema::{Calibration, Experiment, ExperimentStatus, MapReport};

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

/// The machine and its bind types, no line wider than `width` columns (at least 40).
pub fn map_text(report: &MapReport, _width: usize) -> String {
    format!(
        "{} PUs\nclasses: {:?}\n",
        report.machine.counts.pus, report.classes
    )
}

/// The experiment, verdict first, no line wider than `width` columns (at least 40).
pub fn experiment_text(e: &Experiment, _width: usize) -> String {
    format!(
        "{}\n",
        e.verdict.as_ref().map_or("no verdict yet", |v| &v.sentence)
    )
}

/// How often the statistics claim falsely and find what is there.
pub fn calibration_text(c: &Calibration, _width: usize) -> String {
    format!(
        "false claims {:?}\npower {:?}\ncoverage {:?}\n",
        c.false_claims, c.power, c.coverage
    )
}

/// The stored experiments, one line each.
pub fn runs_table(rows: &[RunsRow], _width: usize) -> String {
    rows.iter()
        .map(|r| format!("{} {} {}\n", r.id, r.workload, r.runs))
        .collect()
}

/// `text` with its headings in bold for a terminal that knows ANSI escapes.
pub fn emphasised(text: &str) -> String {
    text.to_owned()
}
