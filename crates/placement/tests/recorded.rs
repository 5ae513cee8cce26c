//! Recorded machines: our orders against a VM's, for descriptions of real hardware.
//!
//! The files are read here by a few lines that know nothing but nesting and attributes, so that
//! they also check what the machine room makes of the same files.

mod common;

use std::path::PathBuf;

use common::oracle::{Oracle, orders_with_sct};
use common::{Cpu, machine};
use plimsoll_placement::{erts_view, order, sct};
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
