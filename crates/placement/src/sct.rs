use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use plimsoll_schema::Machine;

use crate::view::{ErtsCpu, erts_view, number_threads};

/// The largest id that `+sct` accepts (`ERTS_MAX_CPU_TOPOLOGY_ID`).
const MAX_ID: i32 = 0xffff;

/// The machine in the syntax of the VM's `+sct` flag, with the kernel's own ids; `None` when the VM
/// sees no topology. Where an id is too large for the flag, the ids of that level are replaced by
/// their ranks, which gives the same orders.
pub fn sct(machine: &Machine) -> Option<String> {
    Some(sct_of(&erts_view(machine)?))
}

/// The machine in `+sct` syntax with every L3 domain declared as a NUMA node, so that the bind types
/// that respect nodes respect shared caches; `None` when the VM sees no topology, or when a domain
/// does not lie inside one package or is not known for every CPU.
pub fn sct_by_l3(machine: &Machine) -> Option<String> {
    Some(sct_of(&view_by_l3(machine)?))
}

/// The view that a VM has under [`sct_by_l3`].
pub(crate) fn view_by_l3(machine: &Machine) -> Option<Vec<ErtsCpu>> {
    let domain_of: BTreeMap<i32, usize> = machine
        .pus
        .iter()
        .filter_map(|pu| Some((i32::try_from(pu.os_index).ok()?, pu.l3_domain?)))
        .collect();
    let mut domains: BTreeMap<i32, BTreeSet<usize>> = BTreeMap::new();
    let mut packages: BTreeMap<usize, BTreeSet<i32>> = BTreeMap::new();
    let mut view = erts_view(machine)?;
    for cpu in &view {
        let domain = *domain_of.get(&cpu.logical)?;
        domains.entry(cpu.processor).or_default().insert(domain);
        packages.entry(domain).or_default().insert(cpu.processor);
    }
    if packages.values().any(|packages| packages.len() > 1) {
        return None;
    }
    for cpu in &mut view {
        let domain = i32::try_from(domain_of[&cpu.logical]).ok()?;
        (cpu.node, cpu.processor_node) = if domains[&cpu.processor].len() > 1 {
            (-1, domain)
        } else {
            (domain, -1)
        };
    }
    // Cores that the VM had told apart by their node only must not fall together.
    let distinct: BTreeSet<_> = view
        .iter()
        .map(|c| (c.node, c.processor, c.processor_node, c.core, c.thread))
        .collect();
    if distinct.len() < view.len() {
        return None;
    }
    number_threads(&mut view);
    Some(view)
}

/// CPUs as the VM sees them in `+sct` syntax: one entry for each node and package and thread, ids
/// from the inside out as the flag demands (`L0-3c0-3p1N1`; a node inside a package stands before
/// `p`).
///
/// Source: `get_cput_entry` and `verify_topology` in `erts/emulator/beam/erl_cpu_topology.c`.
pub fn sct_of(view: &[ErtsCpu]) -> String {
    let mut cpus = view.to_vec();
    fit(&mut cpus, |cpu| &mut cpu.processor);
    fit(&mut cpus, |cpu| &mut cpu.core);
    fit_nodes(&mut cpus);
    let part = |c: &ErtsCpu| (c.processor, c.node, c.processor_node, c.thread);
    cpus.sort_by_key(|cpu| (part(cpu), cpu.core, cpu.logical));
    let mut text = String::new();
    for entry in cpus.chunk_by(|a, b| part(a) == part(b)) {
        let first = entry[0];
        let logical = ids(entry.iter().map(|cpu| cpu.logical));
        let core = ids(entry.iter().map(|cpu| cpu.core));
        let separator = if text.is_empty() { "" } else { ":" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}L{logical}t{}c{core}", first.thread);
        if first.processor_node >= 0 {
            let _ = write!(text, "n{}", first.processor_node);
        }
        let _ = write!(text, "p{}", first.processor);
        if first.node >= 0 {
            let _ = write!(text, "N{}", first.node);
        }
    }
    text
}

/// Replaces one level's ids by their ranks if one of them is too large.
fn fit(cpus: &mut [ErtsCpu], level: impl Fn(&mut ErtsCpu) -> &mut i32) {
    let all: BTreeSet<i32> = cpus.iter_mut().map(|cpu| *level(cpu)).collect();
    if all.last().is_some_and(|&id| id > MAX_ID) {
        let ranks: BTreeMap<i32, i32> = all.into_iter().zip(0..).collect();
        for cpu in cpus {
            let id = level(cpu);
            *id = ranks[id];
        }
    }
}

/// As [`fit`], for the two levels that carry node ids together.
fn fit_nodes(cpus: &mut [ErtsCpu]) {
    let all: BTreeSet<i32> = cpus
        .iter()
        .flat_map(|cpu| [cpu.node, cpu.processor_node])
        .filter(|&id| id >= 0)
        .collect();
    if all.last().is_some_and(|&id| id > MAX_ID) {
        let ranks: BTreeMap<i32, i32> = all.into_iter().zip(0..).collect();
        for cpu in cpus {
            for id in [&mut cpu.node, &mut cpu.processor_node] {
                *id = ranks.get(id).copied().unwrap_or(-1);
            }
        }
    }
}

/// A list such as `0-3,8`, in the given sequence; a single id when all are the same.
fn ids(list: impl Iterator<Item = i32> + Clone) -> String {
    let mut text = String::new();
    let mut rest = list.clone().peekable();
    let first = rest.peek().copied();
    if list.map(Some).all(|id| id == first) {
        return first.map(|id| id.to_string()).unwrap_or_default();
    }
    while let Some(low) = rest.next() {
        let mut high = low;
        while rest.peek() == Some(&(high + 1)) {
            high += 1;
            rest.next();
        }
        if !text.is_empty() {
            text.push(',');
        }
        let _ = if low == high {
            write!(text, "{low}")
        } else {
            write!(text, "{low}-{high}")
        };
    }
    text
}
