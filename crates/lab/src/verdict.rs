//! One sentence, and what it does not say.

use std::collections::BTreeSet;

use plimsoll_schema::{Arm, Conclusion, Effect, Experiment, LaunchLine, RunStatus, Verdict};
use plimsoll_stats::{median, minimum_blocks};

use crate::effects::comparisons;
use crate::mechanism::bound_share;

/// Below this share of the CPUs that could work, adding jobs is not what is missing.
const POOR_EFFICIENCY: f64 = 0.5;

pub(crate) fn verdict(experiment: &Experiment) -> Verdict {
    let winner = winner(experiment);
    let mut notes = Vec::new();
    notes.extend(same_placement(experiment));
    notes.extend(poor_scaling(experiment));
    notes.extend(reached(experiment));
    notes.extend(mechanism_note(experiment));
    notes.extend(error_rate_note(experiment));
    Verdict {
        sentence: sentence(experiment, winner),
        notes,
        launch: launch(experiment, winner),
    }
}

/// The arm to use: faster than the baseline at some level, slower at none; of several the one with
/// the largest lower bound.
fn winner(experiment: &Experiment) -> Option<&Arm> {
    let worst_gain = |arm: &Arm| -> Option<f64> {
        let mine: Vec<&Effect> = experiment
            .effects
            .iter()
            .filter(|e| e.arm == arm.name)
            .collect();
        if mine.iter().any(|e| e.conclusion == Conclusion::Slower) {
            return None;
        }
        mine.iter()
            .filter(|e| e.conclusion == Conclusion::Faster)
            .filter_map(|e| e.interval.map(|i| i.low))
            .max_by(f64::total_cmp)
    };
    experiment
        .arms
        .iter()
        .filter_map(|arm| worst_gain(arm).map(|gain| (arm, gain)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(arm, _)| arm)
}

fn sentence(experiment: &Experiment, winner: Option<&Arm>) -> String {
    let baseline = &experiment.design.baseline;
    if comparisons(experiment).is_empty() {
        return only_one_arm(experiment);
    }
    if experiment
        .effects
        .iter()
        .all(|e| e.conclusion == Conclusion::TooFewBlocks)
    {
        let blocks = experiment
            .effects
            .iter()
            .map(|e| e.blocks)
            .max()
            .unwrap_or(0);
        return format!(
            "{} cannot support a claim at an error rate of {:.0} % over {}: \
             run at least {} (--blocks {}).",
            counted(blocks, "block"),
            100.0 * experiment.design.error_rate,
            counted(experiment.effects.len(), "comparison"),
            minimum_blocks(experiment.effects.len(), experiment.design.error_rate),
            minimum_blocks(experiment.effects.len(), experiment.design.error_rate),
        );
    }
    let arms = experiment
        .arms
        .iter()
        .filter(|arm| winner.is_none_or(|w| w.name == arm.name));
    let claims: Vec<String> = arms.flat_map(|arm| claims(experiment, arm)).collect();
    if claims.is_empty() {
        return nothing_seen(experiment);
    }
    let mut parts = claims;
    let unchanged: Vec<&str> = comparisons(experiment)
        .iter()
        .map(|(arm, _, _)| *arm)
        .filter(|arm| {
            experiment
                .effects
                .iter()
                .all(|e| e.arm != *arm || !is_claim(e))
        })
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    if !unchanged.is_empty() {
        parts.push(format!("no difference seen for {}", unchanged.join(", ")));
    }
    let advice = match winner {
        Some(arm) => format!("use {}", arm.name),
        None => format!("keep {baseline}"),
    };
    format!("{}: {advice}.", parts.join("; "))
}

fn is_claim(effect: &Effect) -> bool {
    matches!(effect.conclusion, Conclusion::Faster | Conclusion::Slower)
}

fn only_one_arm(experiment: &Experiment) -> String {
    let Some(arm) = experiment.arms.first() else {
        return "There was nothing to run.".to_owned();
    };
    if arm.same_as.len() > 1 {
        return format!(
            "{} are one placement on this machine, CPU for CPU: there is nothing to compare.",
            arm.same_as.join(", ")
        );
    }
    let best = experiment
        .efficiency
        .iter()
        .max_by(|a, b| a.ops_per_second.total_cmp(&b.ops_per_second));
    match best {
        Some(row) => format!(
            "Only one arm was run: it does at most {} {} per second, at level {}.",
            significant(row.ops_per_second),
            experiment.design.unit,
            row.level
        ),
        None => "No run gave a figure.".to_owned(),
    }
}

fn nothing_seen(experiment: &Experiment) -> String {
    let baseline = &experiment.design.baseline;
    let seen = experiment
        .effects
        .iter()
        .filter_map(|e| e.smallest_detectable)
        .fold(0.0, f64::max);
    let could = if seen >= 1.0 {
        format!(
            "; the runs varied so much that only a factor of {:.1} or more would have been found",
            1.0 + seen
        )
    } else if seen > 0.0 {
        format!(
            "; a difference of {} or more would have been found",
            percent(seen)
        )
    } else {
        String::new()
    };
    let blocks = experiment
        .effects
        .iter()
        .map(|e| e.blocks)
        .min()
        .unwrap_or(0);
    if experiment.arms.iter().any(|a| a.against.is_some()) {
        return format!(
            "No arm differs from the one that it is compared with in {blocks} blocks{could}: keep {baseline}."
        );
    }
    let others: Vec<String> = experiment
        .arms
        .iter()
        .filter(|a| &a.name != baseline)
        .map(names)
        .collect();
    format!(
        "No difference between {baseline} and {} in {blocks} blocks{could}: keep {baseline}.",
        others.join(", ")
    )
}

/// What may be claimed of one arm: a sentence part for each direction.
fn claims(experiment: &Experiment, arm: &Arm) -> Vec<String> {
    [(Conclusion::Faster, "more"), (Conclusion::Slower, "less")]
        .into_iter()
        .filter_map(|(direction, word)| {
            let mine: Vec<&Effect> = experiment
                .effects
                .iter()
                .filter(|e| e.arm == arm.name && e.conclusion == direction)
                .collect();
            let first = mine.first()?;
            let sizes = mine.iter().map(|e| (e.ratio - 1.0).abs());
            let (least, most) = sizes.fold((f64::MAX, 0.0), |(l, m), x| {
                (f64::min(l, x), f64::max(m, x))
            });
            let size = match (mine.len(), first.interval) {
                (1, Some(i)) => {
                    let (a, b) = ((i.low - 1.0).abs(), (i.high - 1.0).abs());
                    format!(
                        "{} ({} to {})",
                        percent(least),
                        percent(a.min(b)),
                        percent(a.max(b))
                    )
                }
                _ => format!("{} to {}", percent(least), percent(most)),
            };
            let levels: Vec<String> = mine.iter().map(|e| e.level.to_string()).collect();
            let levels = match levels.split_last() {
                Some((last, [])) => format!("level {last}"),
                Some((last, others)) => format!("levels {} and {last}", others.join(", ")),
                None => return None,
            };
            Some(format!(
                "{} does {size} {word} work than {} at {levels}",
                names(arm),
                first.baseline
            ))
        })
        .collect()
}

/// The arm's name with those it stands for.
fn names(arm: &Arm) -> String {
    match arm.same_as.as_slice() {
        [] | [_] => arm.name.clone(),
        [first, rest @ ..] => format!("{first} (= {})", rest.join(" = ")),
    }
}

fn same_placement(experiment: &Experiment) -> Vec<String> {
    experiment
        .arms
        .iter()
        .filter(|a| a.same_as.len() > 1)
        .map(|a| {
            format!(
                "{} put every scheduler on the same CPU here: they were run as one arm, and any \
                 difference reported between them would be noise.",
                a.same_as.join(", ")
            )
        })
        .collect()
}

fn poor_scaling(experiment: &Experiment) -> Option<String> {
    let row = experiment
        .efficiency
        .iter()
        .filter(|row| row.arm == experiment.design.baseline)
        .max_by_key(|row| row.level)?;
    let speedup = row.speedup.filter(|_| row.level > 1)?;
    let share = speedup / f64::from(row.usable_cpus);
    // Said only if even the upper end of the interval is poor.
    let at_best = row.speedup_interval.map_or(speedup, |i| i.high) / f64::from(row.usable_cpus);
    let fact = format!(
        "{} jobs run {} × as fast as one, on {}",
        row.level,
        significant(speedup),
        counted(row.usable_cpus as usize, "CPU")
    );
    let ceiling = row.of_ceiling.map_or(String::new(), |share| {
        format!(
            ", {} of what the same cores gave a pure spin loop in the same blocks",
            percent(share)
        )
    });
    Some(if at_best < POOR_EFFICIENCY && row.usable_cpus > 1 {
        format!("{fact}{ceiling}: find the serial part first; no placement makes up for it.")
    } else {
        format!(
            "{fact} ({} of what they could give{ceiling}).",
            percent(share)
        )
    })
}

/// How much of the work a binding reached.
fn reached(experiment: &Experiment) -> Option<String> {
    let shares: Vec<String> = experiment
        .arms
        .iter()
        .filter(|arm| arm.predicted.iter().any(Option::is_some))
        .filter_map(|arm| {
            let runs = experiment
                .runs
                .iter()
                .filter(|r| r.arm == arm.name && r.status == RunStatus::Ok);
            let share = median(&runs.filter_map(bound_share).collect::<Vec<_>>())?;
            Some(format!("{} {}", arm.name, percent(share)))
        })
        .collect();
    (!shares.is_empty()).then(|| {
        format!(
            "CPU time on threads bound to one CPU: {}.",
            shares.join(", ")
        )
    })
}

fn mechanism_note(experiment: &Experiment) -> Option<String> {
    let claims: Vec<&Effect> = experiment.effects.iter().filter(|e| is_claim(e)).collect();
    let explained = claims
        .iter()
        .flat_map(|e| &e.mechanisms)
        .find(|m| m.explains);
    match (claims.is_empty(), explained) {
        (true, _) => None,
        (false, Some(m)) => Some(format!(
            "What moved with it: {} ({} {} against {}).",
            m.counter,
            significant(m.arm),
            m.unit,
            significant(m.baseline)
        )),
        (false, None) => Some(
            "No counter that was watched moved with the effect beyond chance: its cause is not shown.".to_owned(),
        ),
    }
}

fn error_rate_note(experiment: &Experiment) -> Option<String> {
    let effects = experiment.effects.len();
    (effects > 0).then(|| {
        format!(
            "The chance of any false claim among {} is at most {:.0} %.",
            counted(effects, "comparison"),
            100.0 * experiment.design.error_rate
        )
    })
}

fn launch(experiment: &Experiment, winner: Option<&Arm>) -> LaunchLine {
    let command = if experiment.design.command.is_empty() {
        "YOUR COMMAND".to_owned()
    } else {
        experiment.design.command.join(" ")
    };
    let bound = winner.filter(|arm| arm.bind.is_some());
    let settings: Vec<String> = winner
        .into_iter()
        .flat_map(|arm| {
            let flags = (!arm.vm_flags.is_empty())
                .then(|| format!("ERL_FLAGS=\"{}\"", arm.vm_flags.join(" ")));
            arm.env
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .chain(flags)
        })
        .collect();
    let flags = (!settings.is_empty()).then(|| settings.join(" "));
    let command = match &flags {
        Some(flags) => format!("{flags} {command}"),
        None => format!("{command}   # no flag: the default was not beaten"),
    };
    let verify = match (bound, &flags) {
        (Some(arm), _) => format!(
            "in the running VM erlang:system_info(scheduler_bindings) must say {{{}}}",
            arm.predicted
                .iter()
                .take(8)
                .map(|cpu| cpu.map_or("unbound".to_owned(), |c| c.to_string()))
                .chain((arm.predicted.len() > 8).then(|| "…".to_owned()))
                .collect::<Vec<_>>()
                .join(",")
        ),
        (None, Some(_)) => {
            "in the running VM init:get_arguments() and erlang:system_info/1 show the flags in force".to_owned()
        }
        (None, None) => {
            "in the running VM erlang:system_info(scheduler_bind_type) says unbound".to_owned()
        }
    };
    LaunchLine { command, verify }
}

fn significant(x: f64) -> String {
    let digits = if x.abs() >= 100.0 {
        0
    } else if x.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{x:.digits$}")
}

fn percent(share: f64) -> String {
    let p = 100.0 * share;
    if p >= 10.0 {
        format!("{p:.0} %")
    } else {
        format!("{p:.1} %")
    }
}

fn counted(n: usize, thing: &str) -> String {
    if n == 1 {
        format!("1 {thing}")
    } else {
        format!("{n} {thing}s")
    }
}
