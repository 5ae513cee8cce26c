//! Words and numbers that both forms of the jitter lab's report use.

use plimsoll_schema::{
    AuditedFunction, JitterArm, JitterAudit, JitterConclusion, JitterEffect, JitterReport,
    JitterStatistic,
};

use crate::number::{count, fixed, seconds, significant};

/// Microseconds with the unit that fits.
pub(crate) fn time(us: f64) -> String {
    seconds(us / 1e6)
}

/// A figure of an arm; `≥` when it is a lower bound.
pub(crate) fn arm_time(arm: &JitterArm, us: Option<f64>) -> String {
    match us {
        None => "–".to_owned(),
        Some(us) if arm.at_least => format!("≥\u{a0}{}", time(us)),
        Some(us) => time(us),
    }
}

/// The head of a statistic's column.
pub(crate) fn column(statistic: JitterStatistic) -> &'static str {
    match statistic {
        JitterStatistic::Median => "median",
        JitterStatistic::P99 => "p99",
        JitterStatistic::P999 => "p99.9",
        JitterStatistic::Worst => "worst",
    }
}

/// What may be said of an effect.
pub(crate) fn conclusion(conclusion: JitterConclusion) -> &'static str {
    match conclusion {
        JitterConclusion::Later => "later",
        JitterConclusion::Earlier => "earlier",
        JitterConclusion::NoDifferenceSeen => "no difference seen",
        JitterConclusion::TooFewBlocks => "too few blocks",
        JitterConclusion::Blocked => "blocked",
    }
}

/// What may be said of an effect, as one sign.
pub(crate) fn sign(conclusion: JitterConclusion) -> &'static str {
    match conclusion {
        JitterConclusion::Later => "▲",
        JitterConclusion::Earlier => "▼",
        JitterConclusion::NoDifferenceSeen => "○",
        JitterConclusion::TooFewBlocks => "–",
        JitterConclusion::Blocked => "×",
    }
}

/// Two times as a range, with one unit where they share it.
pub(crate) fn range(low_us: f64, high_us: f64) -> String {
    let (low, high) = (time(low_us), time(high_us));
    match (low.rsplit_once('\u{a0}'), high.rsplit_once('\u{a0}')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// A ratio of lateness. Ratios here span orders of magnitude: three digits each.
pub(crate) fn ratio(effect: &JitterEffect) -> String {
    let at_least = if effect.conclusion == JitterConclusion::Blocked {
        "≥\u{a0}"
    } else {
        ""
    };
    effect.ratio.map_or("–".to_owned(), |ratio| {
        format!("{at_least}{}", digits(ratio))
    })
}

/// Its interval.
pub(crate) fn ratio_range(effect: &JitterEffect) -> Option<String> {
    effect
        .interval
        .map(|i| format!("{}–{}", digits(i.low), digits(i.high)))
}

fn digits(x: f64) -> String {
    if x >= 100.0 {
        fixed(x, 0)
    } else {
        significant(x, 3)
    }
}

/// How a function treats the schedulers. The median speaks for the function; single long stays may be
/// the kernel's doing.
pub(crate) fn holds_often(audit: &JitterAudit, function: &AuditedFunction) -> &'static str {
    let (holds, limit) = (&function.holds, audit.limit_us);
    if holds.median_us > limit {
        "mostly"
    } else if holds.p99_us > limit {
        "often"
    } else if holds.over_limit > 0 {
        "rarely"
    } else {
        "no"
    }
}

/// What the experiment consists of, in one line.
pub(crate) fn design(report: &JitterReport) -> String {
    let d = &report.design;
    let mut words = vec![
        count(report.runs.len(), "run"),
        format!(
            "{} of {}",
            count(d.probes as usize, "probe"),
            seconds(d.period_ms as f64 / 1000.0)
        ),
        format!("window {}", seconds(d.window_ms as f64 / 1000.0)),
    ];
    match (d.workers, &report.vm) {
        (Some(workers), _) => words.push(count(workers as usize, "worker")),
        (None, Some(vm)) => {
            words.push(format!(
                "one worker for each of {}",
                count(vm.schedulers_online as usize, "scheduler")
            ));
        }
        (None, None) => {}
    }
    if let Some(expression) = &d.eval {
        words.push(format!("eval: {expression}"));
    } else {
        words.extend(
            d.input_bytes
                .map(|bytes| format!("inputs of {} bytes", fixed(bytes as f64, 0))),
        );
    }
    if let Some(vm) = &report.vm {
        words.push(format!("OTP {}", vm.otp_release));
    }
    if !report.complete {
        words.push("stopped early".to_owned());
    }
    words.join(" · ")
}
