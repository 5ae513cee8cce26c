use std::collections::BTreeMap;

use plimsoll_schema::{BindType, CpuSet, Machine, MapReport};

use crate::advice::advice;
use crate::binding::{bindings, default_schedulers, reach};
use crate::classes::classes;
use crate::sct::sct;

/// The most schedulers that a VM starts (`ERTS_MAX_NO_OF_SCHEDULERS`).
pub const MAX_SCHEDULERS: usize = 1024;

/// Why no placement can be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// A VM has at least one scheduler.
    #[error("0 schedulers cannot run anything: ask for 1 to {MAX_SCHEDULERS} with --schedulers")]
    NoSchedulers,
    /// More schedulers than the VM accepts.
    #[error(
        "{0} schedulers are more than a VM accepts: ask for 1 to {MAX_SCHEDULERS} with --schedulers"
    )]
    TooManySchedulers(usize),
    /// The CPU list was empty.
    #[error("the CPU list is empty: give at least one of CPUs {machine} with --cpuset")]
    EmptyCpuset {
        /// The machine's CPUs.
        machine: CpuSet,
    },
    /// The CPU list names CPUs that do not exist.
    #[error(
        "CPUs {missing} are not on this machine: it has CPUs {machine}; name some of these with --cpuset"
    )]
    NotOnMachine {
        /// The CPUs asked for that do not exist.
        missing: CpuSet,
        /// The machine's CPUs.
        machine: CpuSet,
    },
    /// Every CPU of the list is offline.
    #[error("CPUs {asked} are offline: name some of the online CPUs {online} with --cpuset")]
    AllOffline {
        /// The CPUs asked for.
        asked: CpuSet,
        /// The machine's online CPUs.
        online: CpuSet,
    },
    /// The machine has no CPU that can be used.
    #[error(
        "the machine description has no online CPU that may be used: describe another with --xml or --synthetic"
    )]
    NoUsableCpu,
}

/// Where every scheduler lands under every bind type, and what follows from it.
///
/// Without `cpuset` the VM may use every CPU that this process may use (on another machine: every
/// online one); offline CPUs in the list are left out. Without `schedulers` there are as many as a
/// VM puts online by default ([`default_schedulers`]).
///
/// # Errors
/// No or too many schedulers; a list of CPUs that is empty, offline or not on the machine; a machine
/// without a usable CPU.
pub fn map_report(
    machine: &Machine,
    schedulers: Option<usize>,
    cpuset: Option<CpuSet>,
) -> Result<MapReport, PlacementError> {
    let cpuset = match cpuset {
        Some(asked) => usable(machine, asked)?,
        None => default_cpuset(machine)?,
    };
    let schedulers = schedulers.unwrap_or_else(|| {
        // More would stop the VM from starting; the user then has to give +S.
        default_schedulers(machine, &cpuset).min(MAX_SCHEDULERS)
    });
    match schedulers {
        0 => return Err(PlacementError::NoSchedulers),
        1..=MAX_SCHEDULERS => {}
        _ => return Err(PlacementError::TooManySchedulers(schedulers)),
    }
    let bindings: BTreeMap<_, _> = BindType::ALL
        .into_iter()
        .map(|bind| (bind, bindings(machine, bind, schedulers, &cpuset)))
        .collect();
    let classes = classes(&bindings);
    Ok(MapReport {
        schema: MapReport::SCHEMA.to_owned(),
        machine: machine.clone(),
        schedulers,
        advice: advice(machine, schedulers, &cpuset, &classes),
        cpuset,
        bindings,
        classes,
        reach: reach(machine, schedulers),
        sct: sct(machine),
    })
}

fn usable(machine: &Machine, asked: CpuSet) -> Result<CpuSet, PlacementError> {
    let all: CpuSet = machine.pus.iter().map(|pu| pu.os_index).collect();
    if asked.is_empty() {
        return Err(PlacementError::EmptyCpuset { machine: all });
    }
    let missing = asked.difference(&all);
    if !missing.is_empty() {
        return Err(PlacementError::NotOnMachine {
            missing,
            machine: all,
        });
    }
    let online = online(machine);
    let usable = asked.intersection(&online);
    if usable.is_empty() {
        return Err(PlacementError::AllOffline { asked, online });
    }
    Ok(usable)
}

fn online(machine: &Machine) -> CpuSet {
    let pus = machine.pus.iter();
    pus.filter(|pu| pu.online).map(|pu| pu.os_index).collect()
}

fn default_cpuset(machine: &Machine) -> Result<CpuSet, PlacementError> {
    let allowed: CpuSet = machine
        .pus
        .iter()
        .filter(|pu| pu.online && pu.allowed)
        .map(|pu| pu.os_index)
        .collect();
    if allowed.is_empty() {
        return Err(PlacementError::NoUsableCpu);
    }
    Ok(allowed)
}
