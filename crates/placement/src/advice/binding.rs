//! What a binding does with schedulers, and what it leaves out.

use plimsoll_schema::{BindType, Confidence, CpuSet, Finding};

use super::site::{Landing, Site};
use super::{and, certain, count, unmeasured};
use crate::classes::same_cpus as grouped_by_cpus;

/// The VM sees no topology.
pub(super) fn ignored(site: &Site) -> Option<Finding> {
    if site.view.is_some() {
        return None;
    }
    let outside: CpuSet = site
        .machine
        .pus
        .iter()
        .filter(|pu| pu.online && pu.numa_node.is_none())
        .map(|pu| pu.os_index)
        .collect();
    let mut evidence = Vec::new();
    if !outside.is_empty() && !site.machine.numa_nodes.is_empty() {
        evidence.push(format!(
            "online CPUs {outside} are in no NUMA node, and the VM looks for CPUs in nodes only"
        ));
    }
    evidence.push(
        "`+sbt` then stops the VM at start (`no cpu topology available`); `+stbt` is ignored \
         without a word"
            .to_owned(),
    );
    Some(Finding {
        evidence,
        fix: Some(
            "describe the machine to the VM with `+sct` (before `+sbt`), then read \
             `erlang:system_info(scheduler_bind_type)` back"
                .to_owned(),
        ),
        ..certain(
            "bind.ignored",
            "the VM sees no CPU topology on this machine, so no bind type takes effect".to_owned(),
        )
    })
}

/// Two schedulers on one core while other cores have none.
pub(super) fn sharing_cores(site: &Site) -> Option<Finding> {
    let cores = site.cores();
    let use_of = |landing: &Landing| {
        let counts = landing.counts(&cores);
        let shared = counts.iter().filter(|&&n| n > 1).count();
        let empty = counts.iter().filter(|&&n| n == 0).count();
        (shared, empty)
    };
    let (sharing, apart): (Vec<_>, Vec<_>) = site.landings.iter().partition(|landing| {
        let (shared, empty) = use_of(landing);
        shared > 0 && empty > 0
    });
    let names: Vec<_> = sharing.iter().map(|landing| landing.name()).collect();
    if sharing.is_empty() {
        return None;
    }
    let evidence = sharing
        .iter()
        .map(|landing| {
            let (shared, empty) = use_of(landing);
            format!(
                "{}: {} with two or more of {}, {} with none",
                landing.name(),
                count(shared, "core"),
                site.count(),
                count(empty, "core")
            )
        })
        .collect();
    let others: Vec<_> = apart.iter().map(|landing| landing.name()).collect();
    Some(Finding {
        evidence,
        fix: (!others.is_empty()).then(|| {
            format!(
                "use a bind type that gives each scheduler a core of its own here: {}",
                and(&others)
            )
        }),
        expected_gain: unmeasured(),
        ..certain(
            "bind.sharing-core",
            format!(
                "with {}, some share a core under {} while other cores stay free",
                site.count(),
                and(&names)
            ),
        )
    })
}

/// More schedulers than cores: hardware threads are in use.
pub(super) fn more_schedulers_than_cores(site: &Site) -> Option<Finding> {
    let cores = site.cores().len();
    // Without SMT, more schedulers than cores are more than CPUs: `surplus` says so.
    if site.schedulers <= cores || site.cpus.len() == cores {
        return None;
    }
    Some(Finding {
        evidence: vec![format!(
            "{} on {} with {}",
            site.count(),
            count(cores, "core"),
            count(site.cpus.len(), "hardware thread")
        )],
        fix: Some(format!(
            "see whether the second thread of a core pays for your load: `plimsoll bench --arm \
             'cores=+S {cores}' -- YOUR COMMAND`"
        )),
        expected_gain: unmeasured(),
        confidence: Confidence::Likely,
        ..certain(
            "smt.oversubscribed",
            "under full CPU-bound load schedulers share cores, whatever the bind type".to_owned(),
        )
    })
}

/// More schedulers than CPUs.
pub(super) fn surplus(site: &Site) -> Option<Finding> {
    let bound = site.landings.first()?.cpus.len();
    let left = site.schedulers.saturating_sub(bound);
    if left == 0 {
        return None;
    }
    Some(Finding {
        evidence: vec![format!(
            "{} for {} that the VM can bind to",
            site.count(),
            count(bound, "CPU")
        )],
        fix: Some(format!("start no more schedulers than CPUs: `+S {bound}`")),
        ..certain(
            "bind.surplus",
            format!(
                "{} of {} stay unbound under every bind type, and run on the bound ones' CPUs",
                left,
                site.count()
            ),
        )
    })
}

/// A second VM with the same flags would sit on the same CPUs. Said only where there is room for a
/// second one.
pub(super) fn overlap(site: &Site) -> Option<Finding> {
    if site.landings.is_empty() || site.schedulers * 2 > site.cpus.len() {
        return None;
    }
    let evidence = site
        .landings
        .iter()
        .map(|landing| {
            let cpus: CpuSet = landing.cpus.iter().copied().collect();
            format!("{}: every such VM takes CPUs {cpus}", landing.name())
        })
        .collect();
    Some(Finding {
        evidence,
        fix: Some(
            "give each VM a cpuset of its own (`taskset -c`, the container's cpuset), or leave \
             them unbound (`+sbt u`)"
                .to_owned(),
        ),
        ..certain(
            "bind.overlap",
            format!(
                "{} leave room for another VM on {}, but one with the same flags binds to the \
                 same CPUs",
                site.count(),
                count(site.cpus.len(), "CPU")
            ),
        )
    })
}

/// Bind types that are one placement.
pub(super) fn same_placement(site: &Site) -> Option<Finding> {
    let evidence: Vec<_> = site
        .landings
        .iter()
        .filter(|landing| landing.class.len() > 1)
        .map(|landing| format!("{}: the same CPU for every scheduler", landing.name()))
        .collect();
    if evidence.is_empty() || site.cpus.len() < 2 {
        return None;
    }
    Some(Finding {
        evidence,
        fix: Some(format!(
            "measure one bind type of each kind: `plimsoll bench --arms {} -- YOUR COMMAND`",
            site.arms()
        )),
        ..certain(
            "bind.same-placement",
            format!(
                "the 8 bind types that bind are only {} here: a difference between equal ones is \
                 noise",
                count(site.landings.len(), "placement")
            ),
        )
    })
}

/// Placements that use the same CPUs with the schedulers numbered differently.
pub(super) fn same_cpus(site: &Site) -> Option<Finding> {
    let one_of_each = site
        .landings
        .iter()
        .filter_map(|l| {
            Some((
                *l.class.first()?,
                l.cpus.iter().copied().map(Some).collect(),
            ))
        })
        .collect();
    let class_of = |bind: &BindType| {
        let landing = site.landings.iter().find(|l| l.class.contains(bind));
        landing.map(Landing::name).unwrap_or_default()
    };
    let evidence: Vec<_> = grouped_by_cpus(&one_of_each)
        .iter()
        .filter(|group| group.len() > 1)
        .map(|group| {
            let names: Vec<_> = group.iter().map(class_of).collect();
            format!("the same CPUs, other numbers: {}", names.join(" | "))
        })
        .collect();
    if evidence.is_empty() {
        return None;
    }
    Some(Finding {
        evidence,
        ..certain(
            "bind.same-cpus",
            "some placements use the same CPUs with the schedulers in another order: they \
             differ below full load, when the VM gives work to low-numbered schedulers first"
                .to_owned(),
        )
    })
}

/// Dirty schedulers are not bound.
pub(super) fn dirty_unbound(site: &Site) -> Option<Finding> {
    if site.landings.is_empty() || site.cpus.len() < 2 {
        return None;
    }
    let dirty = site.schedulers.min(site.machine.pus.len());
    Some(Finding {
        evidence: vec![format!(
            "{} can be bound; {} and every other thread run anywhere on CPUs {}, whatever the \
             bind type",
            site.count(),
            count(dirty, "dirty CPU scheduler"),
            site.cpus
        )],
        fix: Some(
            "if your CPU time is spent in long NIFs, do not expect a bind type to change it; `plimsoll bench` shows where the time is spent"
                .to_owned(),
        ),
        ..certain(
            "bind.dirty-unbound",
            "`+sbt` places normal schedulers only: dirty NIFs, ports and collections on dirty \
             schedulers are not reached"
                .to_owned(),
        )
    })
}
