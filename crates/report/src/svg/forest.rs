//! The forest plot, one strip per effect: estimate, interval, and the line at 1.

use plimsoll_schema::Effect;

use super::mark::{class, mark};
use super::{n, tick_decimals, ticks};
use crate::number::fixed;

/// Height of a strip in pixels.
const HEIGHT: f64 = 40.0;

/// The ratio axis that all strips of one plot share.
pub struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// Wide enough for every interval and for 1, on a log scale.
    pub fn of(effects: &[Effect]) -> Self {
        let mut reach = 0.02f64;
        for e in effects {
            let interval = e.interval.iter().flat_map(|i| [i.low, i.high]);
            for x in interval.chain([e.ratio]) {
                if x > 0.0 && x.is_finite() {
                    reach = reach.max(x.ln().abs());
                }
            }
        }
        // Symmetric around 1, so that the line of no difference stands in the middle; a ratio
        // beyond 20 would squeeze everything else and is cut there.
        let reach = (reach * 1.12).min(3.0);
        Self {
            low: (-reach).exp(),
            high: reach.exp(),
        }
    }

    /// Position in percent, kept inside the plot.
    fn x(&self, ratio: f64) -> f64 {
        let share = (ratio.max(1e-9) / self.low).ln() / (self.high / self.low).ln();
        2.0 + 96.0 * share.clamp(0.0, 1.0)
    }

    /// Round ratios other than 1, and the decimals that tell them apart.
    fn grid(&self) -> (Vec<f64>, usize) {
        let mut ticks = ticks(self.low, self.high, 4.0);
        let decimals = tick_decimals(&ticks);
        ticks.retain(|t| (t - 1.0).abs() > 1e-9);
        (ticks, decimals)
    }

    /// The strip of one effect.
    pub fn strip(&self, e: &Effect, arm: usize) -> String {
        let middle = HEIGHT / 2.0;
        let mut out =
            format!("<svg class=\"plot\" width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">");
        for tick in self.grid().0 {
            out += &vertical(self.x(tick), "grid");
        }
        out += &vertical(self.x(1.0), "one");
        if let Some(i) = &e.interval {
            let (a, b) = (self.x(i.low), self.x(i.high));
            out += &format!(
                "<line class=\"bar {}\" x1=\"{}%\" x2=\"{}%\" y1=\"{middle}\" y2=\"{middle}\"/>",
                class(arm),
                n(a),
                n(b)
            );
            for x in [a, b] {
                out += &format!(
                    "<line class=\"cap {}\" x1=\"{x}%\" x2=\"{x}%\" y1=\"{}\" y2=\"{}\"/>",
                    class(arm),
                    middle - 5.0,
                    middle + 5.0,
                    x = n(x)
                );
            }
        }
        out += &mark(arm, self.x(e.ratio), middle, e.interval.is_none());
        out + "</svg>"
    }

    /// The axis under the strips.
    pub fn axis(&self) -> String {
        let (grid, decimals) = self.grid();
        let mut out = "<svg class=\"plot axis\" width=\"100%\" height=\"22\" aria-hidden=\"true\">"
            .to_owned();
        for tick in grid {
            // Labels that would touch the one at 1 or the edge are left out; the grid stays.
            let x = self.x(tick);
            if (x - self.x(1.0)).abs() > 12.0 && (7.0..=93.0).contains(&x) {
                out += &format!(
                    "<text x=\"{}%\" y=\"15\">{}</text>",
                    n(x),
                    fixed(tick, decimals)
                );
            }
        }
        out += &format!(
            "<text class=\"at-one\" x=\"{}%\" y=\"15\">1</text>",
            n(self.x(1.0))
        );
        out + "</svg>"
    }
}

fn vertical(x: f64, class: &str) -> String {
    format!(
        "<line class=\"{class}\" x1=\"{x}%\" x2=\"{x}%\" y1=\"0\" y2=\"100%\"/>",
        x = n(x)
    )
}
