use hwlocality::topology::Topology;
use plimsoll_schema::{CpuSet, Machine, MachineSource};

use crate::topology::{Numbering, count, describe, flags, unplaced};
use crate::{MachineError, Root, cgroup, kernel};

/// Describes the machine that this process runs on: hardware through hwloc, the kernel's settings
/// and the container's limits from `/sys` and `/proc`.
///
/// Offline CPUs are included, on no core (the kernel forgets where they were).
///
/// # Errors
/// hwloc cannot read the machine, or its environment variables point it at another one.
pub fn live() -> Result<Machine, MachineError> {
    let failed = |why: String| MachineError::Live { why };
    let topology = Topology::builder()
        .with_flags(flags())
        .map_err(|error| failed(error.to_string()))?
        .build()
        .map_err(|error| failed(error.to_string()))?;
    if !topology.is_this_system() {
        return Err(MachineError::NotThisMachine);
    }
    let machine = describe(&topology, MachineSource::Live, Numbering::AS_GIVEN).map_err(failed)?;
    Ok(with_kernel_view(machine, &Root::default()))
}

/// Adds to the hardware what the kernel under `root` says: who is online and allowed, which node
/// has which CPUs, settings and limits.
fn with_kernel_view(mut machine: Machine, root: &Root) -> Machine {
    const CPUS: &str = "/sys/devices/system/cpu";
    let list = |name: &str| -> Option<CpuSet> { root.parse(format!("{CPUS}/{name}")) };

    // `possible` counts empty sockets and hot-plug slots too, often hundreds: not parts of the
    // machine, unless the kernel says nothing else.
    let present = list("present").or_else(|| list("possible"));
    for cpu in present.iter().flat_map(CpuSet::iter) {
        if !machine.pus.iter().any(|pu| pu.os_index == cpu) {
            machine.pus.push(unplaced(cpu));
        }
    }
    let (online, offline) = (list("online"), list("offline").unwrap_or_default());
    for pu in &mut machine.pus {
        pu.online = match &online {
            Some(online) => online.contains(pu.os_index),
            None => pu.core.is_some() && !offline.contains(pu.os_index),
        };
    }

    numa_as_the_kernel_says(&mut machine, root);

    let online: CpuSet = machine
        .pus
        .iter()
        .filter(|pu| pu.online)
        .map(|pu| pu.os_index)
        .collect();
    let limits = cgroup::limits(root, &online);
    for pu in &mut machine.pus {
        pu.allowed = limits.affinity.contains(pu.os_index)
            && limits
                .cpuset
                .as_ref()
                .is_none_or(|set| set.contains(pu.os_index));
    }
    machine.limits = Some(limits);
    machine.kernel = Some(kernel::settings(root));
    if machine.cpu_model.is_none() {
        machine.cpu_model = root.read("/proc/cpuinfo").and_then(|text| cpu_model(&text));
    }
    machine.counts = count(&machine);
    machine
}

/// hwloc gives a node the CPUs of the place where it hangs, and every machine a node; the kernel
/// knows which CPUs really are on it, and whether there are nodes at all.
fn numa_as_the_kernel_says(machine: &mut Machine, root: &Root) {
    const NODES: &str = "/sys/devices/system/node";
    if !root.is_dir(format!("{NODES}/node0")) && root.read(format!("{NODES}/online")).is_none() {
        machine.numa_nodes.clear();
    }
    for node in &mut machine.numa_nodes {
        if let Some(cpus) = root.parse(format!("{NODES}/node{}/cpulist", node.os_index)) {
            node.cpus = cpus;
        }
    }
    let node_of = crate::topology::owners(machine.numa_nodes.iter().map(|node| &node.cpus));
    for pu in &mut machine.pus {
        pu.numa_node = node_of.get(&pu.os_index).copied();
    }
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::at(dir.path());
        (dir, root)
    }

    #[test]
    fn offline_and_disallowed_cpus_are_listed_as_such() {
        let machine = crate::from_synthetic("pack:1 core:4 pu:1").unwrap();
        let (_dir, root) = tree(&[
            ("sys/devices/system/cpu/possible", "0-239\n"),
            ("sys/devices/system/cpu/present", "0-5\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/offline", "4-239\n"),
            ("proc/self/status", "Cpus_allowed_list:\t1-2\n"),
        ]);
        let machine = with_kernel_view(machine, &root);
        let counts = &machine.counts;
        assert_eq!((counts.pus, counts.online, counts.allowed), (6, 4, 2));
        let last = machine.pus.last().unwrap();
        assert_eq!((last.os_index, last.core, last.online), (5, None, false));
        let allowed: CpuSet = machine
            .pus
            .iter()
            .filter(|pu| pu.allowed)
            .map(|pu| pu.os_index)
            .collect();
        assert_eq!(allowed.to_string(), "1-2");
    }

    #[test]
    fn without_sys_every_cpu_is_online_and_there_are_no_nodes() {
        let machine = crate::from_synthetic("pack:1 [numa] core:4 pu:1").unwrap();
        let (_dir, root) = tree(&[]);
        let machine = with_kernel_view(machine, &root);
        assert_eq!((machine.counts.online, machine.counts.allowed), (4, 4));
        assert_eq!(machine.counts.numa_nodes, 0);
        assert!(machine.pus.iter().all(|pu| pu.numa_node.is_none()));
    }

    #[test]
    fn the_kernel_decides_which_node_has_the_cpus() {
        let machine = crate::from_synthetic("pack:1 [numa] [numa] core:4 pu:1").unwrap();
        let (_dir, root) = tree(&[
            ("sys/devices/system/node/node0/cpulist", "\n"),
            ("sys/devices/system/node/node1/cpulist", "0-3\n"),
        ]);
        let machine = with_kernel_view(machine, &root);
        assert!(machine.numa_nodes[0].cpus.is_empty());
        assert!(machine.pus.iter().all(|pu| pu.numa_node == Some(1)));
    }
}
