use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CpuSet;

/// What a machine is: its parts, the kernel's settings and the limits that a container puts on it.
///
/// Vectors are ordered by logical position (hwloc's order: parts that are near each other are near
/// in the vector), identified by index; `os_index` is the kernel's own number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Where the description comes from.
    pub source: MachineSource,
    /// The CPU's marketing name, where the source has it.
    pub cpu_model: Option<String>,
    /// How many there are of each part.
    pub counts: Counts,
    /// Sockets.
    pub packages: Vec<Package>,
    /// NUMA nodes: empty when the source says nothing about NUMA.
    pub numa_nodes: Vec<NumaNode>,
    /// Groups of CPUs that share a last-level (L3) cache: the chiplets of a chiplet machine.
    pub l3_domains: Vec<L3Domain>,
    /// Physical cores.
    pub cores: Vec<Core>,
    /// Processing units: what Linux calls a CPU. Offline and disallowed ones are included.
    pub pus: Vec<Pu>,
    /// The kernel's settings; `None` for a machine that we are not on.
    pub kernel: Option<KernelSettings>,
    /// What container and affinity leave of the machine; `None` for a machine that we are not on.
    pub limits: Option<Limits>,
}

/// Where a machine description comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MachineSource {
    /// The machine that the program runs on.
    Live,
    /// An hwloc XML file.
    Xml {
        /// The file's name as given.
        file: String,
    },
    /// An hwloc synthetic description.
    Synthetic {
        /// The description as given.
        spec: String,
    },
}

/// How many there are of each part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Packages (sockets).
    pub packages: usize,
    /// NUMA nodes, those without CPUs or without memory included.
    pub numa_nodes: usize,
    /// L3 domains.
    pub l3_domains: usize,
    /// Physical cores.
    pub cores: usize,
    /// Processing units, offline ones included.
    pub pus: usize,
    /// Processing units that are online.
    pub online: usize,
    /// Processing units that are online and that this process may use.
    pub allowed: usize,
    /// The largest number of hardware threads on one core.
    pub threads_per_core: usize,
}

/// One package (socket).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Package {
    /// The kernel's `physical_package_id`.
    pub os_index: u32,
    /// Its PUs.
    pub cpus: CpuSet,
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumaNode {
    /// The kernel's node number.
    pub os_index: u32,
    /// Local memory in bytes; 0 for a node without memory.
    pub memory_bytes: u64,
    /// Its PUs; empty for a memory-only node.
    pub cpus: CpuSet,
    /// Relative memory latency to each node, in the order of `numa_nodes` (10 = local); empty when
    /// the source does not say.
    pub distances: Vec<u64>,
}

/// One group of CPUs that share an L3 cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct L3Domain {
    /// The cache's size in bytes; 0 when the source does not say.
    pub size_bytes: u64,
    /// Its PUs.
    pub cpus: CpuSet,
}

/// What a core is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoreKind {
    /// All cores are alike, or the source does not tell them apart.
    Uniform,
    /// The faster kind of a hybrid machine.
    Performance,
    /// A slower kind of a hybrid machine.
    Efficiency,
}

/// One physical core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Core {
    /// The kernel's `core_id`: unique within a package only.
    pub os_index: u32,
    /// Index into `packages`; `None` when the source has no packages.
    pub package: Option<usize>,
    /// What it is made for.
    pub kind: CoreKind,
    /// Its PUs.
    pub cpus: CpuSet,
}

/// One processing unit: a hardware thread, what Linux calls a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pu {
    /// The kernel's CPU number.
    pub os_index: u32,
    /// Index into `cores`; `None` for an offline PU whose core is unknown.
    pub core: Option<usize>,
    /// Index into `packages`.
    pub package: Option<usize>,
    /// Index into `numa_nodes`: the nearest node that has these CPUs.
    pub numa_node: Option<usize>,
    /// Index into `l3_domains`.
    pub l3_domain: Option<usize>,
    /// Which hardware thread of its core this is, from 0.
    pub thread: usize,
    /// Whether the kernel has it online.
    pub online: bool,
    /// Whether this process may use it (cpuset and affinity).
    pub allowed: bool,
}

/// Settings of the running kernel that change how threads and pages move. `None` = not available here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSettings {
    /// Kernel release, as `uname -r`.
    pub release: Option<String>,
    /// CPU frequency governors in use, each once.
    pub governors: Option<Vec<String>>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Automatic NUMA balancing (`kernel.numa_balancing`): 0 is off.
    pub numa_balancing: Option<u32>,
    /// SMT control: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt_control: Option<String>,
    /// Time taken by the hypervisor since boot.
    pub steal: Option<StealShare>,
}

/// Time that a hypervisor gave to others while a CPU here wanted to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StealShare {
    /// Stolen time divided by all time since boot, 0 to 1.
    pub since_boot: f64,
}

/// Which cgroup hierarchy a limit was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CgroupVersion {
    /// The per-controller hierarchies.
    V1,
    /// The unified hierarchy.
    V2,
}

/// One cgroup on the way from this process's group up to the root that limits its CPUs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupLimit {
    /// The group's path inside the hierarchy.
    pub path: String,
    /// Which hierarchy.
    pub version: CgroupVersion,
    /// CPU quota in CPUs (quota ÷ period); `None` = no quota in this group.
    pub quota_cpus: Option<f64>,
    /// CPUs that this group may use; `None` = the group does not say.
    pub cpuset: Option<CpuSet>,
}

/// What is left of the machine for this process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// The affinity mask of this process.
    pub affinity: CpuSet,
    /// The smallest quota of all groups from ours to the root, in CPUs; `None` = no quota.
    pub quota_cpus: Option<f64>,
    /// CPUs allowed by every cpuset from ours to the root; `None` = no cpuset controller.
    pub cpuset: Option<CpuSet>,
    /// The groups that set any of this, innermost first.
    pub groups: Vec<CgroupLimit>,
    /// The quota that this VM release would see, in whole CPUs: older ones read only the mount
    /// root, so a nested quota is invisible to them. `None` = it would see none.
    pub quota_seen_by_old_vm: Option<u32>,
}
