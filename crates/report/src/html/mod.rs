use plimsoll_schema::{Experiment, MapReport};

/// The experiment as one HTML file that needs nothing else.
pub fn experiment_html(e: &Experiment, map: Option<&MapReport>) -> String {
    format!(
        "<!doctype html><title>Plimsoll {}</title>{}",
        e.id,
        map.is_some()
    )
}
