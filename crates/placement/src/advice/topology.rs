//! What the machine's parts make of a binding.

use std::collections::BTreeSet;

use plimsoll_schema::{BindType, Confidence, CoreKind, CpuSet, Finding};

use super::site::Site;
use super::{and, certain, count, unmeasured};
use crate::order::order_of;
use crate::sct::{sct_of, view_by_l3};
use crate::view::{ErtsCpu, number_threads};

/// One CPU: nothing to place.
pub(super) fn one_cpu(site: &Site) -> Option<Finding> {
    (site.cpus.len() == 1).then(|| {
        certain(
            "bind.one-cpu",
            format!(
                "the VM may use CPU {} only: there is nothing to place",
                site.cpus
            ),
        )
    })
}

/// One package, one node, one cache.
pub(super) fn one_domain(site: &Site) -> Option<Finding> {
    let one = |parts: Vec<(usize, CpuSet)>| parts.len() <= 1;
    if site.landings.is_empty()
        || site.cpus.len() < 2
        || !one(site.parts(|pu| pu.package))
        || !one(site.parts(|pu| pu.numa_node))
        || !one(site.parts(|pu| pu.l3_domain))
    {
        return None;
    }
    let cores = site.cores().len();
    let smt = if cores < site.cpus.len() {
        "besides, bind types differ in which schedulers share a core"
    } else {
        "no core has a second thread"
    };
    Some(Finding {
        evidence: vec![format!(
            "{} on {}: {smt}",
            count(site.cpus.len(), "CPU"),
            count(cores, "core")
        )],
        fix: Some(format!(
            "measure whether binding matters at all: `plimsoll bench --arms {} -- YOUR COMMAND`",
            site.arms()
        )),
        expected_gain: unmeasured(),
        ..certain(
            "bind.one-domain",
            "all usable CPUs share one package, one memory and one last-level cache: binding only \
             keeps schedulers from moving between cores"
                .to_owned(),
        )
    })
}

/// Several NUMA nodes.
pub(super) fn several_nodes(site: &Site) -> Option<Finding> {
    let nodes = site.nodes();
    if nodes.len() < 2 {
        return None;
    }
    let mut evidence: Vec<_> = nodes
        .iter()
        .map(|(name, cpus)| format!("{name}: CPUs {cpus}"))
        .collect();
    let all = &site.machine.numa_nodes;
    let far = all
        .iter()
        .enumerate()
        .flat_map(|(i, node)| {
            let others = node.distances.iter().enumerate();
            others.filter_map(move |(j, &distance)| (i != j).then_some(distance))
        })
        .max();
    if let Some(far) = far {
        evidence.push(format!(
            "the farthest memory is at distance {far} (10 = local)"
        ));
    }
    evidence.extend(site.landing_lines(&nodes));
    Some(Finding {
        evidence,
        fix: Some(format!(
            "measure the placements that differ here: `plimsoll bench --arms {} -- YOUR COMMAND`",
            site.arms()
        )),
        expected_gain: unmeasured(),
        confidence: Confidence::Likely,
        ..certain(
            "bind.unbound-numa",
            format!(
                "the usable CPUs lie in {}: an unbound scheduler can move away from the memory \
                 that it uses",
                count(nodes.len(), "NUMA node")
            ),
        )
    })
}

/// Several packages that NUMA nodes do not tell apart.
pub(super) fn several_packages(site: &Site) -> Option<Finding> {
    let packages = site.packages();
    if packages.len() < 2 || site.nodes().len() > 1 {
        return None;
    }
    let mut evidence = site.landing_lines(&packages);
    if site.machine.numa_nodes.is_empty() {
        evidence.push(
            "without NUMA information `db` takes CPUs of all packages in turn instead of filling \
             one after the other"
                .to_owned(),
        );
    }
    Some(Finding {
        evidence,
        fix: Some(format!(
            "measure the placements that differ here: `plimsoll bench --arms {} -- YOUR COMMAND`",
            site.arms()
        )),
        expected_gain: unmeasured(),
        ..certain(
            "topology.packages-without-nodes",
            format!(
                "the usable CPUs lie in {}, but no NUMA node separates them",
                count(packages.len(), "package")
            ),
        )
    })
}

/// Some bind types fill one part while another stays without schedulers.
pub(super) fn parts_left_empty(site: &Site) -> Option<Finding> {
    let mut parts = site.nodes();
    if parts.len() < 2 {
        parts = site.packages();
    }
    let sets: Vec<_> = parts.iter().map(|(_, cpus)| cpus.clone()).collect();
    let (filling, spreading): (Vec<_>, Vec<_>) = site
        .landings
        .iter()
        .partition(|landing| landing.counts(&sets).contains(&0));
    if filling.is_empty() || site.schedulers < parts.len() || parts.len() < 2 {
        return None;
    }
    let names = |landings: &[&super::site::Landing]| {
        and(&landings.iter().map(|l| l.name()).collect::<Vec<_>>())
    };
    let evidence = filling
        .iter()
        .map(|landing| {
            let counts = landing.counts(&sets);
            let empty: Vec<_> = parts
                .iter()
                .zip(counts)
                .filter(|&(_, n)| n == 0)
                .map(|((name, _), _)| name.clone())
                .collect();
            format!("{}: nobody on {}", landing.name(), and(&empty))
        })
        .collect();
    let fix = if spreading.is_empty() {
        "no bind type uses all parts here; a cpuset or `+sct` can".to_owned()
    } else {
        format!(
            "for the caches and memory bandwidth of all parts take {}; to stay near one memory \
             take {}; measure which your load wants",
            names(&spreading),
            names(&filling)
        )
    };
    Some(Finding {
        evidence,
        fix: Some(fix),
        expected_gain: unmeasured(),
        ..certain(
            "bind.part-unused",
            format!(
                "with {}, some bind types leave a part of the machine without any",
                site.count()
            ),
        )
    })
}

/// Last-level caches that the VM does not see.
pub(super) fn caches(site: &Site) -> Option<Finding> {
    let domains: Vec<CpuSet> = site
        .parts(|pu| pu.l3_domain)
        .into_iter()
        .map(|(_, cpus)| cpus)
        .collect();
    let view = site.view.as_ref()?;
    if domains.len() < 2 || !some_area_holds_several(&domains, view) {
        return None;
    }
    let spread = |cpus: &[u32]| {
        let used = |domain: &&CpuSet| cpus.iter().any(|&cpu| domain.contains(cpu));
        domains.iter().filter(used).count()
    };
    let total = domains.len();
    let mut evidence: Vec<_> = site
        .landings
        .iter()
        .map(|landing| {
            let used = spread(&landing.cpus);
            format!(
                "{}: {} in {used} of {total} caches",
                landing.name(),
                site.count()
            )
        })
        .collect();
    let best = |view: &[ErtsCpu]| {
        BindType::ALL
            .into_iter()
            .filter_map(|bind| {
                let mut cpus = order_of(view, bind)?;
                cpus.retain(|&cpu| site.cpus.contains(cpu));
                cpus.truncate(total);
                Some((spread(&cpus), bind))
            })
            // The first of the best.
            .fold(None, |best: Option<(usize, BindType)>, next| match best {
                Some(best) if best.0 >= next.0 => Some(best),
                _ => Some(next),
            })
    };
    let (now, _) = best(view)?;
    evidence.push(format!(
        "of {total} schedulers, one for each cache, no bind type brings more than {now} into \
         caches of their own"
    ));
    let fix = match view_by_l3(site.machine) {
        Some(declared) => {
            let (then, spreading) = best(&declared)?;
            evidence.push(format!(
                "with every cache declared as a NUMA node `+sbt {spreading}` brings {then} of \
                 {total} there, and `+sbt nnts` fills cache after cache"
            ));
            format!(
                "declare the caches as nodes and measure against the default: `+sct {} +sbt \
                 {spreading}`",
                sct_of(&declared)
            )
        }
        None => "place by hand with cpusets: these caches cannot be declared \
                 with `+sct`"
            .to_owned(),
    };
    Some(Finding {
        evidence,
        fix: Some(fix),
        expected_gain: unmeasured(),
        ..certain(
            "topology.l3-invisible",
            format!(
                "the VM does not see that the usable CPUs have {total} last-level caches: no bind \
                 type respects them"
            ),
        )
    })
}

/// Whether CPUs that are alike for the VM (same node and package) have different caches.
fn some_area_holds_several(domains: &[CpuSet], view: &[ErtsCpu]) -> bool {
    let area = |c: &ErtsCpu| (c.node, c.processor, c.processor_node);
    let seen: BTreeSet<_> = view
        .iter()
        .filter_map(|c| {
            let cpu = c.logical.unsigned_abs();
            let domain = domains.iter().position(|domain| domain.contains(cpu))?;
            Some((area(c), domain))
        })
        .collect();
    let areas: BTreeSet<_> = seen.iter().map(|&(area, _)| area).collect();
    areas.len() < seen.len()
}

/// Core numbers that the kernel uses twice in what the VM takes for one place.
pub(super) fn repeated_core_ids(site: &Site) -> Option<Finding> {
    let view = site.view.as_ref()?;
    let core_of = |c: &ErtsCpu| {
        let cpu = c.logical.unsigned_abs();
        let pu = site.machine.pus.iter().find(|pu| pu.os_index == cpu)?;
        pu.core
    };
    let real: BTreeSet<_> = view.iter().map(core_of).collect::<Option<_>>()?;
    let seen: BTreeSet<_> = view
        .iter()
        .map(|c| (c.node, c.processor, c.processor_node, c.core))
        .collect();
    if seen.len() >= real.len() {
        return None;
    }
    let mut told_apart = view.clone();
    for cpu in &mut told_apart {
        cpu.core = i32::try_from(core_of(cpu)?).ok()?;
    }
    number_threads(&mut told_apart);
    Some(Finding {
        evidence: vec![format!(
            "{} on this machine, but the VM tells only {} apart",
            count(real.len(), "core"),
            seen.len()
        )],
        fix: Some(format!(
            "tell the VM the real cores: `+sct {}`",
            sct_of(&told_apart)
        )),
        ..certain(
            "topology.core-ids-repeat",
            "the kernel gives several cores of a package the same number, so the VM takes them \
             for threads of one core"
                .to_owned(),
        )
    })
}

/// Cores of different kinds.
pub(super) fn hybrid(site: &Site) -> Option<Finding> {
    let kind = |pu: &plimsoll_schema::Pu| Some(site.machine.cores.get(pu.core?)?.kind);
    let of = |wanted: CoreKind| -> CpuSet {
        let pus = site.pus().filter(|pu| kind(pu) == Some(wanted));
        pus.map(|pu| pu.os_index).collect()
    };
    let (fast, slow) = (of(CoreKind::Performance), of(CoreKind::Efficiency));
    if fast.is_empty() || slow.is_empty() {
        return None;
    }
    let kinds = [
        ("performance cores".to_owned(), fast.clone()),
        ("efficiency cores".to_owned(), slow),
    ];
    Some(Finding {
        evidence: site.landing_lines(&kinds),
        fix: Some(format!(
            "measure with the fast cores only (`taskset -c {fast}`) against all"
        )),
        expected_gain: unmeasured(),
        ..certain(
            "topology.hybrid",
            "the cores are of different kinds and the VM does not know it: a process on a slow \
             core takes longer, whatever the bind type"
                .to_owned(),
        )
    })
}

fn node_names(site: &Site, wanted: impl Fn(&plimsoll_schema::NumaNode) -> bool) -> Vec<String> {
    let nodes = site.machine.numa_nodes.iter();
    nodes
        .filter(|node| wanted(node))
        .map(|node| format!("node {}", node.os_index))
        .collect()
}

/// Nodes with memory and without CPUs.
pub(super) fn memory_only_nodes(site: &Site) -> Option<Finding> {
    let names = node_names(site, |node| node.cpus.is_empty() && node.memory_bytes > 0);
    (!names.is_empty()).then(|| Finding {
        fix: Some(
            "nothing for binding; see with `numastat -p` where the VM's pages are".to_owned(),
        ),
        ..certain(
            "topology.memory-only-node",
            format!(
                "{} hold{} memory but no CPU: no scheduler is placed there, pages may be",
                and(&names),
                if names.len() == 1 { "s" } else { "" }
            ),
        )
    })
}

/// Nodes with CPUs and without memory.
pub(super) fn memoryless_nodes(site: &Site) -> Option<Finding> {
    let has_memory = |node: &plimsoll_schema::NumaNode| node.memory_bytes > 0;
    if !site.machine.numa_nodes.iter().any(has_memory) {
        // The description says nothing about memory.
        return None;
    }
    let names = node_names(site, |node| !node.cpus.is_empty() && !has_memory(node));
    (!names.is_empty()).then(|| Finding {
        fix: Some(
            "leave their CPUs out with a cpuset, if a measurement says so; check that the memory \
             modules are where they should be"
                .to_owned(),
        ),
        ..certain(
            "topology.memoryless-node",
            format!(
                "{} ha{} CPUs but no memory: schedulers there always work on remote memory",
                and(&names),
                if names.len() == 1 { "s" } else { "ve" }
            ),
        )
    })
}
