//! What follows from a topology. Each finding is derived from where the schedulers land; none
//! promises a gain, because structure does not say what a program gains.

mod binding;
mod limits;
mod site;
mod topology;

use plimsoll_schema::{BindType, Confidence, CpuSet, Finding, Machine};

use site::Site;

/// What follows for a VM with `schedulers` schedulers on these CPUs of this machine. `classes`: the
/// bind types that are one placement, as [`classes`](crate::classes) gives them.
///
/// Findings are ordered: what stops a binding first, then what the topology makes of it, then limits,
/// then what is good to know.
pub fn advice(
    machine: &Machine,
    schedulers: usize,
    cpuset: &CpuSet,
    classes: &[Vec<BindType>],
) -> Vec<Finding> {
    let site = Site::new(machine, schedulers, cpuset, classes);
    [
        binding::ignored(&site),
        topology::one_cpu(&site),
        topology::one_domain(&site),
        topology::several_nodes(&site),
        topology::several_packages(&site),
        topology::parts_left_empty(&site),
        topology::caches(&site),
        topology::repeated_core_ids(&site),
        topology::hybrid(&site),
        binding::sharing_cores(&site),
        binding::more_schedulers_than_cores(&site),
        binding::surplus(&site),
        limits::quota_floored(&site),
        limits::quota_below_schedulers(&site),
        limits::quota_nested(&site),
        limits::part_of_the_machine(&site),
        binding::overlap(&site),
        topology::memory_only_nodes(&site),
        topology::memoryless_nodes(&site),
        limits::offline(&site),
        binding::same_placement(&site),
        binding::same_cpus(&site),
        binding::dirty_unbound(&site),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A finding that is true by construction, without evidence or fix yet.
fn certain(id: &str, cause: String) -> Finding {
    Finding {
        id: id.to_owned(),
        cause,
        evidence: Vec::new(),
        fix: None,
        expected_gain: None,
        confidence: Confidence::Certain,
    }
}

/// What is said instead of a figure.
fn unmeasured() -> Option<String> {
    Some("not known before it is measured".to_owned())
}

/// `3 cores`, `1 core`.
fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{n} {noun}s")
    }
}

/// `a`, `a and b`, `a, b and c`.
fn and(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}
