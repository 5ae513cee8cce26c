//! Every run in the order in which it was made, one strip per level: drift shows as a slope.

use plimsoll_schema::{Experiment, Run};

use super::mark::mark;
use super::{n, ticks};
use crate::number::change;

const HEIGHT: f64 = 132.0;

/// The strip of one level, relative to the median of all its runs; `None` when no run gave a
/// figure.
pub fn chart(e: &Experiment, level: u32) -> Option<String> {
    let runs: Vec<&Run> = e.runs.iter().filter(|r| r.level == level).collect();
    let figure = |r: &Run| r.ops_per_second.filter(|x| x.is_finite() && *x > 0.0);
    let mut figures: Vec<f64> = runs.iter().filter_map(|r| figure(r)).collect();
    figures.sort_by(f64::total_cmp);
    let median = *figures.get(figures.len() / 2)?;
    let reach = figures
        .iter()
        .map(|x| (x / median - 1.0).abs())
        .fold(0.005, f64::max)
        * 1.15;
    let last = e.runs.iter().map(|r| r.order).max().unwrap_or(0).max(1) as f64;
    let x = |r: &Run| 15.0 + 83.0 * r.order as f64 / last;
    let y = |deviation: f64| HEIGHT / 2.0 - (HEIGHT / 2.0 - 8.0) * deviation / reach;
    let mut out =
        format!("<svg class=\"plot\" width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">");
    for tick in ticks(-reach, reach, 4.0) {
        let zero = tick.abs() < 1e-12;
        out += &format!(
            "<line class=\"{}\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/>",
            if zero { "one" } else { "grid" },
            y = n(y(tick))
        );
        let label = if zero {
            "median".to_owned()
        } else {
            change(1.0 + tick)
        };
        out += &format!(
            "<text class=\"start\" x=\"0\" y=\"{}\">{label}</text>",
            n(y(tick) - 3.0)
        );
    }
    for run in runs {
        let arm = e.arms.iter().position(|a| a.name == run.arm).unwrap_or(0);
        out += &match figure(run) {
            Some(ops) => mark(arm, x(run), y(ops / median - 1.0), !run.steady),
            None => format!(
                "<text class=\"failed\" x=\"{}%\" y=\"{}\">✕</text>",
                n(x(run)),
                n(HEIGHT - 4.0)
            ),
        };
    }
    Some(out + "</svg>")
}
