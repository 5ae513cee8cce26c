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
