//! Our orders against the VM's own, for machines described to a running VM.

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;

use common::oracle::{Oracle, Orders, orders_with_sct};
use common::random::{regular, wild};
use common::{Cpu, all_cpus, chiplets, machine, sockets};
use plimsoll_placement::{bindings, classes, erts_view, order, order_of, sct, sct_by_l3};
use plimsoll_schema::{BindType, Machine};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn our_orders(machine: &Machine) -> Orders {
    BindType::ALL
        .into_iter()
        .map(|bind| (bind, order(machine, bind)))
        .collect()
}

fn our_classes(machine: &Machine) -> Vec<String> {
    let all = all_cpus(machine);
    let bindings: BTreeMap<_, _> = BindType::ALL
        .into_iter()
        .map(|bind| (bind, bindings(machine, bind, all.len(), &all)))
        .collect();
    classes(&bindings)
        .iter()
        .map(|class| {
            let names: Vec<_> = class.iter().map(|bind| bind.flag()).collect();
            names.join(" ")
        })
        .collect()
}

/// Compares `cases` machines in one VM.
fn the_vm_agrees(cases: u32, machines: impl Strategy<Value = Vec<Cpu>>) {
    let oracle = RefCell::new(Oracle::start());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&machines, |cpus| {
            let machine = machine(&cpus);
            let view = erts_view(&machine).unwrap();
            let vm = oracle.borrow_mut().orders(&view);
            prop_assert_eq!(our_orders(&machine), vm);
            Ok(())
        })
        .unwrap();
}

#[test]
fn regular_machines_are_ordered_as_the_vm_orders_them() {
    the_vm_agrees(1500, regular());
}

#[test]
fn machines_that_nobody_builds_are_ordered_as_the_vm_orders_them() {
    the_vm_agrees(1500, wild());
}

#[test]
fn a_vm_started_with_our_sct_has_our_orders() {
    let mut split = sockets(2, 4, 2);
    for cpu in &mut split {
        cpu.node = Some(cpu.package * 2 + cpu.core / 2);
    }
    let mut mixed = split.clone();
    for cpu in mixed.iter_mut().filter(|cpu| cpu.package == 1) {
        cpu.node = Some(2);
    }
    let mut no_numa = sockets(3, 2, 2);
    for cpu in &mut no_numa {
        cpu.node = None;
    }
    let mut large_ids = sockets(2, 2, 2);
    for cpu in &mut large_ids {
        cpu.package = 70_000 - cpu.package * 20_000;
        cpu.core = 99_000 - cpu.core;
    }
    let machines = [
        sockets(1, 1, 1),
        sockets(2, 22, 2),
        sockets(4, 3, 4),
        split,
        mixed,
        no_numa,
        large_ids,
        chiplets(4, 4),
    ];
    for cpus in machines {
        let machine = machine(&cpus);
        let spec = sct(&machine).unwrap();
        assert_eq!(our_orders(&machine), orders_with_sct(&spec), "{spec}");
    }
}

#[test]
fn under_the_sct_that_declares_caches_as_nodes_spreading_alternates_between_them() {
    let machine = machine(&chiplets(4, 3));
    let spec = sct_by_l3(&machine).unwrap();
    let vm = orders_with_sct(&spec);
    assert_eq!(
        vm[&BindType::S],
        Some(vec![0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]),
        "{spec}"
    );
    assert_eq!(vm[&BindType::Nnts], Some((0..12).collect()), "{spec}");
    // Without it no bind type does.
    for bind in BindType::ALL {
        let order = order(&machine, bind);
        assert!(order.is_none() || order == Some((0..12).collect()));
    }
}

#[test]
fn on_two_sockets_with_a_node_each_ts_tnnps_and_db_are_one_placement() {
    for (cores, threads) in [(22, 2), (24, 2), (6, 2), (4, 2)] {
        let machine = machine(&sockets(2, cores, threads));
        assert_eq!(
            our_classes(&machine),
            ["u", "ns", "ts tnnps db", "ps s", "nnts nnps"]
        );
    }
}

#[test]
fn without_numa_information_db_differs_from_ts() {
    let mut cpus = sockets(2, 4, 2);
    for cpu in &mut cpus {
        cpu.node = None;
    }
    let machine = machine(&cpus);
    assert_ne!(order(&machine, BindType::Db), order(&machine, BindType::Ts));
    assert_eq!(order(&machine, BindType::Db).unwrap()[..4], [0, 4, 1, 5]);
}

#[test]
fn on_one_socket_processor_spread_is_thread_spread() {
    let machine = machine(&sockets(1, 4, 2));
    assert_eq!(
        our_classes(&machine),
        ["u", "ns", "ts ps s nnts nnps tnnps db"]
    );
}

#[test]
fn the_documented_example_gives_the_documented_orders() {
    let machine = machine(&sockets(2, 4, 2));
    let order = |bind| order(&machine, bind).unwrap();
    assert_eq!(order(BindType::Ns)[..6], [0, 8, 1, 9, 2, 10]);
    assert_eq!(order(BindType::Ts), (0..16).collect::<Vec<_>>());
    assert_eq!(order(BindType::Ps)[..4], [0, 4, 1, 5]);
    let nodes: Vec<u32> = [0..4, 8..12, 4..8, 12..16].into_iter().flatten().collect();
    assert_eq!(order(BindType::Nnts), nodes);
}

proptest! {
    #[test]
    fn every_order_holds_every_cpu_once(cpus in wild()) {
        let machine = machine(&cpus);
        let mut all: Vec<_> = cpus.iter().map(|cpu| cpu.os).collect();
        all.sort_unstable();
        for bind in BindType::ALL {
            if let Some(mut order) = order(&machine, bind) {
                order.sort_unstable();
                prop_assert_eq!(&order, &all);
            }
        }
    }

    /// No two CPUs have equal keys, or the result would depend on the sort.
    #[test]
    fn the_order_does_not_depend_on_the_sequence_of_the_description(
        (cpus, shuffled) in wild().prop_flat_map(|cpus| (Just(cpus.clone()), Just(cpus).prop_shuffle()))
    ) {
        let (a, b) = (erts_view(&machine(&cpus)).unwrap(), erts_view(&machine(&shuffled)).unwrap());
        let reversed: Vec<_> = a.iter().rev().copied().collect();
        for bind in BindType::ALL {
            prop_assert_eq!(order_of(&a, bind), order_of(&b, bind));
            prop_assert_eq!(order_of(&a, bind), order_of(&reversed, bind));
        }
    }
}
