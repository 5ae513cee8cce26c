//! What quota, cpuset and offline CPUs leave of the machine.

use plimsoll_schema::{Confidence, CpuSet, Finding};

use super::site::Site;
use super::{certain, count};
use crate::binding::whole_quota;

/// A quota below the usable CPUs, in CPUs; a larger one changes nothing.
fn quota(site: &Site) -> Option<f64> {
    let quota = site.machine.limits.as_ref()?.quota_cpus?;
    (quota < site.cpus.len() as f64).then_some(quota)
}

/// A fractional quota is rounded down.
pub(super) fn quota_floored(site: &Site) -> Option<Finding> {
    let quota = quota(site)?;
    let whole = whole_quota(site.machine)?;
    if quota <= whole as f64 {
        return None;
    }
    Some(Finding {
        evidence: vec![format!(
            "quota {quota} CPUs, {} online by default",
            count(whole, "scheduler")
        )],
        fix: Some(format!(
            "`+S {0}` uses the rest but can be throttled; compare with `plimsoll bench --levels \
             {whole},{0}`, or make the quota a whole number",
            whole + 1
        )),
        ..certain(
            "quota.floored",
            format!(
                "the VM rounds the CPU quota down: {:.2} CPUs of it stay unused by normal schedulers",
                quota - whole as f64
            ),
        )
    })
}

/// More schedulers than the quota allows to run.
pub(super) fn quota_below_schedulers(site: &Site) -> Option<Finding> {
    let quota = quota(site)?;
    if site.schedulers as f64 <= quota {
        return None;
    }
    Some(Finding {
        evidence: vec![format!("quota {quota} CPUs, {}", site.count())],
        fix: Some(format!(
            "start with `+S {}`, or raise the quota to {} CPUs",
            whole_quota(site.machine)?,
            site.schedulers
        )),
        confidence: Confidence::Likely,
        ..certain(
            "quota.throttled",
            "the CPU quota is below the number of schedulers: under full load the kernel stops \
             all of them until the next period"
                .to_owned(),
        )
    })
}

/// A quota that older VMs do not see.
pub(super) fn quota_nested(site: &Site) -> Option<Finding> {
    let quota = quota(site)?;
    let limits = site.machine.limits.as_ref()?;
    let whole = whole_quota(site.machine)?;
    let seen = limits.quota_seen_by_old_vm.map(|seen| seen as usize);
    if seen == Some(whole) {
        return None;
    }
    let online = seen.map_or(site.cpus.len(), |seen| seen.min(site.cpus.len()));
    Some(Finding {
        evidence: vec![format!(
            "quota {quota} CPUs in this cgroup or one above it; at the root of the mount: {}",
            seen.map_or("none".to_owned(), |seen| format!("{seen} CPUs"))
        )],
        fix: Some(format!(
            "say the number yourself: `+S {whole}`, or use erts 13.2.2.9, a recent 14.2, or later"
        )),
        ..certain(
            "quota.nested",
            format!(
                "older VMs read the CPU quota at the root of the cgroup mount only: here they put \
                 {online} schedulers online instead of {whole}"
            ),
        )
    })
}

/// The VM may use part of the machine.
pub(super) fn part_of_the_machine(site: &Site) -> Option<Finding> {
    let pus = site.machine.pus.iter();
    let online: CpuSet = pus.filter(|pu| pu.online).map(|pu| pu.os_index).collect();
    let outside = online.difference(&site.cpus);
    if outside.is_empty() {
        return None;
    }
    let mut evidence = vec![format!("CPUs {} yes, {outside} no", site.cpus)];
    let half: CpuSet = site
        .machine
        .cores
        .iter()
        .filter(|core| !core.cpus.intersection(&outside).is_empty())
        .flat_map(|core| {
            core.cpus
                .intersection(&site.cpus)
                .iter()
                .collect::<Vec<_>>()
        })
        .collect();
    let fix = if half.is_empty() {
        format!(
            "nothing, if meant so; say the number of schedulers to save the idle ones: `+S {}`",
            site.schedulers
        )
    } else {
        evidence.push(format!(
            "CPUs {half} share their cores with CPUs outside: others' work slows them down"
        ));
        "give the VM whole cores".to_owned()
    };
    evidence.push(format!(
        "without `+S` the VM starts {} schedulers, one for each CPU of the machine; bind types \
         skip the CPUs outside",
        site.machine.pus.len()
    ));
    Some(Finding {
        evidence,
        fix: Some(fix),
        ..certain(
            "cpuset.partial",
            format!(
                "the VM may use {} of {}",
                site.cpus.len(),
                count(online.len(), "online CPU")
            ),
        )
    })
}

/// Offline CPUs count as configured.
pub(super) fn offline(site: &Site) -> Option<Finding> {
    let pus = site.machine.pus.iter();
    let offline: CpuSet = pus.filter(|pu| !pu.online).map(|pu| pu.os_index).collect();
    if offline.is_empty() {
        return None;
    }
    Some(Finding {
        evidence: vec![
            format!("CPUs {offline} are offline: no scheduler is ever bound to them"),
            format!(
                "without `+S` the VM starts {} schedulers",
                site.machine.pus.len()
            ),
        ],
        fix: Some(
            "bring them online, or leave them out on purpose (SMT switched off, power saved)"
                .to_owned(),
        ),
        ..certain(
            "topology.offline-cpus",
            format!(
                "{} offline; the VM counts them when it decides how many schedulers to start",
                if offline.len() == 1 {
                    "1 CPU is".to_owned()
                } else {
                    format!("{} CPUs are", offline.len())
                }
            ),
        )
    })
}
