use plimsoll_schema::{BindType, CpuSet, Machine, Reach, ThreadType};

use crate::order::order;
use crate::view::erts_view;

/// CPUs with higher numbers do not fit the VM's affinity mask (glibc's `CPU_SETSIZE`).
const VM_MASK_BITS: u32 = 1024;

/// Dirty IO schedulers that a VM starts unless told otherwise.
const DIRTY_IO: usize = 10;

/// The CPU of scheduler 1, 2, …, `schedulers`; `None` where a scheduler stays unbound.
///
/// CPUs outside `cpuset`, the VM's affinity mask, are skipped; when they run out, the remaining
/// schedulers stay unbound. Under `u`, and where the VM sees no topology, all do.
///
/// Source: `write_schedulers_bind_change` in `erts/emulator/beam/erl_cpu_topology.c`.
pub fn bindings(
    machine: &Machine,
    bind: BindType,
    schedulers: usize,
    cpuset: &CpuSet,
) -> Vec<Option<u32>> {
    order(machine, bind)
        .unwrap_or_default()
        .into_iter()
        .filter(|&cpu| cpu < VM_MASK_BITS && cpuset.contains(cpu))
        .map(Some)
        .chain(std::iter::repeat(None))
        .take(schedulers)
        .collect()
}

/// How many normal schedulers a VM without `+S` puts online: the online CPUs in `cpuset`, or the
/// cgroup quota in whole CPUs (rounded down, at least 1) when that is less.
///
/// The VM also starts schedulers that it leaves offline, one for each CPU of the machine; these do
/// no work and come after the others in the order, so they do not change where the others sit.
///
/// Source: `read_cpu_quota` in `erts/lib_src/common/erl_misc_utils.c` and `early_init` in
/// `erts/emulator/beam/erl_init.c`.
pub fn default_schedulers(machine: &Machine, cpuset: &CpuSet) -> usize {
    let usable = machine
        .pus
        .iter()
        .filter(|pu| pu.online && cpuset.contains(pu.os_index))
        .count();
    usable.min(whole_quota(machine).unwrap_or(usable)).max(1)
}

/// The cgroup quota as the VM rounds it, in CPUs.
pub(crate) fn whole_quota(machine: &Machine) -> Option<usize> {
    let quota = machine.limits.as_ref()?.quota_cpus?;
    // A cast from a float saturates; a quota that is not a number becomes 1.
    Some((quota.floor() as usize).max(1))
}

/// Which threads a VM with `schedulers` normal schedulers starts (counts as in OTP 25, without other
/// flags), and whether `+sbt` places them on this machine.
pub fn reach(machine: &Machine, schedulers: usize) -> Vec<Reach> {
    let sees_topology = erts_view(machine).is_some();
    // One for each CPU, offline ones included, but never more than normal schedulers.
    let dirty_cpu = schedulers.min(machine.pus.len());
    [
        (ThreadType::Scheduler, Some(schedulers), sees_topology),
        (ThreadType::DirtyCpu, Some(dirty_cpu), false),
        (ThreadType::DirtyIo, Some(DIRTY_IO), false),
        (ThreadType::Aux, Some(1), false),
        (ThreadType::Poll, Some(1), false),
        (ThreadType::Async, Some(1), false),
        (ThreadType::Other, None, false),
    ]
    .map(|(threads, count, bound)| Reach {
        threads,
        count,
        bound,
    })
    .into()
}
