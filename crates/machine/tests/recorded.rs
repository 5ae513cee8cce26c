//! Machines recorded in hwloc XML, against hwloc's own `lstopo`; and files that are no machines.

use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_machine::{MachineError, from_xml};
use plimsoll_schema::{CoreKind, Machine};

fn recorded(name: &str) -> PathBuf {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/topologies"
    ))
    .join(name)
}

/// How many parts `lstopo` lists; `None` without `lstopo`.
fn lstopo(file: &Path, part: &str) -> Option<usize> {
    let output = Command::new("lstopo-no-graphics")
        .arg("-i")
        .arg(file)
        .args(["--only", part])
        .output();
    match output {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).lines().count()),
        Err(_) => {
            println!("skipped: lstopo-no-graphics is not on PATH");
            None
        }
    }
}

fn agrees_with_lstopo(name: &str) -> Machine {
    let file = recorded(name);
    let machine = from_xml(&file).unwrap();
    let placed = machine.pus.iter().filter(|pu| pu.core.is_some()).count();
    for (part, ours) in [
        ("pu", placed),
        ("core", machine.counts.cores),
        ("numanode", machine.counts.numa_nodes),
        ("package", machine.counts.packages),
        ("l3cache", machine.counts.l3_domains),
    ] {
        if let Some(theirs) = lstopo(&file, part) {
            assert_eq!(ours, theirs, "{part} of {name}");
        }
    }
    machine
}

#[test]
fn arm_with_several_nodes_in_a_package() {
    let machine = agrees_with_lstopo("128arm-2pa2n8cluster4co.xml");
    assert_eq!(machine.counts.threads_per_core, 1);
    for node in &machine.numa_nodes {
        assert_eq!(node.cpus.len(), 32);
        assert_eq!(node.distances.len(), 4);
    }
}

#[test]
fn cpus_outside_the_recorders_cpuset_are_listed_but_not_allowed() {
    let machine = agrees_with_lstopo("16amd64-8n2c-cpusets.xml");
    assert_eq!((machine.counts.pus, machine.counts.allowed), (16, 10));
}

#[test]
fn smt_threads_share_a_core() {
    let machine = agrees_with_lstopo("16em64t-4s2c2t.xml");
    assert_eq!(machine.counts.threads_per_core, 2);
    let second = machine.pus.iter().filter(|pu| pu.thread == 1).count();
    assert_eq!(second, 8);
}

#[test]
fn hybrid_cores_are_told_apart() {
    let machine = agrees_with_lstopo("20em64t-hybrid-1p6c2t+2ca4co1t.xml");
    let fast = |core: &&plimsoll_schema::Core| core.kind == CoreKind::Performance;
    let slow = |core: &&plimsoll_schema::Core| core.kind == CoreKind::Efficiency;
    assert_eq!(machine.cores.iter().filter(fast).count(), 6);
    assert_eq!(machine.cores.iter().filter(slow).count(), 8);
    assert!(machine.cores.iter().filter(fast).all(|c| c.cpus.len() == 2));
}

#[test]
fn sparse_node_numbers_are_kept() {
    let machine = agrees_with_lstopo("48amd64-4pa2n6c-sparse.xml");
    let numbers: Vec<u32> = machine.numa_nodes.iter().map(|n| n.os_index).collect();
    assert_ne!(numbers, (0..8).collect::<Vec<_>>());
}

#[test]
fn nodes_may_span_packages() {
    let machine = agrees_with_lstopo("96em64t-4no4pa3ca2co.xml");
    let node = &machine.numa_nodes[0];
    let inside = machine
        .packages
        .iter()
        .filter(|package| package.cpus.is_subset(&node.cpus))
        .count();
    assert_eq!(inside, 4);
}

#[test]
fn files_that_are_no_machines_are_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let whole = std::fs::read_to_string(recorded("16em64t-4s2c2t.xml")).unwrap();
    let cases: &[(&str, &str)] = &[
        ("", "empty"),
        (" \n", "empty"),
        ("hello", "not XML"),
        ("<html></html>", "not hwloc's"),
        ("<topology/>", ""),
        ("<topology version=\"2.0\"></topology>", ""),
        (
            "<topology version=\"9.0\"><object type=\"Machine\"/></topology>",
            "",
        ),
        (
            "<topology version=\"2.0\"><object type=\"PU\"/></topology>",
            "",
        ),
        (&whole[..whole.len() / 2], ""),
        (&whole[..whole.len() - 20], ""),
        ("<topology\0", "not text"),
    ];
    for (at, (text, why)) in cases.iter().enumerate() {
        let file = dir.path().join(format!("{at}.xml"));
        std::fs::write(&file, text).unwrap();
        let error = from_xml(&file).unwrap_err();
        assert!(matches!(error, MachineError::Xml { .. }), "{at}: {error}");
        let sentence = error.to_string();
        assert!(sentence.contains(why), "{at}: {sentence}");
        assert!(sentence.contains(&format!("{at}.xml")), "{sentence}");
    }
}

#[test]
fn what_is_no_file_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().join("absent.xml"), dir.path().to_owned()] {
        let error = from_xml(&path).unwrap_err();
        assert!(matches!(error, MachineError::Unreadable { .. }), "{error}");
    }
    let huge = dir.path().join("huge.xml");
    std::fs::File::create(&huge)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let error = from_xml(&huge).unwrap_err();
    assert!(matches!(error, MachineError::TooLarge { .. }), "{error}");
}

/// Spoilt copies of a real file: whatever hwloc does with them (some make it abort), we get a
/// machine or a sentence, and a machine is consistent with itself.
#[test]
fn no_spoilt_file_crashes_us() {
    let dir = tempfile::tempdir().unwrap();
    let whole = std::fs::read_to_string(recorded("20em64t-hybrid-1p6c2t+2ca4co1t.xml")).unwrap();
    let spoilt = [
        whole.replace("os_index=\"3\"", "os_index=\"4294967295\""),
        whole.replace("os_index=\"3\"", "os_index=\"2\""),
        whole.replace("cpuset=\"0x", "cpuset=\"0xf...f,0x"),
        whole.replace("type=\"Core\"", "type=\"PU\""),
        whole.replace("type=\"PU\"", "type=\"NUMANode\""),
        whole.replace("type=\"Package\"", "type=\"Machine\""),
        whole.replace("<object", "<object "),
        whole.replace("</object>", ""),
        whole.replace("0x000fffff", "0x0"),
        whole.replace("gp_index=\"", "gp_index=\"1"),
        whole.replace("nodeset=\"0x00000001\"", "nodeset=\"0x0\""),
        whole.replace("<cpukind", "<cpukind forced_efficiency=\"-7\""),
    ];
    for (at, text) in spoilt.iter().enumerate() {
        let file = dir.path().join(format!("{at}.xml"));
        std::fs::write(&file, text).unwrap();
        match from_xml(&file) {
            Ok(machine) => {
                assert_eq!(machine.counts.pus, machine.pus.len());
                for pu in machine.pus.iter().filter(|pu| pu.core.is_some()) {
                    let core = &machine.cores[pu.core.unwrap()];
                    assert!(core.cpus.contains(pu.os_index));
                }
            }
            Err(error) => assert!(matches!(error, MachineError::Xml { .. }), "{at}: {error}"),
        }
    }
}
