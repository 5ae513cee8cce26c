//! A machine as nested parts: what both drawings are made from.

use plimsoll_schema::{CpuSet, Machine};

use crate::number::bytes;
use crate::words;

/// A level of the machine above the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Package,
    Node,
    L3,
}

/// A part of the machine that holds cores, and possibly smaller parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it is: several levels when they hold the same CPUs. The index is into the machine's
    /// vector of that level.
    pub is: Vec<(Level, usize)>,
    /// Smaller parts; empty = the cores are directly inside.
    pub parts: Vec<Part>,
    /// Indices of the cores inside, those of smaller parts included, in the machine's order.
    pub cores: Vec<usize>,
}

/// The machine's outermost parts, plus the CPUs whose core nobody knows (offline ones).
pub fn parts(machine: &Machine) -> (Vec<Part>, CpuSet) {
    let loose = machine
        .pus
        .iter()
        .filter(|pu| pu.core.is_none_or(|core| core >= machine.cores.len()))
        .map(|pu| pu.os_index)
        .collect();
    let mut levels = vec![Level::Package, Level::Node, Level::L3];
    // Wider parts go outside: on some machines an L3 holds several nodes, on others a node holds
    // several L3s or packages. Equal counts keep the usual order.
    levels.sort_by_key(|&level| groups(machine, level, &all_cores(machine)).len());
    (split(machine, &levels, &all_cores(machine)), loose)
}

fn all_cores(machine: &Machine) -> Vec<usize> {
    (0..machine.cores.len()).collect()
}

fn split(machine: &Machine, levels: &[Level], cores: &[usize]) -> Vec<Part> {
    let Some((&level, inner)) = levels.split_first() else {
        return Vec::new();
    };
    let groups = groups(machine, level, cores);
    if groups.iter().all(|(index, _)| index.is_none()) {
        return split(machine, inner, cores);
    }
    groups
        .into_iter()
        .map(|(index, cores)| {
            let mut is: Vec<_> = index.map(|i| (level, i)).into_iter().collect();
            let mut parts = split(machine, inner, &cores);
            if let [only] = parts.as_mut_slice() {
                is.append(&mut only.is);
                parts = std::mem::take(&mut only.parts);
            }
            Part { is, parts, cores }
        })
        .collect()
}

/// `cores` by the part of `level` that they are in, parts in the order in which they appear.
fn groups(machine: &Machine, level: Level, cores: &[usize]) -> Vec<(Option<usize>, Vec<usize>)> {
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for &core in cores {
        let index = index_of(machine, level, core);
        match groups.iter_mut().find(|(i, _)| *i == index) {
            Some((_, members)) => members.push(core),
            None => groups.push((index, vec![core])),
        }
    }
    groups
}

fn index_of(machine: &Machine, level: Level, core: usize) -> Option<usize> {
    let (index, len) = {
        let pus = || machine.pus.iter().filter(|pu| pu.core == Some(core));
        match level {
            Level::Package => (machine.cores[core].package, machine.packages.len()),
            Level::Node => (pus().find_map(|pu| pu.numa_node), machine.numa_nodes.len()),
            Level::L3 => (pus().find_map(|pu| pu.l3_domain), machine.l3_domains.len()),
        }
    };
    index.filter(|&i| i < len)
}

impl Part {
    /// Its name with numbers: `package 0 · node 0 · 128 GiB · L3 55 MiB`.
    pub fn label(&self, machine: &Machine) -> String {
        self.describe(machine, true)
    }

    /// Its name without numbers, the same for identical parts: `package · node · 128 GiB`.
    pub fn kind(&self, machine: &Machine) -> String {
        self.describe(machine, false)
    }

    fn describe(&self, machine: &Machine, numbered: bool) -> String {
        let number = |n: u32| {
            if numbered {
                format!("\u{a0}{n}")
            } else {
                String::new()
            }
        };
        let mut words = Vec::new();
        for &(level, index) in &self.is {
            match level {
                Level::Package => {
                    words.push(format!(
                        "package{}",
                        number(machine.packages[index].os_index)
                    ));
                }
                Level::Node => {
                    let node = &machine.numa_nodes[index];
                    words.push(format!("node{}", number(node.os_index)));
                    words.push(memory(node.memory_bytes));
                }
                Level::L3 => words.push(match machine.l3_domains[index].size_bytes {
                    0 => "L3".to_owned(),
                    size => format!("L3 {}", bytes(size)),
                }),
            }
        }
        if words.is_empty() {
            words.push("elsewhere".to_owned());
        }
        words.join(" · ")
    }

    /// All its CPUs.
    pub fn cpus(&self, machine: &Machine) -> CpuSet {
        self.cores
            .iter()
            .flat_map(|&core| machine.cores[core].cpus.iter())
            .collect()
    }

    /// Everything that makes it look as it does, numbers left out: equal for identical parts.
    pub fn shape(&self, machine: &Machine) -> String {
        let inside = if self.parts.is_empty() {
            cores_in_words(machine, &self.cores)
        } else {
            self.inner_shape(machine)
        };
        format!("{} ▸ {inside}", self.kind(machine))
    }

    fn inner_shape(&self, machine: &Machine) -> String {
        runs_of(&self.parts, |p| p.shape(machine))
            .into_iter()
            .map(|(shape, members)| format!("{} × {shape}", members.len()))
            .collect::<Vec<_>>()
            .join(" + ")
    }
}

/// `8 P-cores × 2 threads + 8 E-cores`.
pub fn cores_in_words(machine: &Machine, cores: &[usize]) -> String {
    runs_of(cores, |&core| {
        let core = &machine.cores[core];
        (words::core_kind(core.kind), core.cpus.len())
    })
    .into_iter()
    .map(|((kind, threads), members)| {
        let dash = if kind.is_empty() { "" } else { "-" };
        let plural = if members.len() == 1 { "" } else { "s" };
        let threads = match threads {
            0 | 1 => String::new(),
            n => format!(" × {n} threads"),
        };
        format!("{} {kind}{dash}core{plural}{threads}", members.len())
    })
    .collect::<Vec<_>>()
    .join(" + ")
}

/// Neighbours with the same key, together.
pub fn runs_of<T, K: PartialEq>(items: &[T], key: impl Fn(&T) -> K) -> Vec<(K, Vec<&T>)> {
    let mut runs: Vec<(K, Vec<&T>)> = Vec::new();
    for item in items {
        let k = key(item);
        match runs.last_mut() {
            Some((last, members)) if *last == k => members.push(item),
            _ => runs.push((k, vec![item])),
        }
    }
    runs
}

/// A node's memory in words.
pub fn memory(size: u64) -> String {
    match size {
        0 => "no memory".to_owned(),
        size => bytes(size),
    }
}

/// CPUs in list syntax, shortened when there are more than `max` ranges.
pub fn cpu_list(set: &CpuSet, max: usize) -> String {
    if set.is_empty() {
        return "none".to_owned();
    }
    let text = set.to_string();
    let ranges: Vec<&str> = text.split(',').collect();
    if ranges.len() <= max {
        return ranges.join(",");
    }
    format!(
        "{},…,{} ({} CPUs)",
        ranges[..max - 1].join(","),
        ranges[ranges.len() - 1],
        set.len()
    )
}
