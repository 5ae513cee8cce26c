use plimsoll_schema::{Machine, MachineSource, Pu};

/// One CPU as the VM sees it: the tuple `{cpu, Node, Processor, ProcessorNode, Core, Thread,
/// Logical}` of `erlang:system_info(cpu_topology)`. −1 = the level is absent.
///
/// The derived order (node first, CPU number last) is the one in which the VM numbers threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErtsCpu {
    /// NUMA node that holds whole packages; −1 without NUMA information or when the package spans
    /// several nodes.
    pub node: i32,
    /// Package (socket).
    pub processor: i32,
    /// NUMA node inside a package that spans several; −1 otherwise.
    pub processor_node: i32,
    /// The kernel's `core_id`.
    pub core: i32,
    /// Which thread of its core, from 0 in the order of CPU numbers.
    pub thread: i32,
    /// The kernel's CPU number.
    pub logical: i32,
}

/// The machine as a VM on Linux reads it, in the VM's own order; `None` = it sees no topology.
///
/// Offline CPUs have no topology in sysfs, so they are not in the view. When the kernel lists NUMA
/// nodes the VM looks for CPUs in them only; if it misses an online CPU, it gives up. A recorded
/// description may lack the nodes that its process was not allowed to use: there, the CPUs of a
/// package without nodes count as a node of their own.
///
/// Source: `read_topology` and `adjust_processor_nodes` in
/// `erts/lib_src/common/erl_misc_utils.c`.
pub fn erts_view(machine: &Machine) -> Option<Vec<ErtsCpu>> {
    let mut cpus = machine
        .pus
        .iter()
        .filter(|pu| pu.online)
        .map(|pu| read(machine, pu))
        .collect::<Option<Vec<_>>>()?;
    if cpus.is_empty() {
        return None;
    }
    nest_nodes_in_split_packages(&mut cpus);
    number_threads(&mut cpus);
    Some(cpus)
}

/// Where the numbers of nodes begin that a description leaves out: above every kernel's
/// (`CONFIG_NODES_SHIFT` is at most 10), within what `+sct` accepts.
const UNNAMED_NODES: i32 = 1 << 14;

/// What sysfs says of one online CPU; `None` when it is in no node of a live machine that has
/// nodes.
fn read(machine: &Machine, pu: &Pu) -> Option<ErtsCpu> {
    let core = pu.core.and_then(|index| machine.cores.get(index));
    // A description may leave packages or cores out; Linux never does: it then has one package,
    // and each CPU is a core of its own.
    let package = pu
        .package
        .or_else(|| core.and_then(|core| core.package))
        .and_then(|index| machine.packages.get(index));
    let processor = package.map_or(0, |package| id(package.os_index));
    let node = match pu.numa_node.and_then(|index| machine.numa_nodes.get(index)) {
        Some(node) => id(node.os_index),
        None if machine.numa_nodes.is_empty() => -1,
        None if machine.source == MachineSource::Live => return None,
        None => UNNAMED_NODES.saturating_add(processor),
    };
    Some(ErtsCpu {
        node,
        processor,
        processor_node: -1,
        core: id(core.map_or(pu.os_index, |core| core.os_index)),
        thread: 0,
        logical: id(pu.os_index),
    })
}

fn id(os_index: u32) -> i32 {
    i32::try_from(os_index).unwrap_or(i32::MAX)
}

/// A package with CPUs in several nodes contains its nodes; any other lies inside its node.
fn nest_nodes_in_split_packages(cpus: &mut [ErtsCpu]) {
    cpus.sort_by_key(|cpu| (cpu.processor, cpu.node));
    for package in cpus.chunk_by_mut(|a, b| a.processor == b.processor) {
        let first = package[0].node;
        if package.iter().any(|cpu| cpu.node != first) {
            for cpu in package {
                cpu.processor_node = std::mem::replace(&mut cpu.node, -1);
            }
        }
    }
}

/// Threads are numbered by what the VM takes for a core, which is not always one: where a package
/// repeats a `core_id`, the VM sees one core with more threads, and so do we.
pub(crate) fn number_threads(cpus: &mut [ErtsCpu]) {
    cpus.sort_unstable();
    let core = |cpu: &ErtsCpu| (cpu.node, cpu.processor, cpu.processor_node, cpu.core);
    for siblings in cpus.chunk_by_mut(|a, b| core(a) == core(b)) {
        for (thread, cpu) in (0..).zip(siblings) {
            cpu.thread = thread;
        }
    }
}
