//! Machines from text, against closed forms.

use plimsoll_machine::{MachineError, from_synthetic};
use proptest::prelude::*;

#[test]
fn cpus_are_numbered_as_linux_numbers_a_two_socket_machine() {
    let machine = from_synthetic("pack:2 [numa(memory=137438953472)] l3:1 core:22 pu:2").unwrap();
    assert_eq!(machine.packages[0].cpus.to_string(), "0-21,44-65");
    assert_eq!(machine.packages[1].cpus.to_string(), "22-43,66-87");
    assert_eq!(machine.cores[1].cpus.to_string(), "1,45");
    let (first, second) = machine.cores.split_at(22);
    for half in [first, second] {
        let ids: Vec<u32> = half.iter().map(|core| core.os_index).collect();
        assert_eq!(ids, (0..22).collect::<Vec<_>>(), "core numbers restart");
    }
    assert_eq!(machine.numa_nodes[1].memory_bytes, 137_438_953_472);
    assert_eq!(machine.numa_nodes[1].cpus, machine.packages[1].cpus);
}

#[test]
fn explicit_cpu_numbers_are_taken_as_given() {
    let machine = from_synthetic("pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)").unwrap();
    assert_eq!(machine.cores[0].cpus.to_string(), "0,4");
    let machine = from_synthetic("pack:2 core:2 pu:2(indexes=0,2,4,6,1,3,5,7)").unwrap();
    assert_eq!(machine.packages[1].cpus.to_string(), "1,3,5,7");
    assert_eq!(machine.cores[0].cpus.to_string(), "0,2");
    assert_eq!(machine.pus.iter().filter(|pu| pu.thread == 1).count(), 4);
}

#[test]
fn explicit_core_numbers_are_taken_as_given() {
    let machine = from_synthetic("pack:1 core:2(indexes=8,9) pu:1").unwrap();
    let ids: Vec<u32> = machine.cores.iter().map(|core| core.os_index).collect();
    assert_eq!(ids, [8, 9]);
}

#[test]
fn a_machine_without_packages_nodes_and_caches_is_one() {
    let machine = from_synthetic("core:3 pu:1").unwrap();
    let counts = &machine.counts;
    assert_eq!(
        (counts.packages, counts.numa_nodes, counts.l3_domains),
        (0, 0, 0)
    );
    assert_eq!((counts.cores, counts.pus, counts.allowed), (3, 3, 3));
    assert!(
        machine
            .pus
            .iter()
            .all(|pu| pu.package.is_none() && pu.numa_node.is_none())
    );
}

#[test]
fn without_a_core_level_each_pu_is_a_core() {
    let machine = from_synthetic("pack:2 pu:3").unwrap();
    assert_eq!(
        (machine.counts.cores, machine.counts.threads_per_core),
        (6, 1)
    );
}

#[test]
fn one_pu_is_a_machine() {
    let machine = from_synthetic("pu:1").unwrap();
    assert_eq!((machine.counts.cores, machine.counts.pus), (1, 1));
}

#[test]
fn two_nodes_side_by_side_leave_the_second_without_cpus() {
    let machine = from_synthetic("pack:2 [numa] [numa] core:2 pu:1").unwrap();
    let cpus: Vec<usize> = machine.numa_nodes.iter().map(|n| n.cpus.len()).collect();
    assert_eq!(
        cpus.iter().sum::<usize>(),
        4,
        "each CPU is on one node: {cpus:?}"
    );
    assert_eq!(cpus.iter().filter(|&&n| n == 0).count(), 2);
    assert!(machine.pus.iter().all(|pu| pu.numa_node.is_some()));
}

#[test]
fn the_largest_machines_are_described() {
    for (spec, pus) in [
        ("pack:8 [numa] l3:8 core:8 pu:2", 1_024),
        ("pack:16 [numa] l3:16 core:16 pu:2", 8_192),
    ] {
        assert_eq!(from_synthetic(spec).unwrap().counts.pus, pus);
    }
}

#[test]
fn an_impossible_description_names_the_text_and_the_word() {
    for (spec, word) in [
        ("", None),
        ("   ", None),
        ("pack:2 foo:3 pu:2", Some("foo:3")),
        ("pack:2 core:x pu:2", Some("core:x")),
        ("pack:2 core:0 pu:2", Some("core:0")),
        ("pack:2 core:-1 pu:2", Some("core:-1")),
        ("pack pu:2", Some("pack")),
        ("pack:2 core:2", Some("core:2")),
        (
            "pack:2 core:2(indexes=1 pu:2",
            Some("core:2(indexes=1 pu:2"),
        ),
        (
            "pack:4000000000 core:4000000000 pu:4000000000",
            Some("pack:4000000000"),
        ),
        (
            "pack:99999999999999999999 pu:1",
            Some("pack:99999999999999999999"),
        ),
        ("pu:2 core:2 pack:1", Some("pack:1")),
        ("pack:2\0 pu:1", Some("pack:2\0")),
    ] {
        let error = from_synthetic(spec).unwrap_err();
        assert!(error.to_string().contains(spec), "{error}");
        match error {
            MachineError::Synthetic { word: found, .. } => {
                assert_eq!(found.as_deref(), word, "{spec}");
            }
            other => panic!("{spec}: {other}"),
        }
    }
}

#[test]
fn what_only_hwloc_can_refuse_is_refused() {
    for spec in [
        "pack:2 pack:2 core:1 pu:2 pu:2",
        "core:2 pu:2(indexes=0,0,0,0) pu:1",
    ] {
        assert!(from_synthetic(spec).is_err(), "{spec}");
    }
}

/// Reads descriptions that make hwloc talk; does nothing unless the next test asks for it.
#[test]
fn talkative_descriptions() {
    if std::env::var_os("HWLOC_SYNTHETIC_VERBOSE").is_some() {
        for spec in [
            "pack:2 pack:2 pu:2",
            "numa:2(memory=x) pu:2",
            "l3:2(size=) l3:2 pu:1",
        ] {
            let _ = from_synthetic(spec);
        }
    }
}

#[test]
fn nothing_that_hwloc_prints_reaches_the_terminal() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "talkative_descriptions", "--nocapture"])
        .env("HWLOC_SYNTHETIC_VERBOSE", "1")
        .env("HWLOC_HIDE_ERRORS", "0")
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn counts_and_numbers_follow_from_the_levels(
        packages in 1usize..5, numa: bool, l3 in 1usize..4, cores in 1usize..6, threads in 1usize..5,
    ) {
        let node = if numa { "[numa] " } else { "" };
        let spec = format!("pack:{packages} {node}l3:{l3} core:{cores} pu:{threads}");
        let machine = from_synthetic(&spec).unwrap();
        let all = packages * l3 * cores;
        let counts = &machine.counts;
        prop_assert_eq!(counts.packages, packages);
        prop_assert_eq!(counts.numa_nodes, if numa { packages } else { 0 });
        prop_assert_eq!(counts.l3_domains, packages * l3);
        prop_assert_eq!(counts.cores, all);
        prop_assert_eq!(counts.pus, all * threads);
        prop_assert_eq!(counts.threads_per_core, threads);
        for pu in &machine.pus {
            let core = pu.core.unwrap();
            prop_assert_eq!(pu.os_index as usize, pu.thread * all + core);
            prop_assert_eq!(pu.package.unwrap(), core / (l3 * cores));
            prop_assert_eq!(pu.l3_domain.unwrap(), core / cores);
            prop_assert_eq!(machine.cores[core].os_index as usize, core % (l3 * cores));
            prop_assert_eq!(pu.numa_node, numa.then_some(core / (l3 * cores)));
        }
    }

    #[test]
    fn no_text_crashes_the_reader(spec in "(pack|core|pu|numa|l3|[a-z]|[:(){}\\[\\]=, ]|[0-9]{1,3}|indexes=| ){0,12}") {
        let _ = from_synthetic(&spec);
    }
}
