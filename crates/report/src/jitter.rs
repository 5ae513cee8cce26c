//! Words and numbers that both forms of the jitter lab's report use.

use plimsoll_schema::{
    AuditedFunction, JitterArm, JitterAudit, JitterConclusion, JitterEffect, JitterReport, JitterStatistic,
};

use crate::number::{NOT_AVAILABLE, count, fixed, seconds, significant};

/// Microseconds with the unit that fits.
pub(crate) fn time(us: f64) -> String {
    seconds(us / 1e6)
}

/// A figure of an arm; `≥` when it is a lower bound.
pub(crate) fn arm_time(arm: &JitterArm, us: Option<f64>) -> String {
    match us {
        None => NOT_AVAILABLE.to_owned(),
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

/// A ratio with its interval. Ratios here span orders of magnitude: three digits each.
pub(crate) fn ratio_cell(effect: &JitterEffect) -> String {
    let Some(ratio) = effect.ratio else { return "–".to_owned() };
    let at_least = if effect.conclusion == JitterConclusion::Blocked { "≥\u{a0}" } else { "" };
    let interval = effect
        .interval
        .map_or(String::new(), |i| format!(" ({} to {})", digits(i.low), digits(i.high)));
    format!("{at_least}{}{interval}", digits(ratio))
}

fn digits(x: f64) -> String {
    if x >= 100.0 { fixed(x, 0) } else { significant(x, 3) }
}

/// How a function treats the schedulers. The median speaks for the function; single long stays may be
/// the kernel's doing.
pub(crate) fn holds_often(audit: &JitterAudit, function: &AuditedFunction) -> &'static str {
    let (holds, limit) = (&function.holds, audit.limit_us);
    if holds.median_us > limit {
        "always"
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
        format!("{} of {}", count(d.probes as usize, "probe"), seconds(d.period_ms as f64 / 1000.0)),
        format!("window {}", seconds(d.window_ms as f64 / 1000.0)),
    ];
    match (d.workers, &report.vm) {
        (Some(workers), _) => words.push(count(workers as usize, "worker")),
        (None, Some(vm)) => {
            words.push(format!("one worker for each of {}", count(vm.schedulers_online as usize, "scheduler")));
        }
        (None, None) => {}
    }
    if let Some(expression) = &d.eval {
        words.push(format!("eval: {expression}"));
    } else {
        words.push(format!("inputs of {} bytes", fixed(d.input_bytes as f64, 0)));
    }
    if let Some(vm) = &report.vm {
        words.push(format!("OTP {}", vm.otp_release));
    }
    if !report.complete {
        words.push("stopped early".to_owned());
    }
    words.join(" · ")
}
