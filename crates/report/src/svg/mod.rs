//! Drawings. The machine is a file of its own; charts are parts of the page.
//!
//! Charts place things by percent across and by pixel down: they fill whatever width they get
//! while text, strokes and marks keep their size, so that a phone shows them as readable as a
//! desk.

pub mod forest;
pub mod latency;
pub mod machine;
pub mod mark;
pub mod strip;
pub mod throughput;
pub mod warmup;

use plimsoll_schema::MapReport;

use crate::ThreadSpot;

/// The machine of `report` with `threads` on it, as one SVG file: light or dark as the reader's
/// system is, no script, nothing loaded. Threads without a CPU are listed as running anywhere.
///
/// ```
/// # let machine = r#"{"source":{"kind":"live"},"cpu_model":null,"counts":{"packages":0,
/// # "numa_nodes":0,"l3_domains":0,"cores":0,"pus":0,"online":0,"allowed":0,"threads_per_core":0},
/// # "packages":[],"numa_nodes":[],"l3_domains":[],"cores":[],"pus":[],"kernel":null,"limits":null}"#;
/// # let report = plimsoll_schema::MapReport {
/// #     schema: String::new(), machine: serde_json::from_str(machine).unwrap(), schedulers: 1,
/// #     cpuset: "0".parse().unwrap(), bindings: Default::default(), classes: vec![],
/// #     reach: vec![], sct: None, advice: vec![] };
/// let threads = plimsoll_report::thread_spots(&report, plimsoll_schema::BindType::Ts);
/// let svg = plimsoll_report::map_svg(&report, &threads);
/// assert!(svg.starts_with("<svg"));
/// ```
pub fn map_svg(report: &MapReport, threads: &[ThreadSpot]) -> String {
    machine::standalone(&report.machine, threads)
}

/// A number as an SVG attribute: short, never `NaN`.
pub fn n(x: f64) -> String {
    if !x.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0",
        text => text,
    }
    .to_owned()
}

/// Round steps for an axis from `low` to `high`: about `count` of them, each a multiple of 1, 2,
/// 2.5 or 5 times a power of ten.
pub fn ticks(low: f64, high: f64, count: f64) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    let rough = span / count;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= rough)
        .unwrap_or(rough);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last.min(first + 100))
        .map(|i| i as f64 * step)
        .collect()
}

/// Decimals that tell `ticks` apart.
pub fn tick_decimals(ticks: &[f64]) -> usize {
    match ticks {
        [a, b, ..] => {
            let power = (b - a).abs().log10().floor();
            // A step of 2.5 needs one decimal more than its power of ten.
            let extra = f64::from(((b - a).abs() / 10f64.powf(power) - 2.5).abs() < 0.01);
            (extra - power).clamp(0.0, 6.0) as usize
        }
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.0, 10.0, 5.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let t = ticks(0.93, 1.08, 4.0);
        assert!(
            t.iter().all(|x| (0.93..=1.08).contains(x)) && t.len() >= 3,
            "{t:?}"
        );
        assert_eq!(ticks(1.0, 1.0, 4.0), [1.0]);
        assert_eq!(ticks(f64::NAN, 1.0, 4.0).len(), 1);
    }

    #[test]
    fn attributes_are_never_nan() {
        assert_eq!(n(f64::NAN), "0");
        assert_eq!(n(-0.001), "0");
        assert_eq!(n(12.50), "12.5");
    }
}
