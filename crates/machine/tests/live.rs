//! The machine that the tests run on, against what the kernel and `lscpu` say.

use std::process::Command;

use plimsoll_machine::live;
use plimsoll_schema::CpuSet;

fn sys(path: &str) -> Option<String> {
    std::fs::read_to_string(format!("/sys/devices/system/{path}"))
        .ok()
        .map(|text| text.trim().to_owned())
}

#[test]
fn online_cpus_cores_and_packages_are_the_kernels() {
    let machine = live().unwrap();
    let online: CpuSet = machine
        .pus
        .iter()
        .filter(|pu| pu.online)
        .map(|pu| pu.os_index)
        .collect();
    assert_eq!(Some(online.to_string()), sys("cpu/online"));
    for pu in machine.pus.iter().filter(|pu| pu.online) {
        let topology = |name: &str| sys(&format!("cpu/cpu{}/topology/{name}", pu.os_index));
        if let (Some(core), Some(id)) = (pu.core, topology("core_id")) {
            assert_eq!(machine.cores[core].os_index.to_string(), id);
        }
        if let (Some(package), Some(id)) = (pu.package, topology("physical_package_id")) {
            assert_eq!(machine.packages[package].os_index.to_string(), id);
        }
    }
}

#[test]
fn cpus_of_a_core_are_those_of_lscpu() {
    let Ok(output) = Command::new("lscpu").arg("-p=CPU,CORE,SOCKET").output() else {
        println!("skipped: lscpu is not on PATH");
        return;
    };
    let rows: Vec<Vec<u32>> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(',').filter_map(|n| n.parse().ok()).collect())
        .collect();
    let machine = live().unwrap();
    assert_eq!(rows.len(), machine.counts.online);
    let core = |cpu: u32| {
        machine
            .pus
            .iter()
            .find(|pu| pu.os_index == cpu)
            .unwrap()
            .core
    };
    for a in &rows {
        for b in &rows {
            assert_eq!(core(a[0]) == core(b[0]), a[1] == b[1], "{a:?} {b:?}");
        }
    }
}

#[test]
fn affinity_is_what_this_process_may_use() {
    let machine = live().unwrap();
    let limits = machine.limits.as_ref().unwrap();
    assert!(machine.counts.allowed >= 1);
    assert!(machine.counts.allowed <= limits.affinity.len());
    assert!(machine.kernel.unwrap().release.is_some());
}
