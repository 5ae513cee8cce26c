//! Which counters moved together with an effect.

use plimsoll_schema::{Conclusion, Effect, Experiment, Mechanism, Run, RunStatus, ThreadType};
use plimsoll_stats::{median, paired_effects};

/// The most that are shown beside one effect.
const SHOWN: usize = 6;

/// Whether more of a counter costs throughput or gives it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Cost,
    Benefit,
}

struct Counter {
    name: String,
    unit: &'static str,
    kind: Kind,
    read: Reading,
}

/// Takes the counter from a run; `None` = it was not available there.
type Reading = Box<dyn Fn(&Run) -> Option<f64>>;

/// Fills in the mechanisms of every effect.
///
/// A counter `explains` an effect only if there is an effect to explain, if the counter differs
/// beyond chance between the two arms (paired sign-flip test inside blocks, at the experiment's
/// error rate shared by the counters beside that effect), and in the direction that explains it.
pub(crate) fn explain(experiment: &Experiment, effects: &mut [Effect]) {
    let counters = counters();
    for effect in effects {
        let pairs = pairs(experiment, effect);
        let mut mechanisms = Vec::new();
        let mut differences = Vec::new();
        for counter in &counters {
            let values: Vec<(f64, f64)> = pairs
                .iter()
                .filter_map(|(arm, base)| Some(((counter.read)(arm)?, (counter.read)(base)?)))
                .collect();
            if values.iter().all(|(a, b)| *a == 0.0 && *b == 0.0) {
                continue;
            }
            // 1 is added so that a counter that falls to zero has a logarithm: differences below
            // one event a second (or one percent) are no mechanism.
            differences.push(
                values
                    .iter()
                    .map(|(a, b)| ((a + 1.0) / (b + 1.0)).ln())
                    .collect(),
            );
            let side = |f: fn(&(f64, f64)) -> f64| {
                median(&values.iter().map(f).collect::<Vec<_>>()).unwrap_or(0.0)
            };
            mechanisms.push((
                counter.kind,
                Mechanism {
                    counter: counter.name.clone(),
                    unit: counter.unit.to_owned(),
                    arm: side(|v| v.0),
                    baseline: side(|v| v.1),
                    explains: false,
                },
            ));
        }
        let tests = paired_effects(&differences, experiment.design.error_rate);
        for ((kind, mechanism), test) in mechanisms.iter_mut().zip(&tests) {
            mechanism.explains = match (test.interval, effect.conclusion) {
                (Some((low, _)), Conclusion::Faster) if low > 1.0 => *kind == Kind::Benefit,
                (Some((low, _)), Conclusion::Slower) if low > 1.0 => *kind == Kind::Cost,
                (Some((_, high)), Conclusion::Faster) if high < 1.0 => *kind == Kind::Cost,
                (Some((_, high)), Conclusion::Slower) if high < 1.0 => *kind == Kind::Benefit,
                _ => false,
            };
        }
        let mut mechanisms: Vec<Mechanism> = mechanisms.into_iter().map(|(_, m)| m).collect();
        mechanisms.sort_by(|a, b| {
            let change = |m: &Mechanism| ((m.arm + 1.0) / (m.baseline + 1.0)).ln().abs();
            b.explains
                .cmp(&a.explains)
                .then(change(b).total_cmp(&change(a)))
        });
        mechanisms.truncate(SHOWN);
        effect.mechanisms = mechanisms;
    }
}

fn pairs<'a>(experiment: &'a Experiment, effect: &Effect) -> Vec<(&'a Run, &'a Run)> {
    let of = |name: &str| -> Vec<&'a Run> {
        experiment
            .runs
            .iter()
            .filter(|r| r.arm == name && r.level == effect.level && r.status == RunStatus::Ok)
            .collect()
    };
    let baseline = of(&effect.baseline);
    of(&effect.arm)
        .into_iter()
        .filter_map(|a| {
            baseline
                .iter()
                .find(|b| b.block == a.block)
                .map(|b| (a, *b))
        })
        .collect()
}

/// The name of a type of thread in a sentence.
pub(crate) fn threads_name(threads: ThreadType) -> &'static str {
    match threads {
        ThreadType::Scheduler => "normal schedulers",
        ThreadType::DirtyCpu => "dirty CPU schedulers",
        ThreadType::DirtyIo => "dirty IO schedulers",
        ThreadType::Aux => "aux thread",
        ThreadType::Poll => "poll threads",
        ThreadType::Async => "async threads",
        ThreadType::Other => "other threads",
    }
}

fn counters() -> Vec<Counter> {
    let mut counters = Vec::new();
    for threads in [
        ThreadType::Scheduler,
        ThreadType::DirtyCpu,
        ThreadType::Other,
    ] {
        let mut per_second =
            |what: &str, read: fn(&plimsoll_schema::ThreadTypeEvidence) -> Option<u64>| {
                counters.push(Counter {
                    name: format!("{what}, {}", threads_name(threads)),
                    unit: "per second",
                    kind: Kind::Cost,
                    read: Box::new(move |run| {
                        let count = read(run.evidence.threads.get(&threads)?)?;
                        Some(count as f64 / watched_seconds(run)?)
                    }),
                });
            };
        per_second("migrations", |t| t.migrations);
        per_second("involuntary switches", |t| t.involuntary_switches);
        per_second("voluntary switches", |t| t.voluntary_switches);
        per_second("minor faults", |t| t.minor_faults);
        per_second("major faults", |t| t.major_faults);
        counters.push(Counter {
            name: format!("waiting for a CPU, {}", threads_name(threads)),
            unit: "% of wall time",
            kind: Kind::Cost,
            read: Box::new(move |run| {
                let delay = run.evidence.threads.get(&threads)?.run_delay_seconds?;
                Some(100.0 * delay / watched_seconds(run)?)
            }),
        });
    }
    let mut whole = |name: &str, unit, kind, read: fn(&Run) -> Option<f64>| {
        counters.push(Counter {
            name: name.to_owned(),
            unit,
            kind,
            read: Box::new(read),
        });
    };
    whole(
        "CPU time on threads bound to one CPU",
        "% of the run's CPU time",
        Kind::Benefit,
        |run| Some(100.0 * bound_share(run)?),
    );
    whole("mean run queue", "processes", Kind::Cost, |run| {
        run.vm.as_ref()?.run_queue_mean
    });
    whole("throttled", "% of wall time", Kind::Cost, |run| {
        Some(100.0 * run.evidence.host.throttled_seconds? / watched_seconds(run)?)
    });
    whole("steal", "% of CPU time", Kind::Cost, |run| {
        Some(100.0 * run.evidence.host.steal_share?)
    });
    whole("used by others", "% of CPU time", Kind::Cost, |run| {
        Some(100.0 * run.evidence.host.other_share?)
    });
    whole("NUMA hint faults", "per second", Kind::Cost, |run| {
        Some(run.evidence.host.numa_hint_faults? as f64 / watched_seconds(run)?)
    });
    counters
}

fn watched_seconds(run: &Run) -> Option<f64> {
    let seconds = run.warmup_seconds + run.measured_seconds;
    (seconds > 0.0).then_some(seconds)
}

/// Share of the run's CPU time that was spent by threads whose mask is one CPU.
pub(crate) fn bound_share(run: &Run) -> Option<f64> {
    let (bound, all) = run
        .evidence
        .threads
        .values()
        .fold((0.0, 0.0), |(bound, all), t| {
            (
                bound + t.bound_seconds,
                all + t.user_seconds + t.system_seconds,
            )
        });
    (all > 0.0).then_some(bound / all)
}
