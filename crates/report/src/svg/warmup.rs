//! The samples inside the runs: what was left out as warm-up, and whether what was kept is steady.

use plimsoll_schema::{Experiment, Run};

use super::{n, ticks};
use crate::number::{percent, seconds};

const HEIGHT: f64 = 170.0;

/// More dots than this make a page heavy and show nothing new.
const DOTS: usize = 1_500;

/// Samples of all runs (evenly thinned when there are many) over the time since the run's start,
/// relative to the run's own figure; `None` when the workload gives no samples.
pub fn chart(e: &Experiment) -> Option<String> {
    let runs: Vec<&Run> = e
        .runs
        .iter()
        .filter(|r| r.samples.len() > 1 && r.ops_per_second.is_some_and(|x| x > 0.0))
        .collect();
    let dots: usize = runs.iter().map(|r| r.samples.len()).sum();
    let every = dots.div_ceil(DOTS).max(1);
    let end = runs
        .iter()
        .map(|r| r.samples.iter().map(|s| s.seconds).sum::<f64>())
        .fold(0.0, f64::max);
    if !end.is_finite() || end <= 0.0 {
        return None;
    }
    // Up to half as much again is shown; a sample beyond stands at the edge.
    let y = |share: f64| HEIGHT - 24.0 - (HEIGHT - 34.0) * share.clamp(0.0, 1.5) / 1.5;
    let x = |t: f64| 15.0 + 83.0 * t / end;
    let mut out =
        format!("<svg class=\"plot\" width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">");
    for share in [0.0, 0.5, 1.0] {
        out += &format!(
            "<line class=\"{}\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/>\
             <text class=\"start\" x=\"0\" y=\"{}\">{}</text>",
            if share == 1.0 { "one" } else { "grid" },
            n(y(share) - 3.0),
            percent(share),
            y = n(y(share))
        );
    }
    for t in ticks(0.0, end, 4.0) {
        if x(t) < 96.0 {
            out += &format!(
                "<text x=\"{}%\" y=\"{}\">{}</text>",
                n(x(t)),
                n(HEIGHT - 6.0),
                seconds(t)
            );
        }
    }
    for run in runs.iter().step_by(every) {
        let figure = run.ops_per_second.unwrap_or(1.0);
        let mut t = 0.0;
        for s in &run.samples {
            t += s.seconds;
            let share = s.ops / s.seconds / figure;
            if share.is_finite() {
                // A sample ends at `t`: it is warm-up when it ended within the part left out.
                let class = if t <= run.warmup_seconds + 1e-9 {
                    "cold"
                } else {
                    "kept"
                };
                out += &format!(
                    "<circle class=\"{class}\" cx=\"{}%\" cy=\"{}\" r=\"2\"/>",
                    n(x(t - s.seconds / 2.0)),
                    n(y(share))
                );
            }
        }
    }
    Some(out + "</svg>")
}
