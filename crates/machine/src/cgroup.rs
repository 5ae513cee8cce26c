//! What the container leaves: affinity, CPU quotas and cpusets of every group from ours up.

mod mounts;

use std::path::PathBuf;

use mounts::{Membership, Mount, memberships, mounts};
use plimsoll_schema::{CgroupLimit, CgroupVersion, CpuSet, Limits};

use crate::Root;

/// What is left of the machine for this process, read from `/proc` and the cgroup file systems
/// under `root`; `online` are the machine's online CPUs.
///
/// Every group from ours up to the root that is mounted here counts, in the unified hierarchy (v2)
/// and in the hierarchies of the cpu and cpuset controllers (v1), because the kernel enforces all
/// of them. Groups above what a container's mounts show cannot be seen from inside; their cpusets
/// still show in ours and in the affinity, their quotas do not.
pub fn limits(root: &Root, online: &CpuSet) -> Limits {
    let mounts = mounts(root);
    let ours = memberships(root);
    let mut groups = Vec::new();
    for membership in &ours {
        // One hierarchy can be mounted several times; the mount that shows most of our line is used.
        let chain = mounts
            .iter()
            .filter(|mount| mount.shows(membership))
            .filter_map(|mount| chain(root, mount, membership))
            .max_by_key(Vec::len)
            .unwrap_or_default();
        for group in chain {
            let limit = match membership.version {
                CgroupVersion::V1 => v1(root, &group, membership),
                CgroupVersion::V2 => v2(root, &group),
            };
            if limit.quota_cpus.is_some() || limit.cpuset.is_some() {
                groups.push(limit);
            }
        }
    }
    let affinity = affinity(root).unwrap_or_else(|| online.clone());
    Limits {
        affinity: affinity.intersection(online),
        quota_cpus: groups
            .iter()
            .filter_map(|group| group.quota_cpus)
            .min_by(f64::total_cmp),
        cpuset: groups
            .iter()
            .filter_map(|group| group.cpuset.clone())
            .reduce(|all, set| all.intersection(&set)),
        groups,
        quota_seen_by_old_vm: quota_seen_by_old_vm(root, &mounts, &ours, online.len()),
    }
}

/// The affinity mask of the process's main thread. The kernel keeps CPUs in it that do not exist.
fn affinity(root: &Root) -> Option<CpuSet> {
    root.read("/proc/self/status")?
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?
        .trim()
        .parse()
        .ok()
}

/// A group: its folder in the file system and its path inside the hierarchy.
struct Group {
    folder: PathBuf,
    path: String,
}

/// Our group and those above it as far as `mount` shows them, innermost first; `None` when the
/// mount does not show our line at all.
fn chain(root: &Root, mount: &Mount, membership: &Membership) -> Option<Vec<Group>> {
    let mut below = mount.path_below(root, &membership.path)?;
    let mut groups = Vec::new();
    loop {
        let inside: PathBuf = mount.root.components().chain(below.components()).collect();
        groups.push(Group {
            folder: mount.point.join(&below),
            path: inside.display().to_string(),
        });
        if !below.pop() {
            return Some(groups);
        }
    }
}

fn v1(root: &Root, group: &Group, membership: &Membership) -> CgroupLimit {
    let number = |name: &str| root.parse::<i64>(group.folder.join(name));
    let quota_cpus = if membership.has("cpu") {
        quota(number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"))
    } else {
        None
    };
    let cpuset = if membership.has("cpuset") {
        cpuset(root, group, "cpuset.effective_cpus")
    } else {
        None
    };
    CgroupLimit {
        path: group.path.clone(),
        version: CgroupVersion::V1,
        quota_cpus,
        cpuset,
    }
}

fn v2(root: &Root, group: &Group) -> CgroupLimit {
    CgroupLimit {
        path: group.path.clone(),
        version: CgroupVersion::V2,
        quota_cpus: root
            .read(group.folder.join("cpu.max"))
            .and_then(|text| cpu_max(&text)),
        cpuset: cpuset(root, group, "cpuset.cpus.effective"),
    }
}

/// `cpu.max`: quota (or `max`) and period in microseconds; the period is 100 000 when left out.
fn cpu_max(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let quota_us = words.next()?.parse().ok();
    let period = words.next().map_or(Some(100_000), |word| word.parse().ok());
    quota(quota_us, period)
}

/// quota ÷ period, both in microseconds; a quota that is not positive is none.
fn quota(quota: Option<i64>, period: Option<i64>) -> Option<f64> {
    match (quota?, period?) {
        (quota, period) if quota > 0 && period > 0 => Some(quota as f64 / period as f64),
        _ => None,
    }
}

/// The CPUs that a group really has, or else those that it asks for; an empty list says nothing.
fn cpuset(root: &Root, group: &Group, effective: &str) -> Option<CpuSet> {
    [effective, "cpuset.cpus"]
        .iter()
        .filter_map(|name| root.parse::<CpuSet>(group.folder.join(name)))
        .find(|set| !set.is_empty())
}

/// What OTP 25.2 reads (`read_cpu_quota` in erts/lib_src/common/erl_misc_utils.c): the first mount
/// in the order of mountinfo that has the cpu controller; for v2 its root only, for v1 our group
/// only; whole CPUs, rounded down, at least 1, at most the online ones. Later patch releases of 25
/// and 26 read nested v2 groups too.
///
/// It skips mounts whose mountinfo line has no optional field (such as `shared:7`), because its
/// `scanf` pattern wants at least one character there. Checked on a running VM: with a v1 quota of
/// one CPU `erlang:system_info(cpu_quota)` is `unknown` under a private mount, 1 under a shared one.
fn quota_seen_by_old_vm(
    root: &Root,
    mounts: &[Mount],
    ours: &[Membership],
    online: usize,
) -> Option<u32> {
    let (quota, period) = mounts
        .iter()
        .filter(|mount| mount.old_vm_parses_it)
        .find_map(|mount| match mount.version {
            CgroupVersion::V2 => {
                let controllers = root.read(mount.point.join("cgroup.controllers"))?;
                // At the end of the line the VM does not know the word: it takes the newline for a
                // part of it (`csv_contains`).
                let names: Vec<_> = controllers.split_whitespace().collect();
                if !names.iter().rev().skip(1).any(|&name| name == "cpu") {
                    return None;
                }
                let text = root.read(mount.point.join("cpu.max")).unwrap_or_default();
                let mut words = text.split_whitespace().map(|word| word.parse::<i64>().ok());
                Some((words.next().flatten(), words.next().flatten()))
            }
            CgroupVersion::V1 => {
                if !mount.options.iter().any(|option| option == "cpu") {
                    return None;
                }
                let base = &ours.iter().find(|m| m.has("cpu"))?.path;
                let folder = if *base == mount.root {
                    mount.point.clone()
                } else {
                    mount.point.join(base.strip_prefix("/").unwrap_or(base))
                };
                Some((
                    root.parse(folder.join("cpu.cfs_quota_us")),
                    root.parse(folder.join("cpu.cfs_period_us")),
                ))
            }
        })?;
    match (quota?, period?) {
        (quota, period) if quota > 0 && period > 0 => {
            let whole = usize::try_from(quota / period).unwrap_or(usize::MAX).max(1);
            u32::try_from(whole.min(online.max(1))).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
