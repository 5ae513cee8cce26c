//! The drawing: boxes for the outermost parts, `[0 44]` for a core with the CPU numbers of its
//! hardware threads.

use std::collections::BTreeMap;

use plimsoll_schema::{CpuSet, Machine};

use super::layout::{Page, columns_of, wrap};
use crate::shape::{self, Part, cpu_list, runs_of};
use crate::words;

/// Up to so many CPUs each core is drawn; above, identical parts are counted.
const DRAW_EVERY_CORE: usize = 256;

/// Identical parts that are listed one by one before the rest is summed up.
const LISTED: usize = 16;

/// Draws `machine` on `page`.
pub fn draw(page: &mut Page, machine: &Machine) {
    let (parts, loose) = shape::parts(machine);
    let cells = Cells::of(machine);
    if parts.is_empty() && !machine.cores.is_empty() {
        // Neither packages nor nodes nor caches are known: the cores are all there is.
        let all: Vec<usize> = (0..machine.cores.len()).collect();
        frame(
            page,
            "machine",
            &cores(&cells, machine, &all, "", page.width() - 4),
        );
    } else if machine.pus.len() <= DRAW_EVERY_CORE {
        for part in &parts {
            let inside = contents(&cells, machine, part, 0, page.width() - 4);
            frame(page, &part.label(machine), &inside);
        }
    } else {
        for (_, alike) in runs_of(&parts, |p| p.shape(machine)) {
            summary(page, machine, &alike);
        }
    }
    for node in machine.numa_nodes.iter().filter(|n| n.cpus.is_empty()) {
        page.body(&format!(
            "node {} · {} · no CPUs",
            node.os_index,
            shape::memory(node.memory_bytes)
        ));
    }
    if !loose.is_empty() {
        page.body(&format!(
            "offline, core unknown: CPU {}",
            cpu_list(&loose, 8)
        ));
    }
    legend(page, machine, &cells);
}

fn legend(page: &mut Page, machine: &Machine, cells: &Cells) {
    let mut words = Vec::new();
    if machine.pus.len() <= DRAW_EVERY_CORE {
        words.push("[ ] = one core with its CPU numbers".to_owned());
    }
    for (mark, meaning, _) in MARKS {
        let set = cells.marked(mark);
        if !set.is_empty() {
            words.push(format!("{mark} = {meaning} ({})", cpu_list(&set, 6)));
        }
    }
    if machine
        .cores
        .iter()
        .any(|c| !words::core_kind(c.kind).is_empty())
    {
        words.push("P = performance core, E = efficiency core".to_owned());
    }
    if !words.is_empty() {
        page.body(&words.join(" · "));
    }
}

/// A test of a CPU's state: whether it is online, whether it is allowed.
type State = fn(bool, bool) -> bool;

const MARKS: [(char, &str, State); 2] = [
    ('×', "offline", |online, _| !online),
    ('-', "not allowed here", |online, allowed| {
        online && !allowed
    }),
];

/// How CPUs are written inside a core.
struct Cells {
    marks: BTreeMap<u32, char>,
    digits: usize,
}

impl Cells {
    fn of(machine: &Machine) -> Self {
        let marks = machine
            .pus
            .iter()
            .filter_map(|pu| {
                let (mark, ..) = MARKS.iter().find(|(_, _, is)| is(pu.online, pu.allowed))?;
                Some((pu.os_index, *mark))
            })
            .collect();
        let highest = machine.pus.iter().map(|pu| pu.os_index).max().unwrap_or(0);
        Self {
            marks,
            digits: highest.to_string().len(),
        }
    }

    fn marked(&self, mark: char) -> CpuSet {
        let cpus = self.marks.iter().filter(|(_, m)| **m == mark);
        cpus.map(|(cpu, _)| *cpu).collect()
    }

    fn cpu(&self, cpu: u32) -> String {
        let number = format!("{cpu:>width$}", width = self.digits);
        match self.marks.get(&cpu) {
            Some(mark) => format!("{number}{mark}"),
            None if self.marks.is_empty() => number,
            None => format!("{number} "),
        }
    }
}

/// The cores as cells, wrapped; `label` stands before the first line.
fn cores(
    cells: &Cells,
    machine: &Machine,
    indices: &[usize],
    label: &str,
    width: usize,
) -> Vec<String> {
    let cell = |&core: &usize| {
        let core = &machine.cores[core];
        let cpus: Vec<String> = core.cpus.iter().map(|cpu| cells.cpu(cpu)).collect();
        // No-break spaces hold a cell together while lines are filled.
        let cpus = cpus.join(" ").replace(' ', "\u{a0}");
        format!("{}[{cpus}]", words::core_kind(core.kind))
    };
    let text: Vec<String> = indices.iter().map(cell).collect();
    let first = if label.is_empty() {
        String::new()
    } else {
        format!("{label}  ")
    };
    let rest = " ".repeat(columns_of(&first));
    wrap(&text.join(" "), &first, &rest, width)
        .into_iter()
        .map(|line| line.replace('\u{a0}', " "))
        .collect()
}

/// What is inside a part's frame.
fn contents(
    cells: &Cells,
    machine: &Machine,
    part: &Part,
    depth: usize,
    width: usize,
) -> Vec<String> {
    let indent = "  ".repeat(depth);
    if part.parts.is_empty() {
        return cores(cells, machine, &part.cores, "", width);
    }
    let mut lines = Vec::new();
    for inner in &part.parts {
        let label = format!("{indent}{}", inner.label(machine));
        if inner.parts.is_empty() && columns_of(&label) + 16 < width {
            lines.extend(cores(cells, machine, &inner.cores, &label, width));
        } else {
            lines.extend(wrap(&label, "", &indent, width));
            let deeper = format!("{indent}  ");
            for line in contents(cells, machine, inner, depth + 1, width - 2) {
                lines.push(if inner.parts.is_empty() {
                    format!("{deeper}{line}")
                } else {
                    line
                });
            }
        }
    }
    lines
}

/// Identical parts of a large machine: one description, then who is who.
fn summary(page: &mut Page, machine: &Machine, alike: &[&Part]) {
    let width = page.width() - 4;
    let first = alike[0];
    let mut title = first.kind(machine);
    if alike.len() > 1 {
        title = format!("{} × {title}", alike.len());
    }
    let mut lines = tree(machine, first, 0, width);
    for part in alike.iter().take(LISTED) {
        let name = part.label(machine);
        let name = name.split(" · ").next().unwrap_or_default();
        let text = format!("CPU {}", cpu_list(&part.cpus(machine), 6));
        lines.extend(wrap(&text, &format!("{name}: "), "    ", width));
    }
    if alike.len() > LISTED {
        lines.push(format!("… and {} more like them", alike.len() - LISTED));
    }
    frame(page, &title, &lines);
}

/// What one part consists of, identical parts counted.
fn tree(machine: &Machine, part: &Part, depth: usize, width: usize) -> Vec<String> {
    let indent = format!("{}└ ", "  ".repeat(depth));
    let rest = "  ".repeat(depth + 1);
    if part.parts.is_empty() {
        let text = shape::cores_in_words(machine, &part.cores);
        return wrap(&text, &indent, &rest, width);
    }
    let mut lines = Vec::new();
    for (_, alike) in runs_of(&part.parts, |p| p.shape(machine)) {
        let text = format!("{} × {}", alike.len(), alike[0].kind(machine));
        lines.extend(wrap(&text, &indent, &rest, width));
        lines.extend(tree(machine, alike[0], depth + 1, width));
    }
    lines
}

/// A box with a title, as wide as the page.
fn frame(page: &mut Page, title: &str, lines: &[String]) {
    let inner = page.width() - 4;
    let mut titles = wrap(title, "", "", inner - 2);
    let top = titles.remove(0);
    let rule = "─".repeat(inner.saturating_sub(columns_of(&top) + 1));
    page.line(&format!("┌ {top} {rule}─┐"));
    for line in titles.iter().chain(lines) {
        let pad = " ".repeat(inner.saturating_sub(columns_of(line)));
        page.line(&format!("│ {line}{pad} │"));
    }
    page.line(&format!("└{}┘", "─".repeat(inner + 2)));
}
