//! Real bindings of real VMs on the machine that the tests run on.

mod common;

use std::process::Command;

use common::oracle::{output, without_flags};
use common::{Cpu, list, machine};
use plimsoll_placement::{bindings, default_schedulers, reach};
use plimsoll_schema::{BindType, CpuSet, Machine, ThreadType};

fn number(path: String) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// This machine, read from sysfs without the machine room's help.
fn this_machine() -> Machine {
    let system = "/sys/devices/system";
    let online = list(&std::fs::read_to_string(format!("{system}/cpu/online")).unwrap());
    let nodes: Vec<u32> = std::fs::read_dir(format!("{system}/node"))
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_prefix("node")?.parse().ok()
        })
        .collect();
    let cpus: Vec<_> = online
        .iter()
        .map(|os| {
            let topology = format!("{system}/cpu/cpu{os}/topology");
            let node = nodes.iter().find(|node| {
                std::path::Path::new(&format!("{system}/node/node{node}/cpu{os}")).exists()
            });
            Cpu::new(
                os,
                number(format!("{topology}/physical_package_id")).unwrap(),
                node.copied(),
                number(format!("{topology}/core_id")).unwrap(),
            )
        })
        .collect();
    machine(&cpus)
}

/// The affinity mask of this process.
fn affinity() -> CpuSet {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list(line.unwrap())
}

/// An `erl` confined to `mask` that evaluates `code`.
fn erl(mask: &CpuSet, flags: &[&str], code: &str) -> String {
    let mut command = Command::new("taskset");
    without_flags(&mut command);
    command.args(["-c", &mask.to_string(), "erl", "-noshell"]);
    command.args(flags).args(["-eval", code]);
    output(&mut command)
}

/// What the VM says of its schedulers. They bind themselves one by one after the start, so it is
/// asked until so many are bound (or two seconds have passed).
fn vm_bindings(mask: &CpuSet, flags: &[&str], bound: usize) -> Vec<Option<u32>> {
    let code = format!(
        "Ask = fun Ask(Left) ->
           Now = tuple_to_list(erlang:system_info(scheduler_bindings)),
           case length([C || C <- Now, is_integer(C)]) =:= {bound} orelse Left =:= 0 of
             true -> Now;
             false -> timer:sleep(20), Ask(Left - 1)
           end
         end,
         [io:format(\"~w \", [C]) || C <- Ask(100)], halt()."
    );
    erl(mask, flags, &code)
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect()
}

fn the_vm_binds_as_predicted(bind: BindType, schedulers: usize, mask: &CpuSet) {
    let predicted = bindings(&this_machine(), bind, schedulers, mask);
    let bound = predicted.iter().flatten().count();
    let s = schedulers.to_string();
    let flags = ["+S", &s, "+sbt", bind.flag()];
    assert_eq!(
        vm_bindings(mask, &flags, bound),
        predicted,
        "+S {schedulers} +sbt {bind} on CPUs {mask}"
    );
}

#[test]
fn every_bind_type_binds_as_predicted() {
    for bind in BindType::ALL {
        the_vm_binds_as_predicted(bind, affinity().len(), &affinity());
    }
}

#[test]
fn few_and_surplus_schedulers_bind_as_predicted() {
    for bind in [BindType::Ns, BindType::S, BindType::Db] {
        for schedulers in [1, 4] {
            the_vm_binds_as_predicted(bind, schedulers, &affinity());
        }
    }
}

#[test]
fn a_restricted_mask_is_respected_as_predicted() {
    let last: CpuSet = affinity().iter().last().into_iter().collect();
    for bind in [BindType::U, BindType::Ts, BindType::Ns] {
        for schedulers in [1, 2, 4] {
            the_vm_binds_as_predicted(bind, schedulers, &last);
        }
    }
}

#[test]
fn the_vm_puts_the_default_number_of_schedulers_online() {
    let mut this = this_machine();
    // A quota is read by the machine room, not here: what the VM sees of it is taken as given.
    let quota = erl(
        &affinity(),
        &[],
        "io:format(\"~w\", [erlang:system_info(schedulers_online)]), halt().",
    );
    this.limits = Some(plimsoll_schema::Limits {
        quota_cpus: quota.parse().ok(),
        ..Default::default()
    });
    let last: CpuSet = affinity().iter().last().into_iter().collect();
    for mask in [affinity(), last] {
        let online = erl(
            &mask,
            &[],
            "io:format(\"~w\", [erlang:system_info(schedulers_online)]), halt().",
        );
        assert_eq!(online, default_schedulers(&this, &mask).to_string());
    }
}

#[test]
fn the_vm_starts_the_threads_that_we_count() {
    let schedulers = 3;
    let code = "{ok, Tasks} = file:list_dir(\"/proc/self/task\"),
        [begin {ok, Name} = file:read_file([\"/proc/self/task/\", T, \"/comm\"]),
               io:put_chars(Name) end || T <- Tasks], halt().";
    let names = erl(&affinity(), &["+S", &schedulers.to_string()], code);
    // Names of OTP 25 and of OTP 26 and later.
    let patterns: [(ThreadType, [&str; 2]); 6] = [
        (ThreadType::Scheduler, ["_scheduler", "erts_sched_"]),
        (ThreadType::DirtyCpu, ["_dirty_cpu_sch", "erts_dcpus_"]),
        (ThreadType::DirtyIo, ["_dirty_io_sch", "erts_dios_"]),
        (ThreadType::Aux, ["_aux", "erts_aux"]),
        (ThreadType::Poll, ["_poller", "erts_poll"]),
        (ThreadType::Async, ["async_", "erts_async"]),
    ];
    let reach = reach(&this_machine(), schedulers);
    for (threads, names_of_it) in patterns {
        let seen = names
            .lines()
            .filter(|name| names_of_it.iter().any(|part| name.contains(part)))
            .count();
        let ours = reach.iter().find(|r| r.threads == threads).unwrap();
        assert_eq!(Some(seen), ours.count, "{threads:?} in {names}");
        assert_eq!(ours.bound, threads == ThreadType::Scheduler);
    }
}
