use plimsoll_schema::{Arm, Experiment, MapReport, Run, ThreadType, VmFacts};

use super::{escape, section as titled};
use crate::number::count;
use crate::svg::{machine, mark};
use crate::{ThreadSpot, words};

/// The machine once for each arm, with the arm's threads on it.
pub fn section(e: &Experiment, map: Option<&MapReport>) -> String {
    let mut body = "<div class=\"machines\">\n".to_owned();
    for (i, arm) in e.arms.iter().enumerate() {
        body += &format!(
            "<figure class=\"machine-of\"><figcaption>{}<b>{}</b> <span>{}</span></figcaption>{}</figure>\n",
            mark::key(i),
            escape(&words::arm_names(arm)),
            escape(&honoured(e, arm)),
            machine::embedded(&e.machine, &spots(e, arm, map))
        );
    }
    body += "</div>\n";
    let parts = format!("{}.", words::parts(&e.machine));
    let lead = format!(
        "{} A filled square is a CPU that a scheduler is bound to: the CPU's number above, the \
         scheduler's below. What is listed as <i>anywhere</i> the kernel places as it likes.",
        escape(&parts)
    );
    titled("threads", "Where the threads sit", &lead, &body)
}

fn vms<'a>(e: &'a Experiment, arm: &'a Arm) -> impl Iterator<Item = &'a VmFacts> {
    let runs = e.runs.iter().filter(|r: &&Run| r.arm == arm.name);
    runs.filter_map(|r| r.vm.as_ref())
}

/// Where the arm's threads are: as read back from its VMs, else as predicted.
fn spots(e: &Experiment, arm: &Arm, map: Option<&MapReport>) -> Vec<ThreadSpot> {
    let Some(vm) = vms(e, arm).find(|vm| vm.schedulers > 0) else {
        let mut spots = ThreadSpot::schedulers(&arm.predicted);
        let reach = map.map(|m| m.reach.as_slice()).unwrap_or_default();
        // Without a VM in sight only a prediction says that there are schedulers at all.
        for r in reach
            .iter()
            .filter(|r| !arm.predicted.is_empty() && r.threads != ThreadType::Scheduler)
        {
            spots.extend(ThreadSpot::anywhere(r.threads, r.count.unwrap_or(0)));
        }
        return spots;
    };
    let mut spots = if vm.bindings.is_empty() {
        ThreadSpot::anywhere(ThreadType::Scheduler, vm.schedulers)
    } else {
        ThreadSpot::schedulers(&vm.bindings)
    };
    spots.extend(ThreadSpot::anywhere(ThreadType::DirtyCpu, vm.dirty_cpu));
    spots.extend(ThreadSpot::anywhere(ThreadType::DirtyIo, vm.dirty_io));
    spots
}

/// Whether the VMs did what was predicted.
fn honoured(e: &Experiment, arm: &Arm) -> String {
    let read = vms(e, arm).filter(|vm| !vm.bindings.is_empty()).count();
    if arm.predicted.is_empty() {
        return "no placement predicted".to_owned();
    }
    if read == 0 {
        return "as predicted; not read back".to_owned();
    }
    let differ = vms(e, arm)
        .filter(|vm| !vm.bindings.is_empty() && vm.bindings != arm.predicted)
        .count();
    if differ == 0 {
        format!("read back from {}: as predicted", count(read, "run"))
    } else {
        format!(
            "⚠ {differ} of {} did not place them as predicted",
            count(read, "run")
        )
    }
}
