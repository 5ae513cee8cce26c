use plimsoll_schema::{Finding, KernelSettings, Limits, Machine, MapReport};

use super::layout::{Align, Page};
use super::machine;
use crate::number::{NOT_AVAILABLE, fixed, percent};
use crate::shape::cpu_list;
use crate::words;

/// Above so many NUMA nodes distances are summed up instead of printed as a matrix.
const MATRIX_NODES: usize = 8;

/// The machine as a drawing, its kernel settings and limits, where each bind type puts the
/// schedulers, what binding does not reach, and the advice that follows. No line is wider than
/// `width` columns (at least 40); no colour.
pub fn map_text(report: &MapReport, width: usize) -> String {
    let mut page = Page::new(width);
    let m = &report.machine;
    let model = m.cpu_model.as_deref().unwrap_or("CPU model unknown");
    page.heading(&format!("{} ({})", model, words::source(m)));
    page.body(&words::parts(m));
    machine::draw(&mut page, m);
    distances(&mut page, m);
    if let Some(kernel) = &m.kernel {
        kernel_settings(&mut page, kernel);
    }
    if let Some(limits) = &m.limits {
        limits_of(&mut page, limits);
    }
    bindings(&mut page, report);
    reach(&mut page, report);
    if !report.advice.is_empty() {
        page.heading("Advice");
        for finding in &report.advice {
            advice(&mut page, finding);
        }
    }
    page.finish()
}

fn distances(page: &mut Page, m: &Machine) {
    let nodes = &m.numa_nodes;
    if nodes.len() < 2 || nodes.iter().all(|n| n.distances.is_empty()) {
        return;
    }
    page.heading("Memory distance (10 = local)");
    if nodes.len() <= MATRIX_NODES {
        let names: Vec<String> = nodes
            .iter()
            .map(|n| format!("node {}", n.os_index))
            .collect();
        let mut columns = vec![("from", Align::Left)];
        columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
        let rows: Vec<Vec<String>> = nodes
            .iter()
            .zip(&names)
            .map(|(node, name)| {
                let mut row = vec![name.clone()];
                row.extend((0..nodes.len()).map(|i| {
                    let d = node.distances.get(i);
                    d.map_or("?".to_owned(), u64::to_string)
                }));
                row
            })
            .collect();
        page.table(&columns, &rows);
    } else {
        let mut values: Vec<u64> = nodes.iter().flat_map(|n| n.distances.clone()).collect();
        values.sort_unstable();
        values.dedup();
        let words: Vec<String> = values.iter().map(u64::to_string).collect();
        page.body(&format!("values between nodes: {}", words.join(", ")));
    }
}

fn kernel_settings(page: &mut Page, k: &KernelSettings) {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| NOT_AVAILABLE.to_owned());
    let rows = [
        ("Linux", text(&k.release)),
        (
            "frequency governor",
            text(&k.governors.as_ref().map(|g| g.join(", "))),
        ),
        ("transparent huge pages", text(&k.transparent_huge_pages)),
        (
            "automatic NUMA balancing",
            match k.numa_balancing {
                None => NOT_AVAILABLE.to_owned(),
                Some(0) => "off".to_owned(),
                Some(n) => format!("on ({n})"),
            },
        ),
        ("SMT", text(&k.smt_control)),
        (
            "stolen by the hypervisor",
            k.steal.as_ref().map_or(NOT_AVAILABLE.to_owned(), |s| {
                format!("{} of CPU time since boot", percent(s.since_boot))
            }),
        ),
    ];
    page.heading("Kernel");
    page.pairs(&rows);
}

fn limits_of(page: &mut Page, l: &Limits) {
    let cpus = |n: Option<f64>| {
        n.map_or("none".to_owned(), |n| {
            format!("{} CPUs", fixed(n, usize::from(n.fract() != 0.0)))
        })
    };
    let mut rows = vec![
        ("affinity", format!("CPU {}", cpu_list(&l.affinity, 8))),
        ("CPU quota", cpus(l.quota_cpus)),
        (
            "cpuset",
            l.cpuset
                .as_ref()
                .map_or("none".to_owned(), |set| format!("CPU {}", cpu_list(set, 8))),
        ),
    ];
    if l.quota_cpus.is_some() {
        rows.push((
            "quota that older VMs see",
            l.quota_seen_by_old_vm.map_or(
                "none: it is set in a nested group, and they start too many schedulers".to_owned(),
                |n| format!("{n} CPUs"),
            ),
        ));
    }
    for group in &l.groups {
        let mut words = Vec::new();
        if let Some(quota) = group.quota_cpus {
            words.push(format!("quota {}", cpus(Some(quota))));
        }
        if let Some(set) = &group.cpuset {
            words.push(format!("CPU {}", cpu_list(set, 6)));
        }
        rows.push((
            "set by cgroup",
            format!("{} ({})", group.path, words.join(", ")),
        ));
    }
    page.heading("Limits");
    page.pairs(&rows);
}

fn bindings(page: &mut Page, report: &MapReport) {
    if report.bindings.is_empty() {
        return;
    }
    page.heading(&format!(
        "Where +sbt puts {} schedulers on CPU {}",
        report.schedulers,
        cpu_list(&report.cpuset, 4)
    ));
    // Classes are the computed result; a bind type in none of them still has its own line.
    let mut classes = report.classes.clone();
    for bind in report.bindings.keys() {
        if !classes.iter().flatten().any(|b| b == bind) {
            classes.push(vec![*bind]);
        }
    }
    let rows: Vec<Vec<String>> = classes
        .iter()
        .filter_map(|class| {
            let cpus = report.bindings.get(class.first()?)?;
            let names: Vec<&str> = class.iter().map(|b| b.flag()).collect();
            Some(vec![names.join(" = "), first_cpus(cpus)])
        })
        .collect();
    page.table(
        &[
            ("bind type", Align::Left),
            ("CPU of scheduler 1, 2, 3, …", Align::Left),
        ],
        &rows,
    );
    let same: Vec<String> = rows
        .into_iter()
        .filter_map(|mut row| Some(row.swap_remove(0)).filter(|names| names.contains('=')))
        .collect();
    if !same.is_empty() {
        page.item(&format!(
            "{}: one placement{}, CPU for CPU; a measured difference between them is noise",
            same.join("; "),
            if same.len() > 1 { " each" } else { "" }
        ));
    }
}

/// The first CPUs of a binding, as many as one line of a table holds.
fn first_cpus(cpus: &[Option<u32>]) -> String {
    const SHOWN: usize = 16;
    if cpus.iter().all(Option::is_none) {
        return "unbound: the kernel moves them".to_owned();
    }
    let words: Vec<String> = cpus
        .iter()
        .take(SHOWN)
        .map(|cpu| cpu.map_or("–".to_owned(), |cpu| cpu.to_string()))
        .collect();
    let unbound = cpus.iter().filter(|cpu| cpu.is_none()).count();
    let mut text = words.join(" ");
    if cpus.len() > SHOWN {
        text += " …";
    }
    if unbound > 0 {
        text += &format!(" ({unbound} stay unbound)");
    }
    text
}

fn reach(page: &mut Page, report: &MapReport) {
    if report.reach.is_empty() {
        return;
    }
    page.heading("Which threads +sbt places");
    let rows: Vec<Vec<String>> = report
        .reach
        .iter()
        .map(|r| {
            vec![
                words::threads(r.threads).to_owned(),
                r.count.map_or("any".to_owned(), |n| n.to_string()),
                if r.bound { "placed" } else { "NOT placed" }.to_owned(),
                words::threads_role(r.threads).to_owned(),
            ]
        })
        .collect();
    page.table(
        &[
            ("threads", Align::Left),
            ("number", Align::Right),
            ("by +sbt", Align::Left),
            ("what runs there", Align::Left),
        ],
        &rows,
    );
}

/// A finding: cause, evidence, what to do.
pub fn advice(page: &mut Page, f: &Finding) {
    page.item(&f.cause);
    for fact in &f.evidence {
        page.paragraph(fact, "      ", "      ");
    }
    if let Some(fix) = &f.fix {
        page.paragraph(fix, "    → ", "      ");
    }
    let mut last = words::confidence(f.confidence).to_owned();
    if let Some(gain) = &f.expected_gain {
        last = format!("expected gain: {gain} ({last})");
    } else {
        last = format!("({last})");
    }
    page.paragraph(&last, "      ", "      ");
}
