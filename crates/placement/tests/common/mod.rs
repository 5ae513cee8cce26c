//! What the tests share: machines built by hand or at random, and VMs to ask.
#![allow(dead_code)] // each test file uses its part

pub mod oracle;
pub mod random;

use plimsoll_schema::{
    Core, CoreKind, Counts, CpuSet, L3Domain, Machine, MachineSource, NumaNode, Package, Pu,
};

/// One CPU by the kernel's ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    pub os: u32,
    pub package: u32,
    pub node: Option<u32>,
    pub core: u32,
    pub l3: u32,
    pub kind: CoreKind,
    pub online: bool,
}

impl Cpu {
    pub fn new(os: u32, package: u32, node: Option<u32>, core: u32) -> Self {
        Self {
            os,
            package,
            node,
            core,
            l3: package,
            kind: CoreKind::Uniform,
            online: true,
        }
    }
}

/// A machine of these CPUs: the parts in the order of their first CPU.
pub fn machine(cpus: &[Cpu]) -> Machine {
    let index = |keys: &[u64], key| keys.iter().position(|&k| k == key);
    let distinct = |key: &dyn Fn(&Cpu) -> Option<u64>| {
        let mut keys: Vec<u64> = Vec::new();
        for key in cpus.iter().filter_map(key) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    };
    let set = |belongs: &dyn Fn(&Cpu) -> bool| -> CpuSet {
        cpus.iter().filter(|c| belongs(c)).map(|c| c.os).collect()
    };
    let core_key = |c: &Cpu| {
        let node = u64::from(c.node.map_or(0, |node| node + 1));
        (u64::from(c.package) << 44) | (node << 24) | u64::from(c.core)
    };
    let package_keys = distinct(&|c| Some(u64::from(c.package)));
    let node_keys = distinct(&|c| c.node.map(u64::from));
    let l3_keys = distinct(&|c| Some(u64::from(c.l3)));
    let core_keys = distinct(&|c| Some(core_key(c)));
    let packages: Vec<_> = package_keys
        .iter()
        .map(|&key| Package {
            os_index: key as u32,
            cpus: set(&|c| u64::from(c.package) == key),
        })
        .collect();
    let numa_nodes: Vec<_> = node_keys
        .iter()
        .map(|&key| NumaNode {
            os_index: key as u32,
            memory_bytes: 1 << 30,
            cpus: set(&|c| c.node.map(u64::from) == Some(key)),
            distances: Vec::new(),
        })
        .collect();
    let l3_domains: Vec<_> = l3_keys
        .iter()
        .map(|&key| L3Domain {
            size_bytes: 32 << 20,
            cpus: set(&|c| u64::from(c.l3) == key),
        })
        .collect();
    let cores: Vec<_> = core_keys
        .iter()
        .map(|&key| {
            let first = cpus.iter().find(|c| core_key(c) == key).unwrap();
            Core {
                os_index: first.core,
                package: index(&package_keys, u64::from(first.package)),
                kind: first.kind,
                cpus: set(&|c| core_key(c) == key),
            }
        })
        .collect();
    let pus: Vec<_> = cpus
        .iter()
        .map(|c| {
            let core = index(&core_keys, core_key(c));
            Pu {
                os_index: c.os,
                core,
                package: index(&package_keys, u64::from(c.package)),
                numa_node: c.node.and_then(|node| index(&node_keys, u64::from(node))),
                l3_domain: index(&l3_keys, u64::from(c.l3)),
                thread: cores[core.unwrap()]
                    .cpus
                    .iter()
                    .position(|os| os == c.os)
                    .unwrap(),
                online: c.online,
                allowed: c.online,
            }
        })
        .collect();
    let online = cpus.iter().filter(|c| c.online).count();
    Machine {
        source: MachineSource::Synthetic {
            spec: "built by a test".to_owned(),
        },
        cpu_model: None,
        counts: Counts {
            packages: packages.len(),
            numa_nodes: numa_nodes.len(),
            l3_domains: l3_domains.len(),
            cores: cores.len(),
            pus: pus.len(),
            online,
            allowed: online,
            threads_per_core: cores.iter().map(|c| c.cpus.len()).max().unwrap_or(0),
        },
        packages,
        numa_nodes,
        l3_domains,
        cores,
        pus,
        kernel: None,
        limits: None,
    }
}

/// Sockets × cores × threads, one NUMA node a socket, numbered as Linux does: the first threads of
/// socket 0, of socket 1, …, then their siblings in the same sequence.
pub fn sockets(sockets: u32, cores: u32, threads: u32) -> Vec<Cpu> {
    let mut cpus = Vec::new();
    for thread in 0..threads {
        for socket in 0..sockets {
            for core in 0..cores {
                let os = (thread * sockets + socket) * cores + core;
                cpus.push(Cpu::new(os, socket, Some(socket), core));
            }
        }
    }
    cpus
}

/// One package of `domains` chiplets with `cores` cores each, in one NUMA node.
pub fn chiplets(domains: u32, cores: u32) -> Vec<Cpu> {
    (0..domains * cores)
        .map(|os| Cpu {
            l3: os / cores,
            ..Cpu::new(os, 0, Some(0), os)
        })
        .collect()
}

pub fn list(text: &str) -> CpuSet {
    text.parse().unwrap()
}

pub fn all_cpus(machine: &Machine) -> CpuSet {
    machine.pus.iter().map(|pu| pu.os_index).collect()
}
