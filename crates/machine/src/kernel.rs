use plimsoll_schema::{KernelSettings, StealShare};

use crate::Root;

/// The running kernel's settings that move threads and pages, read from `/sys` and `/proc` under
/// `root`. What cannot be read is `None`.
pub fn settings(root: &Root) -> KernelSettings {
    KernelSettings {
        release: root.read("/proc/sys/kernel/osrelease"),
        governors: governors(root),
        transparent_huge_pages: root
            .read("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| chosen(&text)),
        numa_balancing: root.parse("/proc/sys/kernel/numa_balancing"),
        smt_control: root.read("/sys/devices/system/cpu/smt/control"),
        steal: root.read("/proc/stat").and_then(|text| steal(&text)),
    }
}

/// The governors of all CPUs, each once, sorted.
fn governors(root: &Root) -> Option<Vec<String>> {
    const CPUS: &str = "/sys/devices/system/cpu";
    let mut governors: Vec<String> = root
        .names(CPUS)
        .iter()
        .filter(|name| {
            name.strip_prefix("cpu")
                .is_some_and(|number| number.parse::<u32>().is_ok())
        })
        .filter_map(|name| root.read(format!("{CPUS}/{name}/cpufreq/scaling_governor")))
        .collect();
    governors.sort();
    governors.dedup();
    (!governors.is_empty()).then_some(governors)
}

/// The bracketed word of a line like `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

/// Stolen time over all time, from the `cpu` line of `/proc/stat`: user, nice, system, idle,
/// iowait, irq, softirq, steal. What follows, guest time, is already part of user and nice
/// (proc(5)).
fn steal(text: &str) -> Option<StealShare> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = line
        .split_whitespace()
        .take(8)
        .map(|word| word.parse::<u64>().ok())
        .collect::<Option<Vec<_>>>()?;
    let stolen = *ticks.get(7)?;
    let all: f64 = ticks.iter().map(|&t| t as f64).sum();
    (all > 0.0).then(|| StealShare {
        since_boot: stolen as f64 / all,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_the_tree() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("proc/sys/kernel/osrelease", "6.1.0-test\n"),
            ("proc/sys/kernel/numa_balancing", "2\n"),
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
            ("sys/devices/system/cpu/smt/control", "forceoff\n"),
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "powersave\n",
            ),
            (
                "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
                "performance\n",
            ),
            (
                "sys/devices/system/cpu/cpu12/cpufreq/scaling_governor",
                "powersave\n",
            ),
            (
                "proc/stat",
                "cpu  10 0 10 60 0 0 0 20 10 0\ncpu0 1 1 1 1 1 1 1 1\n",
            ),
        ] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        assert_eq!(
            settings(&Root::at(dir.path())),
            KernelSettings {
                release: Some("6.1.0-test".to_owned()),
                governors: Some(vec!["performance".to_owned(), "powersave".to_owned()]),
                transparent_huge_pages: Some("madvise".to_owned()),
                numa_balancing: Some(2),
                smt_control: Some("forceoff".to_owned()),
                steal: Some(StealShare { since_boot: 0.2 }),
            }
        );
    }

    #[test]
    fn what_is_not_there_is_not_available() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(settings(&Root::at(dir.path())), KernelSettings::default());
    }

    #[test]
    fn a_kernel_that_does_not_count_steal_gives_none() {
        for text in ["cpu  1 2 3 4", "cpu  0 0 0 0 0 0 0 0", "cpu  a b c", ""] {
            assert_eq!(steal(text), None, "{text}");
        }
    }
}
