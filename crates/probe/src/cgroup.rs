//! CPU throttling of the control groups around a process.

use std::path::{Path, PathBuf};

use crate::process::read;

/// How often and how long a group was kept from running, since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Throttling {
    /// Periods in which its quota was used up.
    pub periods: u64,
    /// Summed over CPUs, seconds.
    pub seconds: f64,
}

/// The `cpu.stat` files of the process's group and of every group around it, innermost first: a
/// quota on any of them throttles the process.
pub(crate) fn cpu_stat_files(root: &Path, pid: u32) -> Vec<PathBuf> {
    let proc = root.join("proc");
    let groups = read(&proc.join(format!("{pid}/cgroup"))).unwrap_or_default();
    let mounts = read(&proc.join("self/mountinfo")).unwrap_or_default();
    let mut files = Vec::new();
    for group in groups.lines() {
        let Some((controllers, path)) = group
            .split_once(':')
            .and_then(|(_, rest)| rest.split_once(':'))
        else {
            continue;
        };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|controller| controller == "cpu") {
            continue;
        }
        let mount = mounts.lines().filter_map(parse_mount).find(|mount| {
            if unified {
                mount.kind == "cgroup2"
            } else {
                mount.kind == "cgroup" && mount.options.split(',').any(|option| option == "cpu")
            }
        });
        let Some(mount) = mount else { continue };
        // Inside a container the mount shows a part of the hierarchy only; a group outside of that
        // part cannot be read, its visible root can.
        let below = Path::new(path)
            .strip_prefix(&mount.root)
            .unwrap_or(Path::new(""));
        let top = root.join(mount.point.trim_start_matches('/'));
        for ancestor in below.ancestors() {
            // `..` leads out of the namespace.
            if ancestor
                .components()
                .all(|c| matches!(c, std::path::Component::Normal(_)))
            {
                files.push(top.join(ancestor).join("cpu.stat"));
            }
        }
    }
    files
}

/// The sum over the files; `None` = none of them speaks of throttling.
pub(crate) fn throttling(files: &[PathBuf]) -> Option<Throttling> {
    files
        .iter()
        .filter_map(|file| parse_cpu_stat(&read(file)?))
        .reduce(|sum, group| Throttling {
            periods: sum.periods.saturating_add(group.periods),
            seconds: sum.seconds + group.seconds,
        })
}

/// Reads a `cpu.stat`; `None` = it has no quota statistics (a root group of version 2).
fn parse_cpu_stat(text: &str) -> Option<Throttling> {
    let value = |name: &str| {
        text.lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(key, _)| *key == name)
            .and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    let seconds = value("throttled_usec")
        .map(|microseconds| microseconds as f64 * 1e-6)
        .or_else(|| value("throttled_time").map(|nanoseconds| nanoseconds as f64 * 1e-9))?;
    Some(Throttling {
        periods: value("nr_throttled")?,
        seconds,
    })
}

struct Mount<'a> {
    root: String,
    point: String,
    kind: &'a str,
    options: &'a str,
}

/// Reads a line of `mountinfo`.
fn parse_mount(line: &str) -> Option<Mount<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let (root, point) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    Some(Mount {
        root: unescape(root),
        point: unescape(point),
        kind: right.next()?,
        options: right.nth(1)?,
    })
}

/// Undoes the kernel's octal escapes of space, tab, newline and backslash.
fn unescape(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (escape, plain)| {
        text.replace(escape, plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    proptest! {
        #[test]
        fn no_text_crashes_the_readers(text in any::<String>()) {
            let _ = parse_cpu_stat(&text);
            let _ = parse_mount(&text);
        }

        #[test]
        fn no_cgroup_tree_leads_out_of_the_mount(path in "[./a-b]{0,20}") {
            let root = tempfile::tempdir().unwrap();
            write(root.path(), "proc/9/cgroup", &format!("0::/{path}\n"));
            write(root.path(), "proc/self/mountinfo", "1 0 0:1 / /cg rw - cgroup2 none rw\n");
            for file in cpu_stat_files(root.path(), 9) {
                prop_assert!(file.starts_with(root.path().join("cg")), "{}", file.display());
                prop_assert!(file.components().all(|c| c.as_os_str() != ".."), "{}", file.display());
            }
        }
    }

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_nested_group_counts_its_own_and_its_parents_throttling() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(root, "proc/9/cgroup", "0::/a/b\n");
        write(
            root,
            "proc/self/mountinfo",
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
        );
        write(
            root,
            "sys/fs/cgroup/cpu.stat",
            "usage_usec 5\nuser_usec 3\nsystem_usec 2\n",
        );
        write(
            root,
            "sys/fs/cgroup/a/cpu.stat",
            "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1500000\n",
        );
        write(
            root,
            "sys/fs/cgroup/a/b/cpu.stat",
            "usage_usec 5\nnr_periods 10\nnr_throttled 1\nthrottled_usec 500000\n",
        );
        let got = throttling(&cpu_stat_files(root, 9));
        assert_eq!(
            got,
            Some(Throttling {
                periods: 5,
                seconds: 2.0
            })
        );
    }

    #[test]
    fn the_old_hierarchy_is_read_below_its_own_mount_in_nanoseconds() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(
            root,
            "proc/9/cgroup",
            "4:memory:/m\n3:cpu,cpuacct:/docker/abc/x\n0::/\n",
        );
        write(
            root,
            "proc/self/mountinfo",
            "31 23 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
             32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
        );
        write(
            root,
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.stat",
            "nr_periods 3\nnr_throttled 2\nthrottled_time 250000000\n",
        );
        let got = throttling(&cpu_stat_files(root, 9));
        assert_eq!(
            got,
            Some(Throttling {
                periods: 2,
                seconds: 0.25
            })
        );
    }

    #[test]
    fn a_machine_without_quota_statistics_has_no_figure() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "proc/9/cgroup", "0::/\n");
        write(
            root.path(),
            "proc/self/mountinfo",
            "1 0 0:1 / /cg rw - cgroup2 none rw\n",
        );
        write(root.path(), "cg/cpu.stat", "usage_usec 5\n");
        assert_eq!(throttling(&cpu_stat_files(root.path(), 9)), None);
    }
}
