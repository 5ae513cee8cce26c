//! Latency distributions the HDR way: lateness on a logarithmic axis against how rare it is, each step
//! to the right ten times rarer.

use plimsoll_schema::{JitterArm, JitterReport, LatenessBin};

use super::mark::{class, mark};
use super::n;
use crate::jitter::time;

const HEIGHT: f64 = 340.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 30.0;
const LEFT: f64 = 10.0;
const RIGHT: f64 = 96.0;

/// The chart, or nothing without wake-ups.
pub fn chart(report: &JitterReport) -> Option<String> {
    let arms: Vec<(usize, &JitterArm)> = report
        .arms
        .iter()
        .enumerate()
        .filter(|(_, arm)| !arm.histogram.is_empty())
        .collect();
    let most = arms.iter().map(|(_, arm)| total(&arm.histogram)).max()?;
    let highest = arms
        .iter()
        .filter_map(|(_, arm)| arm.histogram.last())
        .map(|b| b.up_to_us)
        .max()?;
    let scale = Scale {
        low: 0.0,
        high: (highest.max(10) as f64).log10().ceil(),
        rarest: (most.max(10) as f64).log10(),
    };
    let mut out =
        format!("<svg class=\"plot\" width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">");
    out += &scale.grid();
    for (index, arm) in arms {
        out += &scale.curve(index, &arm.histogram);
    }
    Some(out + "</svg>")
}

fn total(bins: &[LatenessBin]) -> u64 {
    bins.iter().map(|b| b.count).sum()
}

/// Decimal logarithms: microseconds from `low` to `high`, rarity from 0 to `rarest`.
struct Scale {
    low: f64,
    high: f64,
    rarest: f64,
}

impl Scale {
    fn x(&self, rarity: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (rarity / self.rarest).clamp(0.0, 1.0)
    }

    fn y(&self, us: f64) -> f64 {
        let share = (us.max(1.0).log10() - self.low) / (self.high - self.low).max(0.5);
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share.clamp(0.0, 1.0)
    }

    fn grid(&self) -> String {
        let mut out = String::new();
        for power in self.low as i32..=self.high as i32 {
            let us = 10f64.powi(power);
            out += &format!(
                "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/>\
                 <text class=\"start\" x=\"0\" y=\"{}\">{}</text>",
                n(self.y(us) - 4.0),
                time(us),
                y = n(self.y(us)),
            );
        }
        for nines in 0..=self.rarest as i32 {
            let name = match nines {
                0 => "all".to_owned(),
                1 => "90 %".to_owned(),
                2 => "99 %".to_owned(),
                nines => format!("99.{} %", "9".repeat(nines as usize - 2)),
            };
            let x = n(self.x(f64::from(nines)));
            out += &format!(
                "<line class=\"grid\" x1=\"{x}%\" x2=\"{x}%\" y1=\"{}\" y2=\"{}\"/>\
                 <text x=\"{x}%\" y=\"{}\">{name}</text>",
                n(TOP),
                n(HEIGHT - BOTTOM),
                n(HEIGHT - 10.0),
            );
        }
        out
    }

    /// A line through the upper end of every bar: at most this share of wake-ups is later.
    fn curve(&self, arm: usize, bins: &[LatenessBin]) -> String {
        let all = total(bins) as f64;
        let colour = class(arm);
        let mut points = vec![(0.0, bins[0].up_to_us as f64)];
        let mut below = 0;
        for (i, bin) in bins.iter().enumerate() {
            below += bin.count;
            let later = (all - below as f64) / all;
            // The last bar holds the worst: as rare as one in all.
            let rarity = if i + 1 == bins.len() {
                all.log10()
            } else {
                -later.log10()
            };
            points.push((rarity, bin.up_to_us as f64));
        }
        let points = thinned(points, self.rarest);
        let mut out: String = points
            .windows(2)
            .map(|pair| {
                format!(
                    "<line class=\"curve {colour}\" x1=\"{}%\" y1=\"{}\" x2=\"{}%\" y2=\"{}\"/>",
                    n(self.x(pair[0].0)),
                    n(self.y(pair[0].1)),
                    n(self.x(pair[1].0)),
                    n(self.y(pair[1].1)),
                )
            })
            .collect();
        if let Some(&(rarity, us)) = points.last() {
            out += &mark(arm, self.x(rarity), self.y(us), false);
        }
        out
    }
}

/// Points so close together that no eye tells them apart are left out; first and last stay.
fn thinned(points: Vec<(f64, f64)>, rarest: f64) -> Vec<(f64, f64)> {
    let last = points.len() - 1;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (i, point) in points.into_iter().enumerate() {
        let near = kept.last().is_some_and(|k| {
            point.0 - k.0 < rarest / 400.0 && (point.1.max(1.0) / k.1.max(1.0)).log10() < 0.02
        });
        if i == last || !near {
            kept.push(point);
        }
    }
    kept
}
