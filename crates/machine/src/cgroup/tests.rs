use super::*;

/// A tree of files in a temporary folder.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path.strip_prefix('/').unwrap());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(dir)
    }

    fn limits(&self) -> Limits {
        let online = "0-15".parse().unwrap();
        limits(&Root::at(self.0.path()), &online)
    }
}

fn set(text: &str) -> CpuSet {
    text.parse().unwrap()
}

const V2: &str = "30 20 0:27 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const V1_CPU: &str =
    "31 20 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n";

#[test]
fn without_cgroups_affinity_is_the_only_limit() {
    let tree = Tree::new(&[("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t2-200\n")]);
    assert_eq!(
        tree.limits(),
        Limits {
            affinity: set("2-15"),
            ..Limits::default()
        }
    );
}

#[test]
fn without_proc_every_online_cpu_is_left() {
    assert_eq!(Tree::new(&[]).limits().affinity, set("0-15"));
}

#[test]
fn the_smallest_quota_of_nested_v2_groups_wins() {
    let tree = Tree::new(&[
        ("/proc/self/cgroup", "0::/a.slice/b.scope/c\n"),
        ("/proc/self/mountinfo", V2),
        (
            "/sys/fs/cgroup/cgroup.controllers",
            "cpuset cpu io memory\n",
        ),
        ("/sys/fs/cgroup/cpuset.cpus.effective", "0-15\n"),
        ("/sys/fs/cgroup/a.slice/cpu.max", "250000 100000\n"),
        ("/sys/fs/cgroup/a.slice/cpuset.cpus.effective", "0-7\n"),
        ("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n"),
        (
            "/sys/fs/cgroup/a.slice/b.scope/c/cpu.max",
            "800000 100000\n",
        ),
        (
            "/sys/fs/cgroup/a.slice/b.scope/c/cpuset.cpus.effective",
            "4-7\n",
        ),
        ("/sys/fs/cgroup/other/cpu.max", "1000 100000\n"),
    ]);
    let limits = tree.limits();
    assert_eq!(limits.quota_cpus, Some(2.5));
    assert_eq!(limits.cpuset, Some(set("4-7")));
    let seen: Vec<_> = limits
        .groups
        .iter()
        .map(|group| (group.path.as_str(), group.quota_cpus))
        .collect();
    assert_eq!(
        seen,
        [
            ("/a.slice/b.scope/c", Some(8.0)),
            ("/a.slice", Some(2.5)),
            ("/", None)
        ],
        "innermost first, without the group that sets nothing"
    );
    assert_eq!(limits.quota_seen_by_old_vm, None, "it reads the root only");
}

#[test]
fn in_a_v2_container_the_mount_root_is_our_group_and_the_old_vm_sees_it() {
    let tree = Tree::new(&[
        ("/proc/self/cgroup", "0::/\n"),
        ("/proc/self/mountinfo", V2),
        ("/sys/fs/cgroup/cgroup.controllers", "cpu io\n"),
        ("/sys/fs/cgroup/cpu.max", "350000 100000\n"),
    ]);
    let limits = tree.limits();
    assert_eq!(limits.quota_cpus, Some(3.5));
    assert_eq!(limits.quota_seen_by_old_vm, Some(3), "rounded down");
}

#[test]
fn the_old_vm_sees_at_least_one_cpu_and_at_most_those_online() {
    for (max, seen) in [("1000 100000", 1), ("9900000 100000", 16)] {
        let tree = Tree::new(&[
            ("/proc/self/cgroup", "0::/\n"),
            ("/proc/self/mountinfo", V2),
            ("/sys/fs/cgroup/cgroup.controllers", "cpu io\n"),
            ("/sys/fs/cgroup/cpu.max", max),
        ]);
        assert_eq!(tree.limits().quota_seen_by_old_vm, Some(seen), "{max}");
    }
}

#[test]
fn the_old_vm_skips_a_mount_without_optional_fields() {
    let tree = Tree::new(&[
        ("/proc/self/cgroup", "0::/\n"),
        ("/proc/self/mountinfo", &V2.replace(" shared:4", "")),
        ("/sys/fs/cgroup/cgroup.controllers", "cpu io\n"),
        ("/sys/fs/cgroup/cpu.max", "200000 100000\n"),
    ]);
    let limits = tree.limits();
    assert_eq!(
        (limits.quota_cpus, limits.quota_seen_by_old_vm),
        (Some(2.0), None)
    );
}

#[test]
fn nested_v1_quotas_count_in_a_co_mounted_hierarchy() {
    let tree = Tree::new(&[
        (
            "/proc/self/cgroup",
            "4:cpu,cpuacct:/outer/inner\n3:cpuset:/sets\n2:memory:/m\n",
        ),
        (
            "/proc/self/mountinfo",
            &format!(
                "{V1_CPU}32 20 0:29 / /sys/fs/cgroup/cpuset rw shared:10 - cgroup cgroup rw,cpuset\n"
            ),
        ),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        (
            "/sys/fs/cgroup/cpu,cpuacct/outer/cpu.cfs_quota_us",
            "50000\n",
        ),
        (
            "/sys/fs/cgroup/cpu,cpuacct/outer/cpu.cfs_period_us",
            "100000\n",
        ),
        (
            "/sys/fs/cgroup/cpu,cpuacct/outer/inner/cpu.cfs_quota_us",
            "300000\n",
        ),
        (
            "/sys/fs/cgroup/cpu,cpuacct/outer/inner/cpu.cfs_period_us",
            "100000\n",
        ),
        ("/sys/fs/cgroup/cpuset/cpuset.cpus", "0-15\n"),
        ("/sys/fs/cgroup/cpuset/sets/cpuset.cpus", "1,3\n"),
    ]);
    let limits = tree.limits();
    assert_eq!(limits.quota_cpus, Some(0.5));
    assert_eq!(limits.cpuset, Some(set("1,3")));
    assert_eq!(limits.quota_seen_by_old_vm, Some(3), "its own group only");
    assert!(limits.groups.iter().all(|g| g.version == CgroupVersion::V1));
}

#[test]
fn a_v1_container_that_shares_the_hosts_names_is_found_below_its_mount_root() {
    let tree = Tree::new(&[
        ("/proc/self/cgroup", "4:cpu,cpuacct:/docker/abc/job\n"),
        (
            "/proc/self/mountinfo",
            &V1_CPU.replace(" / /sys", " /docker/abc /sys"),
        ),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n"),
        (
            "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us",
            "100000\n",
        ),
    ]);
    let limits = tree.limits();
    assert_eq!(limits.quota_cpus, Some(1.5));
    assert_eq!(limits.groups[0].path, "/docker/abc");
}

#[test]
fn a_mount_from_outside_our_namespace_still_gives_its_own_limit() {
    let tree = Tree::new(&[
        ("/proc/self/cgroup", "0::/\n"),
        (
            "/proc/self/mountinfo",
            &V2.replace(" / /sys", " /../.. /sys"),
        ),
        ("/sys/fs/cgroup/cpu.max", "400000 100000\n"),
    ]);
    assert_eq!(tree.limits().quota_cpus, Some(4.0));
}

#[test]
fn a_group_outside_our_namespace_does_not_take_the_limits_of_the_namespace() {
    let tree = Tree::new(&[
        ("/proc/self/cgroup", "0::/../sibling\n"),
        ("/proc/self/mountinfo", V2),
        ("/sys/fs/cgroup/cpu.max", "400000 100000\n"),
    ]);
    assert_eq!(tree.limits().quota_cpus, None);
}

#[test]
fn a_hybrid_machine_takes_quotas_from_v1_while_v2_has_no_controller() {
    let tree = Tree::new(&[
        ("/proc/self/cgroup", "1:cpu,cpuacct:/job\n0::/job\n"),
        (
            "/proc/self/mountinfo",
            &format!(
                "{}{V1_CPU}",
                V2.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified ")
            ),
        ),
        ("/sys/fs/cgroup/unified/cgroup.controllers", "\n"),
        ("/sys/fs/cgroup/unified/job/cgroup.procs", "1\n"),
        (
            "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us",
            "200000\n",
        ),
        (
            "/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us",
            "50000\n",
        ),
    ]);
    let limits = tree.limits();
    assert_eq!(limits.quota_cpus, Some(4.0));
    assert_eq!(limits.quota_seen_by_old_vm, Some(4));
}

#[test]
fn a_mount_point_with_a_blank_in_its_name_is_found() {
    let tree = Tree::new(&[
        ("/proc/self/cgroup", "0::/\n"),
        (
            "/proc/self/mountinfo",
            &V2.replace("/sys/fs/cgroup", "/sys/c\\040g"),
        ),
        ("/sys/c g/cpu.max", "100000\n"),
    ]);
    assert_eq!(
        tree.limits().quota_cpus,
        Some(1.0),
        "the period has a default"
    );
}

#[test]
fn garbage_in_the_files_is_no_limit() {
    for garbage in [
        "",
        "max",
        "-5 100000",
        "1 0",
        "x y",
        "99999999999999999999 1",
    ] {
        let tree = Tree::new(&[
            ("/proc/self/cgroup", "0::/\nnonsense\n::\n"),
            ("/proc/self/mountinfo", &format!("- -\n1 2 - cgroup\n{V2}")),
            ("/sys/fs/cgroup/cgroup.controllers", "cpu"),
            ("/sys/fs/cgroup/cpu.max", garbage),
            ("/sys/fs/cgroup/cpuset.cpus", "7-3"),
        ]);
        let limits = tree.limits();
        assert_eq!(
            (limits.quota_cpus, limits.cpuset),
            (None, None),
            "{garbage}"
        );
        assert_eq!(limits.quota_seen_by_old_vm, None, "{garbage}");
    }
}
