//! From hwloc's tree to our record.

use std::collections::HashMap;

use hwlocality::cpu::cpuset::CpuSet as HwlocSet;
use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::ObjectAttributes;
use hwlocality::object::distance::DistancesKind;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::Topology;
use hwlocality::topology::builder::BuildFlags;
use plimsoll_schema::{
    Core, CoreKind, Counts, CpuSet, L3Domain, Machine, MachineSource, NumaNode, Package, Pu,
};

use crate::MAX_CPU;

/// Which numbers of a description are replaced by those that Linux would give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbering {
    /// CPUs: first threads of all cores, then second threads, and so on.
    pub linux_cpus: bool,
    /// Cores: counted from 0 in each package.
    pub linux_cores: bool,
}

impl Numbering {
    pub(crate) const AS_GIVEN: Self = Self {
        linux_cpus: false,
        linux_cores: false,
    };
}

/// Disallowed CPUs are part of the machine: they are marked, not dropped.
pub(crate) fn flags() -> BuildFlags {
    BuildFlags::INCLUDE_DISALLOWED
}

/// Our record of `topology`; the sentence of an error says what is wrong with the description.
pub(crate) fn describe(
    topology: &Topology,
    source: MachineSource,
    numbering: Numbering,
) -> Result<Machine, String> {
    let everything = topology.complete_cpuset();
    match everything.last_set().map(usize::from) {
        _ if everything.weight().is_none() => return Err("its CPUs have no end".to_owned()),
        None => return Err("it has no CPU".to_owned()),
        Some(last) if last > MAX_CPU as usize => {
            return Err(format!(
                "CPU {last} is beyond the highest number, {MAX_CPU}"
            ));
        }
        Some(_) => {}
    }
    let renamed = if numbering.linux_cpus {
        linux_cpu_numbers(topology)
    } else {
        HashMap::new()
    };
    let rename = |os: usize| renamed.get(&os).copied().unwrap_or(os as u32);
    let cpus_of = |object: &TopologyObject| -> CpuSet {
        object
            .cpuset()
            .map(|set| set.iter_set().map(|cpu| rename(cpu.into())).collect())
            .unwrap_or_default()
    };
    let objects = |kind| topology.objects_with_type(kind);

    let packages: Vec<Package> = objects(ObjectType::Package)
        .enumerate()
        .map(|(index, object)| Package {
            os_index: os_index(object).unwrap_or(index as u32),
            cpus: cpus_of(object),
        })
        .collect();
    let l3_domains: Vec<L3Domain> = objects(ObjectType::L3Cache)
        .map(|object| L3Domain {
            size_bytes: match object.attributes() {
                Some(ObjectAttributes::Cache(cache)) => cache.size().map_or(0, u64::from),
                _ => 0,
            },
            cpus: cpus_of(object),
        })
        .collect();
    let numa_nodes = numa_nodes(topology, &cpus_of);

    let package_of = owners(packages.iter().map(|p| &p.cpus));
    let l3_of = owners(l3_domains.iter().map(|d| &d.cpus));
    let node_of = owners(numa_nodes.iter().map(|n| &n.cpus));
    let kinds = core_kinds(topology, &rename);

    let mut parts: Vec<(Option<u32>, CpuSet)> = objects(ObjectType::Core)
        .map(|core| (os_index(core), cpus_of(core)))
        .collect();
    if parts.is_empty() {
        // A description without cores: each PU is one.
        parts = objects(ObjectType::PU)
            .map(|pu| (None, cpus_of(pu)))
            .collect();
    }
    let mut in_package: HashMap<Option<usize>, u32> = HashMap::new();
    let cores: Vec<Core> = parts
        .into_iter()
        .map(|(given, cpus)| {
            let first = cpus.iter().next();
            let package = first.and_then(|cpu| package_of.get(&cpu).copied());
            let ordinal = in_package.entry(package).or_default();
            let os_index = given.filter(|_| !numbering.linux_cores).unwrap_or(*ordinal);
            *ordinal += 1;
            Core {
                os_index,
                package,
                kind: first
                    .and_then(|cpu| kinds.get(&cpu).copied())
                    .unwrap_or(CoreKind::Uniform),
                cpus,
            }
        })
        .collect();
    let core_of = owners(cores.iter().map(|c| &c.cpus));

    let allowed = topology.allowed_cpuset();
    let mut pus: Vec<Pu> = Vec::new();
    let mut seen = CpuSet::new();
    for object in objects(ObjectType::PU) {
        let given = object.os_index().ok_or("one of its PUs has no number")?;
        let cpu = rename(given);
        if cpu > MAX_CPU || seen.contains(cpu) {
            return Err(format!("the number of CPU {cpu} is used twice"));
        }
        seen.insert(cpu);
        let core = core_of.get(&cpu).copied();
        pus.push(Pu {
            os_index: cpu,
            core,
            package: package_of.get(&cpu).copied(),
            numa_node: node_of.get(&cpu).copied(),
            l3_domain: l3_of.get(&cpu).copied(),
            thread: core.map_or(0, |core| {
                cores[core].cpus.iter().take_while(|&c| c < cpu).count()
            }),
            online: true,
            allowed: allowed.is_set(
                hwlocality::bitmap::BitmapIndex::try_from(given)
                    .map_err(|_| format!("CPU number {given} is too large"))?,
            ),
        });
    }
    // Numbers that the source knows without saying where they are: they were offline or disallowed
    // when it was recorded.
    for cpu in everything.iter_set().map(|cpu| rename(cpu.into())) {
        if !seen.contains(cpu) {
            pus.push(unplaced(cpu));
        }
    }

    let mut machine = Machine {
        source,
        cpu_model: cpu_model(topology),
        counts: Counts::default(),
        packages,
        numa_nodes,
        l3_domains,
        cores,
        pus,
        kernel: None,
        limits: None,
    };
    machine.counts = count(&machine);
    Ok(machine)
}

/// A CPU of which only the number is known.
pub(crate) fn unplaced(cpu: u32) -> Pu {
    Pu {
        os_index: cpu,
        core: None,
        package: None,
        numa_node: None,
        l3_domain: None,
        thread: 0,
        online: false,
        allowed: false,
    }
}

/// How many there are of each part.
pub(crate) fn count(machine: &Machine) -> Counts {
    Counts {
        packages: machine.packages.len(),
        numa_nodes: machine.numa_nodes.len(),
        l3_domains: machine.l3_domains.len(),
        cores: machine.cores.len(),
        pus: machine.pus.len(),
        online: machine.pus.iter().filter(|pu| pu.online).count(),
        allowed: machine
            .pus
            .iter()
            .filter(|pu| pu.online && pu.allowed)
            .count(),
        threads_per_core: machine
            .cores
            .iter()
            .map(|core| core.cpus.len())
            .max()
            .unwrap_or(0),
    }
}

/// Which part each CPU belongs to; a CPU in several belongs to the first.
pub(crate) fn owners<'a>(parts: impl Iterator<Item = &'a CpuSet>) -> HashMap<u32, usize> {
    let mut owners = HashMap::new();
    for (index, cpus) in parts.enumerate() {
        for cpu in cpus.iter() {
            owners.entry(cpu).or_insert(index);
        }
    }
    owners
}

fn os_index(object: &TopologyObject) -> Option<u32> {
    object.os_index().and_then(|os| u32::try_from(os).ok())
}

/// hardware thread × number of cores + core, over cores in hwloc's order.
fn linux_cpu_numbers(topology: &Topology) -> HashMap<usize, u32> {
    let cores: Vec<_> = topology.objects_with_type(ObjectType::Core).collect();
    let mut numbers = HashMap::new();
    for (core, object) in cores.iter().enumerate() {
        for (thread, cpu) in object
            .cpuset()
            .iter()
            .flat_map(|s| s.iter_set())
            .enumerate()
        {
            numbers.insert(cpu.into(), (thread * cores.len() + core) as u32);
        }
    }
    numbers
}

/// hwloc gives a node the CPUs of the place where it hangs, so nodes side by side (main memory
/// and high-bandwidth memory of one package, say) share them. In Linux a CPU is on one node: here
/// on the one with the fewest CPUs, then the lowest number; a node left without any is
/// memory-only.
fn numa_nodes(topology: &Topology, cpus_of: &impl Fn(&TopologyObject) -> CpuSet) -> Vec<NumaNode> {
    let objects: Vec<_> = topology.objects_with_type(ObjectType::NUMANode).collect();
    let local: Vec<CpuSet> = objects.iter().map(|object| cpus_of(object)).collect();
    let mut order: Vec<usize> = (0..objects.len()).collect();
    order.sort_by_key(|&node| (local[node].len(), objects[node].os_index()));
    let mut cpus = vec![CpuSet::new(); objects.len()];
    let mut taken = CpuSet::new();
    for node in order {
        cpus[node] = local[node].difference(&taken);
        taken.extend(local[node].iter());
    }
    let distances = distances(topology, &objects);
    objects
        .iter()
        .zip(cpus)
        .enumerate()
        .map(|(index, (object, cpus))| NumaNode {
            os_index: os_index(object).unwrap_or(index as u32),
            memory_bytes: match object.attributes() {
                Some(ObjectAttributes::NUMANode(node)) => node.local_memory().map_or(0, u64::from),
                _ => 0,
            },
            cpus,
            distances: distances.get(index).cloned().unwrap_or_default(),
        })
        .collect()
}

/// The first latency matrix that covers all nodes, row by row in the order of `nodes`; empty when
/// there is none.
fn distances(topology: &Topology, nodes: &[&TopologyObject]) -> Vec<Vec<u64>> {
    let matrices = topology
        .distances_with_type(Some(DistancesKind::MEANS_LATENCY), ObjectType::NUMANode)
        .unwrap_or_default();
    for matrix in &matrices {
        let columns: HashMap<u64, usize> = matrix
            .objects()
            .enumerate()
            .filter_map(|(column, object)| Some((object?.global_persistent_index(), column)))
            .collect();
        let Some(columns) = nodes
            .iter()
            .map(|node| columns.get(&node.global_persistent_index()).copied())
            .collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let (values, width) = (matrix.distances(), matrix.num_objects());
        return columns
            .iter()
            .map(|&row| columns.iter().map(|&c| values[row * width + c]).collect())
            .collect();
    }
    Vec::new()
}

/// The kind of each CPU's core, on machines with several kinds: the most powerful one that hwloc
/// ranks is for performance, the others for efficiency. Unranked kinds are not told apart.
fn core_kinds(topology: &Topology, rename: &impl Fn(usize) -> u32) -> HashMap<u32, CoreKind> {
    let Ok(kinds) = topology.cpu_kinds() else {
        return HashMap::new();
    };
    let kinds: Vec<_> = kinds.collect();
    let Some(best) = kinds.iter().map(|kind| kind.efficiency).max().flatten() else {
        return HashMap::new();
    };
    if kinds.len() < 2 {
        return HashMap::new();
    }
    let cpus = |set: &HwlocSet| -> Vec<u32> {
        if set.weight().is_none() {
            return Vec::new();
        }
        set.iter_set().map(|cpu| rename(cpu.into())).collect()
    };
    kinds
        .iter()
        .flat_map(|kind| {
            let is = match kind.efficiency {
                Some(rank) if rank == best => CoreKind::Performance,
                Some(_) => CoreKind::Efficiency,
                None => CoreKind::Uniform,
            };
            cpus(&kind.cpuset).into_iter().map(move |cpu| (cpu, is))
        })
        .collect()
}

/// The CPU's marketing name, where hwloc has it: on a package, or on the whole.
fn cpu_model(topology: &Topology) -> Option<String> {
    topology
        .objects_with_type(ObjectType::Package)
        .chain([topology.root_object()])
        .find_map(|object| object.info("CPUModel"))
        .map(|name| name.to_string_lossy().trim().to_owned())
        .filter(|name| !name.is_empty())
}
