use plimsoll_schema::MapReport;

use crate::ThreadSpot;

/// The machine of `report` with `threads` on it, as one SVG file.
pub fn map_svg(report: &MapReport, threads: &[ThreadSpot]) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><desc>{} {}</desc></svg>\n",
        report.machine.counts.pus,
        threads.len()
    )
}
