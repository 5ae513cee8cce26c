//! Recorded machines: our orders against a VM's, for descriptions of real hardware.
//!
//! The files are read here by a few lines that know nothing but nesting and attributes, so that
//! they also check what the machine room makes of the same files.

mod common;

use std::path::PathBuf;

use common::oracle::{Oracle, orders_with_sct};
use common::{Cpu, machine};
use plimsoll_machine::{from_synthetic, from_xml, live};
use plimsoll_placement::{erts_view, map_report, order, sct};
use plimsoll_schema::{BindType, Machine};

const FILES: [&str; 6] = [
    "128arm-2pa2n8cluster4co.xml",
    "16amd64-8n2c-cpusets.xml",
    "16em64t-4s2c2t.xml",
    "20em64t-hybrid-1p6c2t+2ca4co1t.xml",
    "48amd64-4pa2n6c-sparse.xml",
    "96em64t-4no4pa3ca2co.xml",
];

fn path(file: &str) -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/topologies"
    ))
    .join(file)
}

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!(" {name}=\""))?;
    Some(rest.split_once('"')?.0)
}

/// Whether `cpu` is in a mask such as `0x0000000f,0xff000000`: words of 32 bits, highest first.
fn mask_holds(mask: &str, cpu: u32) -> bool {
    let word = mask.split(',').rev().nth((cpu / 32) as usize);
    let word = word.map_or(0, |word| {
        u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0)
    });
    word >> (cpu % 32) & 1 == 1
}

/// The CPUs of an hwloc XML file, by the kernel's ids.
fn cpus(file: &str) -> Vec<Cpu> {
    let text = std::fs::read_to_string(path(file)).unwrap();
    let mut open: Vec<(&str, u32)> = Vec::new();
    let mut cpus = Vec::new();
    let mut nodes = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("</object") {
            open.pop();
            continue;
        }
        if !line.starts_with("<object") {
            continue;
        }
        let kind = attribute(line, "type").unwrap();
        let os = attribute(line, "os_index").and_then(|os| os.parse().ok());
        let inside = |kind| open.iter().find(|(k, _)| *k == kind).map(|&(_, os)| os);
        match (kind, os) {
            ("PU", Some(os)) => cpus.push(Cpu::new(
                os,
                inside("Package").unwrap(),
                None,
                inside("Core").unwrap(),
            )),
            ("NUMANode", Some(os)) => nodes.push((os, attribute(line, "cpuset").unwrap())),
            _ => {}
        }
        if !line.ends_with("/>") {
            open.push((kind, os.unwrap_or(u32::MAX)));
        }
    }
    for cpu in &mut cpus {
        let node = nodes.iter().find(|(_, mask)| mask_holds(mask, cpu.os));
        cpu.node = node.map(|&(os, _)| os);
    }
    cpus
}

fn assert_the_vm_agrees(oracle: &mut Oracle, machine: &Machine, name: &str) {
    let vm = oracle.orders(&erts_view(machine).unwrap());
    let spec = sct(machine).unwrap();
    assert_eq!(vm, orders_with_sct(&spec), "{name}: {spec}");
    for bind in BindType::ALL {
        assert_eq!(order(machine, bind), vm[&bind], "{name} {bind}");
    }
}

#[test]
fn recorded_machines_are_ordered_as_the_vm_orders_them() {
    let mut oracle = Oracle::start();
    for file in FILES {
        let cpus = cpus(file);
        assert!(cpus.len() >= 10, "{file}: {cpus:?}");
        assert_the_vm_agrees(&mut oracle, &machine(&cpus), file);
    }
}

#[test]
fn the_machine_room_reads_recorded_machines_as_they_are() {
    let mut oracle = Oracle::start();
    for file in FILES {
        let read = from_xml(&path(file)).unwrap();
        // CPUs that the file only counts (offline or disallowed) have no place in it.
        let ours = cpus(file);
        let listed = |cpu: u32| ours.iter().any(|known| known.os == cpu);
        let ours = machine(&ours);
        for bind in BindType::ALL {
            let mut from_room = order(&read, bind);
            if let Some(cpus) = &mut from_room {
                cpus.retain(|&cpu| listed(cpu));
            }
            assert_eq!(from_room, order(&ours, bind), "{file} {bind}");
        }
        assert_the_vm_agrees(&mut oracle, &read, file);
        map_report(&read, None, None).unwrap();
    }
}

#[test]
fn described_machines_are_ordered_as_the_vm_orders_them() {
    let mut oracle = Oracle::start();
    for spec in [
        "pu:1",
        "pu:4",
        "core:4 pu:2",
        "pack:2 core:4 pu:2",
        "pack:2 [numa] core:6 pu:2",
        "pack:2 [numa(memory=137438953472)] l3:1 core:22 pu:2",
        "pack:2 [numa] l3:1 core:24 pu:2",
        "pack:2 l3:4 [numa] core:4 pu:2",
        "numa:2 pack:2 core:3 pu:2",
        "[numa] pack:1 l3:8 core:8 pu:1",
    ] {
        let machine = from_synthetic(spec).unwrap();
        assert_the_vm_agrees(&mut oracle, &machine, spec);
        map_report(&machine, None, None).unwrap();
    }
}

#[test]
fn the_two_socket_machine_of_the_requirements_has_ts_tnnps_and_db_in_one_class() {
    let machine = from_synthetic("pack:2 [numa(memory=137438953472)] l3:1 core:22 pu:2").unwrap();
    let report = map_report(&machine, None, None).unwrap();
    let class = [BindType::Ts, BindType::Tnnps, BindType::Db];
    assert!(
        report.classes.contains(&class.to_vec()),
        "{:?}",
        report.classes
    );
}

#[test]
fn this_machine_is_ordered_as_the_vm_orders_it() {
    let machine = live().unwrap();
    assert_the_vm_agrees(&mut Oracle::start(), &machine, "this machine");
    map_report(&machine, None, None).unwrap();
}
