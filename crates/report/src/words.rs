//! Words that the outputs share, so that terminal and page say the same.

use plimsoll_schema::{
    Arm, Conclusion, Confidence, CoreKind, Effect, Efficiency, Experiment, ExperimentStatus,
    Machine, MachineSource, Run, RunStatus, ThreadType,
};

use crate::number::{count, interval, percent, ratio, significant};

/// The plural by which people call a type of thread.
pub fn threads(t: ThreadType) -> &'static str {
    match t {
        ThreadType::Scheduler => "normal schedulers",
        ThreadType::DirtyCpu => "dirty CPU schedulers",
        ThreadType::DirtyIo => "dirty IO schedulers",
        ThreadType::Aux => "aux thread",
        ThreadType::Poll => "poll threads",
        ThreadType::Async => "async threads",
        ThreadType::Other => "other threads",
    }
}

/// What runs on a type of thread.
pub fn threads_role(t: ThreadType) -> &'static str {
    match t {
        ThreadType::Scheduler => "Erlang and Elixir code, short NIFs",
        ThreadType::DirtyCpu => "long NIFs and BIFs",
        ThreadType::DirtyIo => "NIFs that wait, files",
        ThreadType::Aux => "housekeeping",
        ThreadType::Poll => "sockets and ports",
        ThreadType::Async => "old-style drivers",
        ThreadType::Other => "native libraries' own threads",
    }
}

/// What an effect's interval allows to say.
pub fn conclusion(c: Conclusion) -> &'static str {
    match c {
        Conclusion::Faster => "faster",
        Conclusion::Slower => "slower",
        Conclusion::NoDifferenceSeen => "no difference seen",
        Conclusion::TooFewBlocks => "too few blocks",
    }
}

/// The smallest true difference that an effect's blocks would have found: `≥ 1.4 %`.
pub fn detects(e: &Effect) -> String {
    e.smallest_detectable
        .map_or("–".to_owned(), |d| format!("≥\u{a0}{}", percent(d)))
}

/// An arm's throughput as a multiple of its own at level 1: `19.2×`.
pub fn speedup(x: &Efficiency) -> String {
    match (x.speedup, &x.speedup_interval) {
        (None, _) => "–".to_owned(),
        (Some(s), Some(interval)) => format!("{}×", ratio(s, Some(interval))),
        (Some(s), None) => format!("{}×", significant(s, 2)),
    }
}

/// How sure a finding is.
pub fn confidence(c: Confidence) -> &'static str {
    match c {
        Confidence::Certain => "certain: follows from the structure",
        Confidence::Measured => "measured",
        Confidence::Likely => "likely, not proven",
    }
}

/// How far an experiment came.
pub fn status(s: ExperimentStatus) -> &'static str {
    match s {
        ExperimentStatus::Running => "not finished",
        ExperimentStatus::Complete => "complete",
    }
}

/// All names of an arm: `ts = tnnps = db`.
pub fn arm_names(arm: &Arm) -> String {
    if arm.same_as.len() < 2 {
        arm.name.clone()
    } else {
        arm.same_as.join(" = ")
    }
}

/// The part of what its CPUs could do at most that an arm reaches at a level (0 to 1, above 1 when
/// level 1 itself was slow): speedup ÷ CPUs that could work on it.
pub fn efficiency(x: &Efficiency) -> Option<f64> {
    let ideal = f64::from(x.usable_cpus.max(1));
    x.speedup.map(|s| s / ideal).filter(|s| s.is_finite())
}

/// `44 jobs run 3.7× as fast as one on 44 CPUs`, of the baseline at its highest level; `None` when
/// that is not known. The sentence goes on to the serial part where less than half is reached.
pub fn scaling(e: &Experiment) -> Option<String> {
    let x = e
        .efficiency
        .iter()
        .filter(|x| x.arm == e.design.baseline && x.level > 1)
        .max_by_key(|x| x.level)?;
    let share = efficiency(x)?;
    // Said only if even the upper end of the interval is poor.
    let at_best = x
        .speedup_interval
        .map_or(share, |i| i.high / f64::from(x.usable_cpus));
    let advice = if at_best < 0.5 {
        ": find the serial part before placing threads"
    } else {
        ""
    };
    Some(format!(
        "{}: {} jobs run {}× as fast as one, {} of what {} could do at most{advice}",
        x.arm,
        x.level,
        significant(x.speedup?, 2),
        percent(share),
        count(x.usable_cpus as usize, "CPU")
    ))
}

/// The arm, and what it is compared with where that is not the experiment's baseline.
pub fn compared(e: &Experiment, effect: &Effect) -> String {
    if effect.baseline == e.design.baseline {
        effect.arm.clone()
    } else {
        format!("{} ÷ {}", effect.arm, effect.baseline)
    }
}

/// The time of one job at each level, where the workload measured it.
pub fn latency(e: &Experiment) -> Option<String> {
    let parts: Vec<String> = e
        .efficiency
        .iter()
        .filter_map(|x| {
            let (median, p95) = (x.job_median_ms?, x.job_p95_ms?);
            Some(format!(
                "{} at {}: {} ({})",
                x.arm,
                x.level,
                significant(median, 3),
                significant(p95, 3)
            ))
        })
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "milliseconds for one job, median (95th percentile): {}",
            parts.join("; ")
        )
    })
}

/// Whether a ceiling was measured in the same blocks.
pub fn has_ceiling(e: &Experiment) -> bool {
    e.efficiency.iter().any(|x| x.of_ceiling.is_some())
}

/// The speedup as a share of the ceiling's.
pub fn of_ceiling(x: &Efficiency) -> String {
    x.of_ceiling.map_or("–".to_owned(), percent)
}

/// Work per second; a ceiling's is counted in another unit, so only its speedup is shown.
pub fn figure(e: &Experiment, x: &Efficiency) -> String {
    if is_ceiling(e, &x.arm) {
        return "–".to_owned();
    }
    ratio(x.ops_per_second, x.ops_interval.as_ref())
}

/// The interval of [`figure`].
pub fn figure_interval(e: &Experiment, x: &Efficiency) -> String {
    let shown = x.ops_interval.as_ref().filter(|_| !is_ceiling(e, &x.arm));
    shown.map_or("–".to_owned(), interval)
}

fn is_ceiling(e: &Experiment, name: &str) -> bool {
    e.arms
        .iter()
        .any(|arm| arm.name == name && arm.ceiling.is_some())
}

/// The experiment with only what counts work in the same unit: for charts.
pub fn without_ceilings(e: &Experiment) -> Experiment {
    let mut shown = e.clone();
    shown.runs.retain(|run| !is_ceiling(e, &run.arm));
    shown.efficiency.retain(|x| !is_ceiling(e, &x.arm));
    shown.arms.retain(|arm| arm.ceiling.is_none());
    shown
}

/// Where a machine description comes from.
pub fn source(machine: &Machine) -> String {
    match &machine.source {
        MachineSource::Live => "this machine".to_owned(),
        MachineSource::Xml { file } => format!("from {file}"),
        MachineSource::Synthetic { spec } => format!("synthetic: {spec}"),
    }
}

/// The parts of a machine in one line.
pub fn parts(machine: &Machine) -> String {
    let c = &machine.counts;
    let mut words = vec![count(c.packages, "package")];
    words.push(if c.numa_nodes == 0 {
        "no NUMA information".to_owned()
    } else {
        count(c.numa_nodes, "NUMA node")
    });
    if c.l3_domains > 0 {
        words.push(count(c.l3_domains, "L3 domain"));
    }
    words.push(count(c.cores, "core"));
    words.push(count(c.pus, "CPU"));
    if c.online != c.pus {
        words.push(format!("{} online", c.online));
    }
    if c.allowed != c.online {
        words.push(format!("{} allowed", c.allowed));
    }
    words.join(" · ")
}

/// One letter for a kind of core; empty when all are alike.
pub fn core_kind(kind: CoreKind) -> &'static str {
    match kind {
        CoreKind::Uniform => "",
        CoreKind::Performance => "P",
        CoreKind::Efficiency => "E",
    }
}

/// What an experiment consists of, in one line.
pub fn design(e: &Experiment) -> String {
    let failed = failed(&e.runs).count();
    let blocks = e.runs.iter().map(|r| r.block + 1).max().unwrap_or(0);
    let mut words = vec![
        count(e.arms.len(), "arm"),
        count(e.levels.len(), "level"),
        count(blocks, "block"),
        count(e.runs.len(), "run"),
    ];
    if failed > 0 {
        words.push(format!("{failed} failed"));
    }
    words.push(format!(
        "at most {} false claims per experiment",
        percent(e.design.error_rate)
    ));
    words.join(" · ")
}

/// The runs that gave no figure, with the reason.
pub fn failed(runs: &[Run]) -> impl Iterator<Item = (&Run, &str)> {
    runs.iter().filter_map(|run| match &run.status {
        RunStatus::Ok => None,
        RunStatus::Failed { why } => Some((run, why.as_str())),
    })
}

/// The sentence on top when an experiment has no verdict.
pub fn no_verdict(e: &Experiment) -> String {
    match e.status {
        ExperimentStatus::Running => format!(
            "No verdict yet: {} made so far. Go on with: plimsoll bench --resume {}",
            count(e.runs.len(), "run"),
            e.id
        ),
        ExperimentStatus::Complete => {
            "No verdict: there is nothing to compare. Give at least two arms that place threads \
             differently, for instance --arms u,ts"
                .to_owned()
        }
    }
}

/// `text` without characters that would steer a terminal or reorder a line: names come from
/// users, and escape sequences in them are not obeyed.
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' | '\r' => ' ',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => {
                '\u{fffd}'
            }
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// A sentence with its percent signs held to their numbers, so that no line ends between them. Not
/// for commands: what is copied from them must be what was written.
pub fn prose(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    let mut digit = false;
    let mut rest = sentence.chars().peekable();
    while let Some(c) = rest.next() {
        if c == ' ' && digit && rest.peek() == Some(&'%') {
            out.push('\u{a0}');
        } else {
            out.push(c);
        }
        digit = c.is_ascii_digit();
    }
    out
}
