//! Bindings, `+sct` texts, reports and advice.

mod common;

use common::random::{regular, wild};
use common::{Cpu, all_cpus, chiplets, list, machine, sockets};
use plimsoll_placement::{
    ErtsCpu, PlacementError, bindings, classes, default_schedulers, erts_view, map_report, order,
    same_cpus, sct,
};
use plimsoll_schema::{
    BindType, CoreKind, Finding, Limits, Machine, MachineSource, MapReport, NumaNode,
};
use proptest::prelude::*;

fn report(machine: &Machine, schedulers: usize) -> MapReport {
    map_report(machine, Some(schedulers), None).unwrap()
}

fn ids(report: &MapReport) -> Vec<&str> {
    report.advice.iter().map(|f| f.id.as_str()).collect()
}

fn finding<'a>(report: &'a MapReport, id: &str) -> &'a Finding {
    let found = report.advice.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no {id} in {:?}", ids(report)))
}

fn with_quota(mut machine: Machine, quota: f64, seen_at_root: Option<u32>) -> Machine {
    machine.limits = Some(Limits {
        affinity: all_cpus(&machine),
        quota_cpus: Some(quota),
        quota_seen_by_old_vm: seen_at_root,
        ..Limits::default()
    });
    machine
}

// Bindings and classes

proptest! {
    #[test]
    fn bindings_are_the_order_without_the_cpus_outside(
        cpus in regular(), schedulers in 0usize..80, keep in any::<u64>()
    ) {
        let machine = machine(&cpus);
        let set = all_cpus(&machine).iter().filter(|cpu| keep >> (cpu % 64) & 1 == 1).collect();
        for bind in BindType::ALL {
            let got = bindings(&machine, bind, schedulers, &set);
            prop_assert_eq!(got.len(), schedulers);
            let mut expected = Vec::new();
            for cpu in order(&machine, bind).unwrap_or_default() {
                if set.contains(cpu) && expected.len() < schedulers {
                    expected.push(Some(cpu));
                }
            }
            while expected.len() < schedulers {
                expected.push(None);
            }
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn two_bind_types_share_a_class_exactly_when_all_their_cpus_agree(
        cpus in wild(), schedulers in 1usize..50
    ) {
        let report = map_report(&machine(&cpus), Some(schedulers), None).unwrap();
        let finer = classes(&report.bindings);
        let coarser = same_cpus(&report.bindings);
        let together = |groups: &[Vec<BindType>], a, b| {
            groups.iter().any(|group| group.contains(&a) && group.contains(&b))
        };
        for a in BindType::ALL {
            for b in BindType::ALL {
                let (x, y) = (&report.bindings[&a], &report.bindings[&b]);
                prop_assert_eq!(together(&finer, a, b), x == y);
                let sorted = |cpus: &Vec<Option<u32>>| {
                    let mut cpus = cpus.clone();
                    cpus.sort_unstable();
                    cpus
                };
                prop_assert_eq!(together(&coarser, a, b), sorted(x) == sorted(y));
            }
        }
        prop_assert_eq!(finer.concat().len(), BindType::ALL.len());
        prop_assert!(finer.iter().all(|class| class.is_sorted()) && finer.is_sorted());
    }

    #[test]
    fn no_machine_makes_a_report_fail(cpus in wild(), schedulers in 1usize..60) {
        let report = map_report(&machine(&cpus), Some(schedulers), None).unwrap();
        for finding in &report.advice {
            prop_assert!(!finding.cause.is_empty() && finding.cause.len() < 300);
            let gain = finding.expected_gain.as_deref();
            prop_assert!(gain.is_none_or(|gain| gain.contains("not known before it is measured")));
        }
    }
}

#[test]
fn cpus_beyond_the_vms_affinity_mask_are_not_bound() {
    let machine = machine(&sockets(1, 1100, 1));
    let bound = bindings(&machine, BindType::Ts, 1100, &all_cpus(&machine));
    assert_eq!(bound[1023], Some(1023));
    assert_eq!(bound[1024], None);
}

#[test]
fn the_default_is_one_scheduler_for_each_usable_cpu_or_the_whole_quota() {
    let mut cpus = sockets(1, 8, 1);
    cpus[7].online = false;
    let machine = machine(&cpus);
    assert_eq!(default_schedulers(&machine, &all_cpus(&machine)), 7);
    assert_eq!(default_schedulers(&machine, &list("0-2,7")), 3);
    for (quota, expected) in [(2.9, 2), (0.5, 1), (16.0, 7)] {
        let machine = with_quota(machine.clone(), quota, None);
        assert_eq!(default_schedulers(&machine, &all_cpus(&machine)), expected);
    }
}

// +sct

/// Reads `+sct` text as the VM's documentation describes it.
fn read_sct(text: &str) -> Vec<ErtsCpu> {
    let numbers = |text: &str| -> Vec<i32> {
        text.split(',')
            .flat_map(|part| {
                let (low, high) = part.split_once('-').unwrap_or((part, part));
                low.parse::<i32>().unwrap()..=high.parse().unwrap()
            })
            .collect()
    };
    let mut cpus = Vec::new();
    for entry in text.split(':') {
        let letters: Vec<_> = entry.match_indices(char::is_alphabetic).collect();
        let order: String = letters.iter().map(|&(_, letter)| letter).collect();
        assert!(
            ["Ltcp", "LtcpN", "Ltcnp"].contains(&order.as_str()),
            "{order}"
        );
        let field = |letter: &str| {
            let at = letters.iter().position(|&(_, l)| l == letter)?;
            let end = letters.get(at + 1).map_or(entry.len(), |&(end, _)| end);
            Some(numbers(&entry[letters[at].0 + 1..end]))
        };
        let logical = field("L").unwrap();
        for (i, &cpu) in logical.iter().enumerate() {
            let id = |letter| {
                field(letter).map_or(-1, |ids| match ids.as_slice() {
                    [one] => *one,
                    all => {
                        assert_eq!(all.len(), logical.len());
                        all[i]
                    }
                })
            };
            cpus.push(ErtsCpu {
                node: id("N"),
                processor: id("p"),
                processor_node: id("n"),
                core: id("c"),
                thread: id("t"),
                logical: cpu,
            });
        }
    }
    cpus.sort_unstable();
    cpus
}

proptest! {
    #[test]
    fn the_sct_text_reads_back_as_the_view(cpus in prop_oneof![regular(), wild()]) {
        let machine = machine(&cpus);
        let mut view = erts_view(&machine).unwrap();
        view.sort_unstable();
        prop_assert_eq!(read_sct(&sct(&machine).unwrap()), view);
    }
}

#[test]
fn the_sct_text_is_short_and_has_the_kernels_ids() {
    assert_eq!(
        sct(&machine(&sockets(2, 22, 2))).unwrap(),
        "L0-21t0c0-21p0N0:L44-65t1c0-21p0N0:L22-43t0c0-21p1N1:L66-87t1c0-21p1N1"
    );
    assert_eq!(
        sct(&machine(&[Cpu::new(3, 2, None, 7)])).unwrap(),
        "L3t0c7p2"
    );
}

// Errors

#[test]
fn impossible_requests_are_refused_with_what_to_do() {
    let machine = machine(&sockets(1, 4, 1));
    let error = |schedulers, cpus: Option<&str>| {
        map_report(&machine, schedulers, cpus.map(list))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(Some(0), None),
        "0 schedulers cannot run anything: ask for 1 to 1024 with --schedulers"
    );
    assert_eq!(
        error(Some(1025), None),
        "1025 schedulers are more than a VM accepts: ask for 1 to 1024 with --schedulers"
    );
    assert_eq!(
        error(None, Some("2-5,9")),
        "CPUs 4-5,9 are not on this machine: it has CPUs 0-3; name some of these with --cpuset"
    );
    assert_eq!(
        error(None, Some("")),
        "the CPU list is empty: give at least one of CPUs 0-3 with --cpuset"
    );
}

#[test]
fn offline_cpus_are_left_out_of_the_cpuset() {
    let mut cpus = sockets(1, 4, 1);
    cpus[3].online = false;
    let machine = machine(&cpus);
    let report = map_report(&machine, None, Some(list("2-3"))).unwrap();
    assert_eq!((report.cpuset, report.schedulers), (list("2"), 1));
    assert_eq!(
        map_report(&machine, None, Some(list("3"))),
        Err(PlacementError::AllOffline {
            asked: list("3"),
            online: list("0-2")
        })
    );
}

#[test]
fn a_machine_without_cpus_is_refused() {
    let machine = machine(&[]);
    assert_eq!(
        map_report(&machine, None, None),
        Err(PlacementError::NoUsableCpu)
    );
}

#[test]
fn a_machine_of_1024_cpus_is_mapped() {
    let report = map_report(&machine(&sockets(8, 64, 2)), None, None).unwrap();
    assert_eq!(report.bindings[&BindType::Db].len(), 1024);
    assert_eq!(report.bindings[&BindType::Db].last(), Some(&Some(1023)));
}

// Advice

#[test]
fn on_one_cpu_there_is_nothing_to_place() {
    assert_eq!(
        ids(&report(&machine(&sockets(1, 1, 1)), 1)),
        ["bind.one-cpu"]
    );
}

#[test]
fn one_plain_socket_gets_no_numa_or_smt_advice() {
    assert_eq!(
        ids(&report(&machine(&sockets(1, 4, 1)), 4)),
        [
            "bind.one-domain",
            "bind.same-placement",
            "bind.dirty-unbound"
        ]
    );
}

#[test]
fn two_sockets_are_told_which_bind_types_fill_and_which_alternate() {
    let report = report(&machine(&sockets(2, 22, 2)), 22);
    let numa = finding(&report, "bind.unbound-numa");
    assert!(
        numa.evidence
            .contains(&"ps = s: 11 on node 0, 11 on node 1".to_owned())
    );
    let unused = finding(&report, "bind.part-unused");
    assert!(unused.evidence.contains(&"ns: nobody on node 1".to_owned()));
    let sharing = finding(&report, "bind.sharing-core");
    assert_eq!(
        sharing.evidence,
        ["ns: 11 cores with two or more of 22 schedulers, 33 cores with none"]
    );
    let same = finding(&report, "bind.same-placement");
    assert!(same.evidence[0].starts_with("ts = nnts = nnps = tnnps = db"));
}

#[test]
fn as_many_schedulers_as_cpus_share_cores_under_every_bind_type() {
    let report = report(&machine(&sockets(2, 6, 2)), 24);
    let ids = ids(&report);
    assert!(ids.contains(&"smt.oversubscribed") && !ids.contains(&"bind.sharing-core"));
    assert!(!ids.contains(&"bind.part-unused") && !ids.contains(&"bind.overlap"));
    assert!(
        finding(&report, "bind.same-cpus").evidence[0]
            .ends_with("ns | ts = tnnps = db | ps = s | nnts = nnps")
    );
}

#[test]
fn chiplets_are_offered_as_nodes() {
    let report = report(&machine(&chiplets(4, 4)), 4);
    let caches = finding(&report, "topology.l3-invisible");
    assert!(
        caches.fix.as_ref().unwrap().contains(
            "+sct L0-3t0c0-3n0p0:L4-7t0c4-7n1p0:L8-11t0c8-11n2p0:L12-15t0c12-15n3p0 +sbt s"
        )
    );
    assert!(caches.evidence.contains(
        &"of 4 schedulers, one for each cache, no bind type brings more than 1 into caches of their own"
            .to_owned()
    ));
}

#[test]
fn chiplets_that_are_numa_nodes_need_no_remedy() {
    let mut cpus = chiplets(4, 4);
    for cpu in &mut cpus {
        cpu.node = Some(cpu.l3);
    }
    assert!(!ids(&report(&machine(&cpus), 4)).contains(&"topology.l3-invisible"));
}

#[test]
fn quotas_are_read_as_the_vm_reads_them() {
    let eight = machine(&sockets(1, 8, 1));
    let ids_of = |quota, seen, schedulers| {
        let report = report(&with_quota(eight.clone(), quota, seen), schedulers);
        let quota = |id: &&str| id.starts_with("quota.");
        let ids = ids(&report).into_iter().filter(quota);
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids_of(2.9, Some(2), 2), ["quota.floored"]);
    assert_eq!(
        ids_of(2.9, None, 3),
        ["quota.floored", "quota.throttled", "quota.nested"]
    );
    assert_eq!(ids_of(0.5, Some(1), 1), ["quota.throttled"]);
    assert_eq!(ids_of(4.0, Some(4), 4), [] as [&str; 0]);
    assert_eq!(ids_of(8.0, None, 8), [] as [&str; 0]);
}

#[test]
fn half_cores_in_the_cpuset_are_pointed_out() {
    let machine = machine(&sockets(1, 4, 2));
    let report = map_report(&machine, None, Some(list("0-3"))).unwrap();
    let partial = finding(&report, "cpuset.partial");
    assert!(partial.evidence[1].starts_with("CPUs 0-3 share their cores with CPUs outside"));
    let whole = map_report(&machine, None, Some(list("0-1,4-5"))).unwrap();
    let partial = finding(&whole, "cpuset.partial");
    assert!(
        partial
            .evidence
            .iter()
            .all(|line| !line.contains("share their cores"))
    );
}

#[test]
fn surplus_schedulers_are_named() {
    let report = report(&machine(&sockets(1, 2, 1)), 4);
    assert!(
        finding(&report, "bind.surplus")
            .cause
            .starts_with("2 of 4 schedulers stay unbound")
    );
}

#[test]
fn without_a_topology_nothing_is_bound_and_the_reason_is_said() {
    let mut cpus = sockets(1, 4, 1);
    cpus[2].node = None;
    let mut this = machine(&cpus);
    this.source = MachineSource::Live;
    let report = report(&this, 4);
    assert_eq!(report.sct, None);
    assert_eq!(report.classes, [BindType::ALL]);
    assert!(report.reach.iter().all(|reach| !reach.bound));
    assert_eq!(ids(&report), ["bind.ignored"]);
    let evidence = &finding(&report, "bind.ignored").evidence;
    assert!(evidence[0].starts_with("online CPUs 2 are in no NUMA node"));
}

#[test]
fn nodes_that_a_recorded_description_leaves_out_do_not_hide_the_topology() {
    let mut cpus = sockets(3, 2, 2);
    let complete = machine(&cpus);
    for cpu in cpus.iter_mut().filter(|cpu| cpu.package == 1) {
        cpu.node = None;
    }
    let recorded = machine(&cpus);
    for bind in BindType::ALL {
        assert_eq!(order(&recorded, bind), order(&complete, bind));
    }
}

#[test]
fn cores_that_the_vm_confuses_are_told_apart_by_the_sct_of_the_fix() {
    let mut this = machine(&sockets(1, 4, 1));
    for core in &mut this.cores {
        core.os_index %= 2;
    }
    let report = report(&this, 2);
    // What looks like threads of one core are two cores.
    assert_eq!(report.bindings[&BindType::Ns], [Some(0), Some(2)]);
    let fix = finding(&report, "topology.core-ids-repeat")
        .fix
        .as_ref()
        .unwrap();
    assert!(fix.ends_with("`+sct L0-3t0c0-3p0N0`"), "{fix}");
}

#[test]
fn unusual_parts_are_named() {
    let mut cpus = sockets(2, 4, 1);
    for cpu in &mut cpus {
        cpu.kind = if cpu.core < 2 {
            CoreKind::Performance
        } else {
            CoreKind::Efficiency
        };
    }
    cpus[7].online = false;
    let mut this = machine(&cpus);
    this.numa_nodes[1].memory_bytes = 0;
    this.numa_nodes.push(NumaNode {
        os_index: 5,
        memory_bytes: 1 << 34,
        cpus: Default::default(),
        distances: Vec::new(),
    });
    let report = report(&this, 4);
    let hybrid = finding(&report, "topology.hybrid");
    assert!(hybrid.fix.as_ref().unwrap().contains("taskset -c 0-1,4-5"));
    assert!(
        finding(&report, "topology.memory-only-node")
            .cause
            .starts_with("node 5 holds")
    );
    assert!(
        finding(&report, "topology.memoryless-node")
            .cause
            .starts_with("node 1 has")
    );
    assert!(finding(&report, "topology.offline-cpus").evidence[0].starts_with("CPUs 7 are"));
}

#[test]
fn packages_without_numa_information_are_named() {
    let mut cpus = sockets(2, 4, 1);
    for cpu in &mut cpus {
        cpu.node = None;
    }
    let report = report(&machine(&cpus), 4);
    let packages = finding(&report, "topology.packages-without-nodes");
    assert!(
        packages
            .evidence
            .contains(&"ns = ts = nnts: 4 on package 0, 0 on package 1".to_owned())
    );
}
