//! Findings, settings, and how to repeat the experiment.

use plimsoll_schema::{Experiment, Finding};

use super::table::{command, definitions, list};
use super::{escape, prose, section as titled};
use crate::number::{NOT_AVAILABLE, fixed, percent, seconds};
use crate::words;

/// Causes with what shows them and what to do.
pub fn findings(e: &Experiment) -> String {
    if e.findings.is_empty() {
        return String::new();
    }
    let body: String = e.findings.iter().map(finding).collect();
    titled(
        "findings",
        "Findings",
        "",
        &format!("<div class=\"findings\">\n{body}</div>\n"),
    )
}

fn finding(f: &Finding) -> String {
    let mut out = format!("<article class=\"finding\"><h3>{}</h3>\n", prose(&f.cause));
    if !f.evidence.is_empty() {
        out += &list("evidence", f.evidence.iter().map(|fact| prose(fact)));
    }
    if let Some(fix) = &f.fix {
        out += &format!("<p><b>Do</b> {}</p>\n", prose(fix));
    }
    if let Some(gain) = &f.expected_gain {
        out += &format!("<p><b>Expected gain</b> {}</p>\n", prose(gain));
    }
    out + &format!(
        "<p class=\"meta\">{} · <code>{}</code></p></article>\n",
        words::confidence(f.confidence),
        escape(&f.id)
    )
}

/// Everything that was in force.
pub fn settings(e: &Experiment) -> String {
    let d = &e.design;
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| pairs.push((name.to_owned(), value));
    add("workload", d.workload.clone());
    if !d.command.is_empty() {
        add("command", d.command.join(" "));
    }
    for (name, value) in &d.env {
        add(&format!("env {name}"), value.clone());
    }
    if let Some(metric) = &d.metric {
        add("metric", metric.clone());
    }
    add(
        "window",
        format!("{} per run, warm-up included", seconds(d.window_seconds)),
    );
    if let Some(budget) = d.budget_seconds {
        add("budget", seconds(budget));
    }
    add(
        "blocks planned",
        d.blocks
            .map_or("as many as fit".to_owned(), |n| n.to_string()),
    );
    add(
        "error rate",
        format!("{} per experiment", percent(d.error_rate)),
    );
    add("seed", d.seed.to_string());
    for arm in &e.arms {
        let flags = if arm.vm_flags.is_empty() {
            "no flags".to_owned()
        } else {
            arm.vm_flags.join(" ")
        };
        add(&format!("arm {}", words::arm_names(arm)), flags);
    }
    if let Some(vm) = e.runs.iter().find_map(|r| r.vm.as_ref()) {
        add(
            "VM",
            format!(
                "OTP {}, erts {}, {}",
                vm.otp_release, vm.erts, vm.emulator_flavour
            ),
        );
        add(
            "schedulers",
            format!(
                "{} of {} online; dirty CPU {} of {}; dirty IO {}",
                vm.schedulers_online, vm.schedulers, vm.dirty_cpu_online, vm.dirty_cpu, vm.dirty_io
            ),
        );
    }
    let m = &e.machine;
    add(
        "CPU",
        m.cpu_model
            .clone()
            .unwrap_or_else(|| NOT_AVAILABLE.to_owned()),
    );
    add("machine", words::parts(m));
    if let Some(k) = &m.kernel {
        let or = |v: Option<String>| v.unwrap_or_else(|| NOT_AVAILABLE.to_owned());
        add("Linux", or(k.release.clone()));
        add("governor", or(k.governors.as_ref().map(|g| g.join(", "))));
        add(
            "transparent huge pages",
            or(k.transparent_huge_pages.clone()),
        );
        add(
            "automatic NUMA balancing",
            or(k.numa_balancing.map(|n| {
                if n == 0 {
                    "off".to_owned()
                } else {
                    format!("on ({n})")
                }
            })),
        );
        add("SMT", or(k.smt_control.clone()));
    }
    if let Some(l) = &m.limits {
        add("affinity", l.affinity.to_string());
        add(
            "CPU quota",
            l.quota_cpus
                .map_or("none".to_owned(), |q| format!("{} CPUs", fixed(q, 2))),
        );
    }
    for (name, value) in &e.settings {
        add(name, value.clone());
    }
    titled("settings", "Settings", "", &definitions(&pairs))
}

/// The command that repeats it.
pub fn reproduce(e: &Experiment) -> String {
    let stored = if e.id > 0 {
        format!(
            "<p>Every run is stored. The raw record, with nothing left out:</p>\n{}",
            command(&format!("plimsoll runs export {}", e.id))
        )
    } else {
        String::new()
    };
    titled(
        "reproduce",
        "How to repeat it",
        "One click selects the whole command.",
        &format!("{}{stored}", command(&e.reproduce)),
    )
}
