//! What an experiment means, in sentences.

use plimsoll_schema::{
    JitterArm, JitterConclusion, JitterEffect, JitterReport, JitterRun, JitterStatistic,
    JitterStatus,
};

use crate::arm::default_blocks;

/// The most important sentence first: what blocks, what delays, what does not.
pub(crate) fn verdict(report: &JitterReport) -> Vec<String> {
    let mut sentences: Vec<(u8, String)> = report
        .arms
        .iter()
        .filter_map(|arm| {
            if arm.blocked > 0 {
                Some((0, blocked(report, arm)))
            } else if arm.name != report.design.baseline && arm.runs > 0 {
                compared(report, &arm.name)
            } else {
                None
            }
        })
        .collect();
    sentences.extend(too_few(report).map(|sentence| (2, sentence)));
    sentences.sort_by_key(|(rank, _)| *rank);
    sentences
        .into_iter()
        .map(|(_, sentence)| sentence)
        .collect()
}

fn blocked(report: &JitterReport, arm: &JitterArm) -> String {
    let longest = runs(report, &arm.name)
        .filter_map(|run| match run.status {
            JitterStatus::Blocked { seconds, .. } => Some(seconds),
            JitterStatus::Ok | JitterStatus::Failed { .. } => None,
        })
        .fold(0.0, f64::max);
    format!(
        "{}: schedulers blocked for {longest:.1} s, until the watchdog ended the VM ({} of {} runs)",
        arm.name,
        arm.blocked,
        arm.runs + arm.blocked + arm.failed
    )
}

fn too_few(report: &JitterReport) -> Option<String> {
    let few = |e: &&JitterEffect| e.conclusion == JitterConclusion::TooFewBlocks;
    let blocks = report.effects.iter().filter(few).map(|e| e.blocks).max()?;
    let needed = default_blocks(report.design.arms.len(), report.design.error_rate);
    Some(format!(
        "{blocks} blocks are too few to compare with {}: --blocks {needed} is enough",
        report.design.baseline
    ))
}

fn compared(report: &JitterReport, arm: &str) -> Option<(u8, String)> {
    let effects: Vec<&JitterEffect> = report.effects.iter().filter(|e| e.arm == arm).collect();
    let with = |wanted: JitterConclusion| -> Vec<String> {
        effects
            .iter()
            .filter(|e| e.conclusion == wanted)
            .filter_map(|e| named(e))
            .collect()
    };
    let (later, earlier) = (
        with(JitterConclusion::Later),
        with(JitterConclusion::Earlier),
    );
    let baseline = &report.design.baseline;
    if !later.is_empty() {
        let but = if earlier.is_empty() {
            String::new()
        } else {
            format!("; earlier: {}", earlier.join(", "))
        };
        return Some((
            1,
            format!(
                "{arm}: wake-ups are later than under {baseline}: {}{but}",
                later.join(", ")
            ),
        ));
    }
    if !earlier.is_empty() {
        return Some((
            3,
            format!(
                "{arm}: wake-ups are earlier than under {baseline}: {}",
                earlier.join(", ")
            ),
        ));
    }
    if effects
        .iter()
        .all(|e| e.conclusion == JitterConclusion::TooFewBlocks)
    {
        return None;
    }
    let least = effects
        .iter()
        .filter_map(|e| e.smallest_detectable)
        .fold(f64::INFINITY, f64::min);
    let seen = if least.is_finite() {
        format!(
            "; a change by a factor of {:.1} or more would have been seen at best",
            1.0 + least
        )
    } else {
        String::new()
    };
    Some((
        2,
        format!("{arm}: no difference from {baseline} was seen{seen}"),
    ))
}

/// `p99 3.1 times`.
fn named(effect: &JitterEffect) -> Option<String> {
    let ratio = effect.ratio?;
    let digits = if ratio < 0.1 {
        3
    } else if ratio < 1.0 {
        2
    } else {
        1
    };
    Some(format!("{} {ratio:.digits$} times", name(effect.statistic)))
}

fn name(statistic: JitterStatistic) -> &'static str {
    match statistic {
        JitterStatistic::Median => "median",
        JitterStatistic::P99 => "p99",
        JitterStatistic::P999 => "p99.9",
        JitterStatistic::Worst => "worst",
    }
}

fn runs<'a>(report: &'a JitterReport, arm: &'a str) -> impl Iterator<Item = &'a JitterRun> {
    report.runs.iter().filter(move |run| run.arm == arm)
}
