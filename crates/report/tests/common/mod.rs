//! Fixtures: machines and an experiment made by formula. None of it was measured.
#![allow(dead_code)] // Each test binary uses its part of it.

use std::collections::BTreeMap;

use plimsoll_schema::*;

mod experiments;

pub use experiments::*;

/// A regular machine, CPUs numbered as Linux does on most: first threads of all cores first.
pub struct Builder {
    pub packages: u32,
    pub nodes: u32,
    pub l3s: u32,
    pub cores: u32,
    pub threads: u32,
    pub memory_gib: u64,
    pub l3_mib: u64,
    pub model: &'static str,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            packages: 1,
            nodes: 1,
            l3s: 1,
            cores: 1,
            threads: 1,
            memory_gib: 8,
            l3_mib: 32,
            model: "Fixture CPU",
        }
    }
}

impl Builder {
    /// `nodes` per package, `l3s` per node, `cores` per L3, `threads` per core.
    pub fn build(&self) -> Machine {
        let total = self.packages * self.nodes * self.l3s * self.cores;
        let set = |first: u32, n: u32| -> CpuSet {
            (0..self.threads)
                .flat_map(|t| (first..first + n).map(move |c| t * total + c))
                .collect()
        };
        let per_l3 = self.cores;
        let per_node = per_l3 * self.l3s;
        let per_package = per_node * self.nodes;
        let node_count = self.packages * self.nodes;
        let mut pus: Vec<Pu> = Vec::new();
        for core in 0..total {
            for thread in 0..self.threads {
                pus.push(Pu {
                    os_index: thread * total + core,
                    core: Some(core as usize),
                    package: Some((core / per_package) as usize),
                    numa_node: Some((core / per_node) as usize),
                    l3_domain: Some((core / per_l3) as usize),
                    thread: thread as usize,
                    online: true,
                    allowed: true,
                });
            }
        }
        let mut machine = Machine {
            source: MachineSource::Synthetic {
                spec: format!("fixture of {} packages", self.packages),
            },
            cpu_model: Some(self.model.to_owned()),
            counts: Counts::default(),
            packages: (0..self.packages)
                .map(|p| Package {
                    os_index: p,
                    cpus: set(p * per_package, per_package),
                })
                .collect(),
            numa_nodes: (0..node_count)
                .map(|n| NumaNode {
                    os_index: n,
                    memory_bytes: self.memory_gib << 30,
                    cpus: set(n * per_node, per_node),
                    distances: (0..node_count)
                        .map(|other| {
                            if other == n {
                                10
                            } else if other / self.nodes == n / self.nodes {
                                12
                            } else {
                                21
                            }
                        })
                        .collect(),
                })
                .collect(),
            l3_domains: (0..node_count * self.l3s)
                .map(|l| L3Domain {
                    size_bytes: self.l3_mib << 20,
                    cpus: set(l * per_l3, per_l3),
                })
                .collect(),
            cores: (0..total)
                .map(|c| Core {
                    os_index: c % per_package,
                    package: Some((c / per_package) as usize),
                    kind: CoreKind::Uniform,
                    cpus: set(c, 1),
                })
                .collect(),
            pus,
            kernel: None,
            limits: None,
        };
        recount(&mut machine);
        machine
    }
}

pub fn recount(m: &mut Machine) {
    m.counts = Counts {
        packages: m.packages.len(),
        numa_nodes: m.numa_nodes.len(),
        l3_domains: m.l3_domains.len(),
        cores: m.cores.len(),
        pus: m.pus.len(),
        online: m.pus.iter().filter(|p| p.online).count(),
        allowed: m.pus.iter().filter(|p| p.online && p.allowed).count(),
        threads_per_core: m.cores.iter().map(|c| c.cpus.len()).max().unwrap_or(0),
    };
}

pub fn one_cpu() -> Machine {
    Builder::default().build()
}

pub fn two_cores() -> Machine {
    let mut m = Builder {
        cores: 2,
        ..Builder::default()
    }
    .build();
    m.source = MachineSource::Live;
    m.numa_nodes[0].distances.clear();
    m.kernel = Some(KernelSettings {
        release: Some("6.1.0-fixture".to_owned()),
        governors: None,
        transparent_huge_pages: Some("madvise".to_owned()),
        numa_balancing: Some(0),
        smt_control: Some("notsupported".to_owned()),
        steal: Some(StealShare { since_boot: 0.0123 }),
    });
    m.limits = Some(Limits {
        affinity: "0-1".parse().unwrap(),
        quota_cpus: Some(1.5),
        cpuset: Some("0-1".parse().unwrap()),
        groups: vec![CgroupLimit {
            path: "/kubepods/pod-fixture/container".to_owned(),
            version: CgroupVersion::V2,
            quota_cpus: Some(1.5),
            cpuset: Some("0-1".parse().unwrap()),
        }],
        quota_seen_by_old_vm: None,
    });
    m
}

/// The shape of a 2 × E5-2699 v4 machine.
pub fn two_sockets() -> Machine {
    Builder {
        packages: 2,
        cores: 22,
        threads: 2,
        memory_gib: 128,
        l3_mib: 55,
        model: "Fixture of 2 × 22 cores × 2 threads",
        ..Builder::default()
    }
    .build()
}

/// 2 packages × 4 nodes × 3 chiplets × 4 cores × 2 threads = 192 CPUs.
pub fn chiplets() -> Machine {
    Builder {
        packages: 2,
        nodes: 4,
        l3s: 3,
        cores: 4,
        threads: 2,
        memory_gib: 96,
        l3_mib: 32,
        model: "Fixture of 24 chiplets",
    }
    .build()
}

pub fn thousand_cpus() -> Machine {
    Builder {
        packages: 8,
        nodes: 1,
        l3s: 8,
        cores: 8,
        threads: 2,
        memory_gib: 1536,
        l3_mib: 32,
        model: "Fixture of 1 024 CPUs",
    }
    .build()
}

/// A hybrid machine with a memory-only node, an offline CPU whose core is unknown, an offline
/// thread, and a CPU that is not allowed.
pub fn odd() -> Machine {
    let mut m = Builder {
        cores: 6,
        threads: 2,
        memory_gib: 32,
        ..Builder::default()
    }
    .build();
    for core in &mut m.cores[..2] {
        core.kind = CoreKind::Performance;
    }
    for core in &mut m.cores[2..] {
        core.kind = CoreKind::Efficiency;
    }
    m.numa_nodes[0].distances = vec![10, 17];
    m.numa_nodes.push(NumaNode {
        os_index: 2,
        memory_bytes: 512 << 30,
        cpus: CpuSet::new(),
        distances: vec![17, 10],
    });
    m.pus[1].online = false;
    m.pus[1].allowed = false;
    m.pus[4].allowed = false;
    m.pus.push(Pu {
        os_index: 12,
        core: None,
        package: None,
        numa_node: None,
        l3_domain: None,
        thread: 0,
        online: false,
        allowed: false,
    });
    recount(&mut m);
    m
}

/// Nothing is known but a core.
pub fn bare() -> Machine {
    let mut m = two_cores();
    m.packages.clear();
    m.numa_nodes.clear();
    m.l3_domains.clear();
    m.cpu_model = None;
    m.kernel = Some(KernelSettings::default());
    m.limits = None;
    for core in &mut m.cores {
        core.package = None;
    }
    for pu in &mut m.pus {
        (pu.package, pu.numa_node, pu.l3_domain) = (None, None, None);
    }
    recount(&mut m);
    m
}

/// A map with bindings that are right for regular machines whose nodes are whole packages.
pub fn map_of(machine: Machine) -> MapReport {
    let usable: Vec<&Pu> = machine
        .pus
        .iter()
        .filter(|p| p.online && p.allowed)
        .collect();
    let by = |key: fn(&Pu) -> (usize, usize, usize)| -> Vec<Option<u32>> {
        let mut order: Vec<&&Pu> = usable.iter().collect();
        order.sort_by_key(|p| key(p));
        order.iter().map(|p| Some(p.os_index)).collect()
    };
    let ns = by(|p| (p.core.unwrap_or(usize::MAX), p.thread, 0));
    let ts = by(|p| (p.thread, p.core.unwrap_or(usize::MAX), 0));
    let nnts = by(|p| {
        (
            p.numa_node.unwrap_or(0),
            p.thread,
            p.core.unwrap_or(usize::MAX),
        )
    });
    let cores = machine.cores.len() / machine.packages.len().max(1);
    let mut ps = ts.clone();
    ps.sort_by_key(|cpu| {
        let pu = usable.iter().find(|p| Some(p.os_index) == *cpu).unwrap();
        (pu.thread, pu.core.unwrap_or(0) % cores.max(1), pu.package)
    });
    let n = usable.len();
    use BindType::*;
    let bindings: BTreeMap<BindType, Vec<Option<u32>>> = [
        (U, vec![None; n]),
        (Ns, ns),
        (Ts, ts.clone()),
        (Tnnps, ts.clone()),
        (Db, ts),
        (Ps, ps.clone()),
        (S, ps),
        (Nnts, nnts.clone()),
        (Nnps, nnts),
    ]
    .into();
    let mut classes: Vec<Vec<BindType>> = Vec::new();
    for (bind, cpus) in &bindings {
        match classes.iter_mut().find(|c| &bindings[&c[0]] == cpus) {
            Some(class) => class.push(*bind),
            None => classes.push(vec![*bind]),
        }
    }
    let reach = |threads, count, bound| Reach {
        threads,
        count,
        bound,
    };
    MapReport {
        schema: MapReport::SCHEMA.to_owned(),
        schedulers: n,
        cpuset: usable.iter().map(|p| p.os_index).collect(),
        bindings,
        classes,
        reach: vec![
            reach(ThreadType::Scheduler, Some(n), true),
            reach(ThreadType::DirtyCpu, Some(n), false),
            reach(ThreadType::DirtyIo, Some(10), false),
            reach(ThreadType::Aux, Some(1), false),
            reach(ThreadType::Other, None, false),
        ],
        sct: None,
        advice: vec![Finding {
            id: "bind.dirty-unbound".to_owned(),
            cause:
                "Native functions that run long are on dirty CPU schedulers, and no +sbt places \
                    those."
                    .to_owned(),
            evidence: vec![format!(
                "{n} dirty CPU schedulers stay unbound under every bind type."
            )],
            fix: Some("If the work is in NIFs, place the threads with plimsoll pin.".to_owned()),
            expected_gain: None,
            confidence: Confidence::Certain,
        }],
        machine,
    }
}
