//! What a VM reads from sysfs, against our view of the same machine.
//!
//! The VM runs in a mount namespace in which `/sys/devices/system` is a folder that the test fills
//! with one machine after the other. Where the kernel allows no such namespace, these tests say so
//! and check nothing.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use common::oracle::without_flags;
use common::random::{regular, wild};
use common::{Cpu, machine, sockets};
use plimsoll_placement::{ErtsCpu, erts_view};
use plimsoll_schema::{CpuSet, MachineSource};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Writes `/sys/devices/system` for a machine, as Linux does. `nodes`: whether the kernel knows
/// NUMA; `extra_nodes`: nodes without CPUs.
fn write_sysfs(root: &Path, cpus: &[Cpu], nodes: bool, extra_nodes: &[u32]) {
    for part in ["cpu", "node"] {
        let _ = fs::remove_dir_all(root.join(part));
    }
    fs::create_dir(root.join("cpu")).unwrap();
    let all: CpuSet = cpus.iter().map(|cpu| cpu.os).collect();
    let online: CpuSet = cpus.iter().filter(|c| c.online).map(|c| c.os).collect();
    for (file, set) in [("possible", &all), ("present", &all), ("online", &online)] {
        fs::write(root.join("cpu").join(file), format!("{set}\n")).unwrap();
    }
    for node in extra_nodes {
        fs::create_dir_all(root.join(format!("node/node{node}"))).unwrap();
    }
    for cpu in cpus {
        let dir = root.join(format!("cpu/cpu{}", cpu.os));
        fs::create_dir(&dir).unwrap();
        if let (true, Some(node)) = (nodes, cpu.node) {
            let node = root.join(format!("node/node{node}"));
            fs::create_dir_all(&node).unwrap();
            let link = format!("../../cpu/cpu{}", cpu.os);
            symlink(link, node.join(format!("cpu{}", cpu.os))).unwrap();
        }
        if cpu.online {
            let topology = dir.join("topology");
            fs::create_dir(&topology).unwrap();
            let package = format!("{}\n", cpu.package);
            fs::write(topology.join("physical_package_id"), package).unwrap();
            fs::write(topology.join("core_id"), format!("{}\n", cpu.core)).unwrap();
        }
    }
}

/// A command that starts `erl` with `root` in the place of `/sys/devices/system`.
fn erl_on(root: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    without_flags(&mut command);
    command
        .args(["-rm", "sh", "-c"])
        .arg("mount --bind \"$0\" /sys/devices/system && exec erl \"$@\"")
        .arg(root)
        .arg("-noshell")
        .args(flags);
    command
}

fn namespaces_are_allowed() -> bool {
    let script = "mount --bind /proc /sys/devices/system";
    let allowed = Command::new("unshare")
        .args(["-rm", "sh", "-c", script])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !allowed {
        eprintln!("NOT CHECKED: this kernel allows no mount namespace (unshare -rm)");
    }
    allowed
}

struct Detector {
    root: tempfile::TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Detector {
    fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        write_sysfs(root.path(), &sockets(1, 1, 1), true, &[]);
        let code = "Loop = fun Loop() ->
            case io:get_line('') of
              eof -> halt();
              _ ->
                erlang:system_info(update_cpu_info),
                case erlang:system_info({internal_cpu_topology, detected}) of
                  undefined -> io:format(\"undefined~n\");
                  Cpus -> io:format(\"~w~n\", [[tl(tuple_to_list(C)) || C <- Cpus]])
                end,
                Loop()
            end
          end,
          Loop().";
        let mut child = erl_on(root.path(), &["+S", "1", "-eval", code])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            root,
        }
    }

    fn read(&mut self) -> Option<Vec<ErtsCpu>> {
        writeln!(self.stdin.as_mut().unwrap()).unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let line = line.trim();
        if line == "undefined" {
            return None;
        }
        let numbers: Vec<i32> = line
            .trim_matches(['[', ']'])
            .split(',')
            .map(|word| word.trim_matches(['[', ']']).parse().unwrap())
            .collect();
        let mut view: Vec<_> = numbers
            .chunks_exact(6)
            .map(|n| ErtsCpu {
                node: n[0],
                processor: n[1],
                processor_node: n[2],
                core: n[3],
                thread: n[4],
                logical: n[5],
            })
            .collect();
        view.sort_unstable();
        Some(view)
    }
}

impl Drop for Detector {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.wait();
    }
}

fn the_vm_sees_our_view(cases: u32, machines: impl Strategy<Value = Vec<Cpu>>) {
    if !namespaces_are_allowed() {
        return;
    }
    let detector = std::cell::RefCell::new(Detector::start());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&machines, |cpus| {
            let mut detector = detector.borrow_mut();
            write_sysfs(detector.root.path(), &cpus, true, &[90]);
            let mut machine = if cpus.iter().any(|cpu| cpu.node.is_some()) {
                machine(&cpus)
            } else {
                write_sysfs(detector.root.path(), &cpus, false, &[]);
                machine(&cpus)
            };
            machine.source = MachineSource::Live;
            prop_assert_eq!(erts_view(&machine), detector.read());
            Ok(())
        })
        .unwrap();
}

#[test]
fn regular_machines_are_seen_as_the_vm_sees_them() {
    the_vm_sees_our_view(150, regular());
}

#[test]
fn machines_that_nobody_builds_are_seen_as_the_vm_sees_them() {
    the_vm_sees_our_view(150, wild());
}

#[test]
fn a_cpu_outside_every_node_hides_the_topology_as_it_does_from_the_vm() {
    the_vm_sees_our_view(
        20,
        wild().prop_map(|mut cpus| {
            cpus[0].node = None;
            cpus
        }),
    );
}

#[test]
fn without_topology_sbt_refuses_to_start_and_stbt_is_ignored() {
    if !namespaces_are_allowed() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    // A NUMA kernel whose nodes hold no CPU: the VM finds none.
    write_sysfs(root.path(), &sockets(1, 2, 1), false, &[0]);
    let ask = "io:format(\"~w\", [erlang:system_info(scheduler_bind_type)]), halt().";
    let sbt = erl_on(root.path(), &["+sbt", "ts", "-eval", ask])
        .output()
        .unwrap();
    assert!(!sbt.status.success());
    let message = String::from_utf8_lossy(&sbt.stderr).into_owned();
    assert!(message.contains("no cpu topology available"), "{message}");
    let stbt = erl_on(root.path(), &["+stbt", "ts", "-eval", ask])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&stbt.stdout), "unbound");
}

#[test]
fn the_vm_starts_a_scheduler_for_each_cpu_offline_ones_included() {
    if !namespaces_are_allowed() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let mut cpus = sockets(1, 8, 1);
    cpus[7].online = false;
    write_sysfs(root.path(), &cpus, true, &[]);
    let ask = "[io:format(\"~w \", [erlang:system_info(What)])
                || What <- [schedulers, dirty_cpu_schedulers]], halt().";
    for (flags, schedulers) in [
        (vec![], "8 8"),
        (vec!["+S", "4"], "4 4"),
        (vec!["+S", "9"], "9 8"),
    ] {
        let flags = [flags, vec!["-eval", ask]].concat();
        let output = erl_on(root.path(), &flags).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), schedulers);
    }
}
