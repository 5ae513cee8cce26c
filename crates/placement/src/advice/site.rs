use std::collections::{BTreeMap, BTreeSet};

use plimsoll_schema::{BindType, CpuSet, Machine, Pu};

use super::count;
use crate::binding::bindings;
use crate::view::{ErtsCpu, erts_view};

/// A VM on a machine: where its schedulers land under each class of bind types.
pub(super) struct Site<'a> {
    pub machine: &'a Machine,
    pub schedulers: usize,
    /// The usable CPUs: online and in the VM's mask.
    pub cpus: CpuSet,
    /// What the VM sees; `None` = no topology.
    pub view: Option<Vec<ErtsCpu>>,
    /// One for each class that binds at least one scheduler.
    pub landings: Vec<Landing<'a>>,
}

/// The CPUs that one class of bind types gives to the schedulers, in their order.
pub(super) struct Landing<'a> {
    pub class: &'a [BindType],
    pub cpus: Vec<u32>,
}

impl Landing<'_> {
    /// `ts = tnnps = db`.
    pub fn name(&self) -> String {
        let names: Vec<_> = self.class.iter().map(|bind| bind.flag()).collect();
        names.join(" = ")
    }

    /// How many schedulers sit in each of these parts.
    pub fn counts(&self, parts: &[CpuSet]) -> Vec<usize> {
        parts
            .iter()
            .map(|part| self.cpus.iter().filter(|&&cpu| part.contains(cpu)).count())
            .collect()
    }
}

impl<'a> Site<'a> {
    pub fn new(
        machine: &'a Machine,
        schedulers: usize,
        cpuset: &CpuSet,
        classes: &'a [Vec<BindType>],
    ) -> Self {
        let landings = classes
            .iter()
            .filter_map(|class| {
                let cpus: Vec<_> = bindings(machine, *class.first()?, schedulers, cpuset)
                    .into_iter()
                    .flatten()
                    .collect();
                (!cpus.is_empty()).then_some(Landing { class, cpus })
            })
            .collect();
        Self {
            machine,
            schedulers,
            cpus: machine
                .pus
                .iter()
                .filter(|pu| pu.online && cpuset.contains(pu.os_index))
                .map(|pu| pu.os_index)
                .collect(),
            view: erts_view(machine),
            landings,
        }
    }

    /// The usable PUs.
    pub fn pus(&self) -> impl Iterator<Item = &Pu> {
        let usable = |pu: &&Pu| self.cpus.contains(pu.os_index);
        self.machine.pus.iter().filter(usable)
    }

    /// The usable CPUs grouped by a part of the machine, with the part's index; CPUs that are in no
    /// such part are left out.
    pub fn parts(&self, part: impl Fn(&Pu) -> Option<usize>) -> Vec<(usize, CpuSet)> {
        let mut parts: BTreeMap<usize, CpuSet> = BTreeMap::new();
        for pu in self.pus() {
            if let Some(index) = part(pu) {
                parts.entry(index).or_default().insert(pu.os_index);
            }
        }
        parts.into_iter().collect()
    }

    /// The usable CPUs of each core; a CPU whose core is not known is a core of its own.
    pub fn cores(&self) -> Vec<CpuSet> {
        let known = self.parts(|pu| pu.core).into_iter().map(|(_, cpus)| cpus);
        let alone = self.pus().filter(|pu| pu.core.is_none());
        known
            .chain(alone.map(|pu| CpuSet::from_iter([pu.os_index])))
            .collect()
    }

    /// NUMA nodes with usable CPUs, as name and CPUs.
    pub fn nodes(&self) -> Vec<(String, CpuSet)> {
        self.parts(|pu| pu.numa_node)
            .into_iter()
            .filter_map(|(index, cpus)| {
                let node = self.machine.numa_nodes.get(index)?;
                Some((format!("node {}", node.os_index), cpus))
            })
            .collect()
    }

    /// Packages with usable CPUs, as name and CPUs.
    pub fn packages(&self) -> Vec<(String, CpuSet)> {
        self.parts(|pu| pu.package)
            .into_iter()
            .filter_map(|(index, cpus)| {
                let package = self.machine.packages.get(index)?;
                Some((format!("package {}", package.os_index), cpus))
            })
            .collect()
    }

    /// Where the schedulers of each class sit: `ts = db: 4 on node 0, 0 on node 1`.
    pub fn landing_lines(&self, parts: &[(String, CpuSet)]) -> Vec<String> {
        let sets: Vec<_> = parts.iter().map(|(_, cpus)| cpus.clone()).collect();
        self.landings
            .iter()
            .map(|landing| {
                let counts = landing.counts(&sets);
                let places: Vec<_> = parts
                    .iter()
                    .zip(counts)
                    .map(|((name, _), n)| format!("{n} on {name}"))
                    .collect();
                format!("{}: {}", landing.name(), places.join(", "))
            })
            .collect()
    }

    /// One bind type of each class, `u` first: the arms that are worth measuring.
    pub fn arms(&self) -> String {
        let firsts: BTreeSet<_> = self
            .landings
            .iter()
            .filter_map(|landing| landing.class.first().copied())
            .chain([BindType::U])
            .collect();
        let names: Vec<_> = firsts.iter().map(|bind| bind.flag()).collect();
        names.join(",")
    }

    /// `16 schedulers`.
    pub fn count(&self) -> String {
        count(self.schedulers, "scheduler")
    }
}
