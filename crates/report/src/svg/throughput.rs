//! Throughput against level: what each arm does, and what it would do if nothing were in the way.

use plimsoll_schema::{Efficiency, Experiment};

use super::mark::{class, mark};
use super::{n, ticks};
use crate::number::significant;

const HEIGHT: f64 = 300.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 30.0;

/// The chart, or nothing when there is no more than one level.
pub fn chart(e: &Experiment) -> Option<String> {
    let points: Vec<&Efficiency> = e
        .efficiency
        .iter()
        .filter(|x| x.ops_per_second.is_finite() && x.ops_per_second >= 0.0)
        .collect();
    let mut levels: Vec<u32> = points.iter().map(|x| x.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let (&first, &last) = (levels.first()?, levels.last()?);
    if first == last {
        return None;
    }
    let ideal = ideal(e, &points, &levels);
    let highest = points
        .iter()
        .map(|x| x.ops_interval.map_or(x.ops_per_second, |i| i.high))
        .chain(ideal.iter().map(|(_, y)| *y))
        .filter(|y| y.is_finite())
        .fold(0.0, f64::max);
    if highest <= 0.0 {
        return None;
    }
    let span = f64::from(last - first);
    let x = |level: u32| 9.0 + 87.0 * f64::from(level - first) / span;
    let y = |ops: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ops / highest;
    let mut out =
        format!("<svg class=\"plot\" width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">");
    for tick in ticks(0.0, highest, 4.0) {
        out += &format!(
            "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y}\" y2=\"{y}\"/>\
             <text class=\"start\" x=\"0\" y=\"{}\">{}</text>",
            n(y(tick) - 4.0),
            significant(tick, 3),
            y = n(y(tick))
        );
    }
    let mut free = f64::NEG_INFINITY;
    for &level in &levels {
        // Levels that stand too close together keep their points and lose their label.
        if x(level) - free >= 5.0 {
            out += &format!(
                "<text x=\"{}%\" y=\"{}\">{level}</text>",
                n(x(level)),
                n(HEIGHT - 10.0)
            );
            free = x(level);
        }
    }
    for pair in ideal.windows(2) {
        out += &line(
            "ideal",
            x(pair[0].0),
            y(pair[0].1),
            x(pair[1].0),
            y(pair[1].1),
        );
    }
    if let Some((level, ops)) = ideal.last() {
        out += &format!(
            "<text class=\"end\" x=\"{}%\" y=\"{}\">ideal</text>",
            n(x(*level) - 3.0),
            n(y(*ops) + 4.0)
        );
    }
    for (arm, name) in e.arms.iter().map(|a| &a.name).enumerate() {
        let mut own: Vec<&&Efficiency> = points.iter().filter(|p| &p.arm == name).collect();
        own.sort_by_key(|p| p.level);
        let colour = class(arm);
        for pair in own.windows(2) {
            out += &line(
                &format!("curve {colour}"),
                x(pair[0].level),
                y(pair[0].ops_per_second),
                x(pair[1].level),
                y(pair[1].ops_per_second),
            );
        }
        for p in own {
            if let Some(i) = &p.ops_interval {
                out += &line(
                    &format!("bar {colour}"),
                    x(p.level),
                    y(i.low),
                    x(p.level),
                    y(i.high),
                );
            }
            out += &mark(arm, x(p.level), y(p.ops_per_second), false);
        }
    }
    Some(out + "</svg>")
}

/// The baseline's throughput at level 1, times the CPUs that could work on it.
fn ideal(e: &Experiment, points: &[&Efficiency], levels: &[u32]) -> Vec<(u32, f64)> {
    let Some(one) = points
        .iter()
        .find(|p| p.arm == e.design.baseline && p.level == 1)
    else {
        return Vec::new();
    };
    let cpus = points.iter().map(|p| p.usable_cpus).max().unwrap_or(1);
    let mut ideal: Vec<(u32, f64)> = levels
        .iter()
        // The corner where CPUs run out belongs to the line whether it was measured or not.
        .chain(levels.iter().any(|l| *l > cpus).then_some(&cpus))
        .map(|&level| (level, one.ops_per_second * f64::from(level.min(cpus))))
        .collect();
    ideal.sort_by_key(|p| p.0);
    ideal.dedup();
    ideal
}

fn line(class: &str, x1: f64, y1: f64, x2: f64, y2: f64) -> String {
    format!(
        "<line class=\"{class}\" x1=\"{}%\" y1=\"{}\" x2=\"{}%\" y2=\"{}\"/>",
        n(x1),
        n(y1),
        n(x2),
        n(y2)
    )
}
