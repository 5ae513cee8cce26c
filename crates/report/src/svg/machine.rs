//! The machine as nested boxes, cores inside, threads where they sit.

use std::collections::BTreeMap;

use plimsoll_schema::{CoreKind, Machine, Pu, ThreadType};

use super::n;
use crate::html::escape;
use crate::shape::{self, Part, cpu_list};
use crate::{ThreadSpot, words};

/// Width of the drawing in its own units: that of a phone, where one unit is about one pixel.
const WIDTH: f64 = 360.0;
const PAD: f64 = 8.0;
const TITLE: f64 = 20.0;
const GAP: f64 = 6.0;

/// Above so many CPUs they are squares without numbers.
const NUMBERED: usize = 256;

/// Colours of the drawing. In a page the page's own variables win.
const STYLE: &str = include_str!("machine.css");

/// A file of its own.
pub fn standalone(machine: &Machine, threads: &[ThreadSpot]) -> String {
    let (body, height) = draw(machine, threads);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"machine alone\" viewBox=\"0 0 {WIDTH} {h}\" \
         style=\"max-width:56rem\" role=\"img\" aria-label=\"{label}\">\n<title>{label}</title>\n\
         <style>{STYLE}</style>\n{body}</svg>\n",
        h = n(height),
        label = escape(&label(machine, threads)),
    )
}

/// A part of a page that includes [`STYLE`] once.
pub fn embedded(machine: &Machine, threads: &[ThreadSpot]) -> String {
    let (body, height) = draw(machine, threads);
    format!(
        "<svg class=\"machine\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\">{body}</svg>",
        n(height),
        escape(&label(machine, threads)),
    )
}

/// The style that [`embedded`] needs.
pub fn style() -> &'static str {
    STYLE
}

fn label(machine: &Machine, threads: &[ThreadSpot]) -> String {
    let bound = threads.iter().filter(|t| t.cpu.is_some()).count();
    format!(
        "Drawing of the machine: {}; {bound} threads bound to a CPU, {} run anywhere",
        words::parts(machine),
        threads.len() - bound
    )
}

struct Drawing<'a> {
    machine: &'a Machine,
    pus: BTreeMap<u32, &'a Pu>,
    spots: BTreeMap<u32, Vec<&'a ThreadSpot>>,
    numbered: bool,
    out: String,
}

fn draw(machine: &Machine, threads: &[ThreadSpot]) -> (String, f64) {
    let mut spots: BTreeMap<u32, Vec<&ThreadSpot>> = BTreeMap::new();
    for spot in threads {
        if let Some(cpu) = spot.cpu {
            spots.entry(cpu).or_default().push(spot);
        }
    }
    let mut d = Drawing {
        machine,
        pus: machine.pus.iter().map(|pu| (pu.os_index, pu)).collect(),
        spots,
        numbered: machine.pus.len() <= NUMBERED,
        out: String::new(),
    };
    let (mut parts, loose) = shape::parts(machine);
    if parts.is_empty() && !machine.cores.is_empty() {
        parts = vec![Part {
            is: Vec::new(),
            parts: Vec::new(),
            cores: (0..machine.cores.len()).collect(),
        }];
    }
    let mut y = 1.0;
    for part in &parts {
        y += d.part(part, 1.0, y, WIDTH - 2.0, 0) + GAP;
    }
    for node in machine.numa_nodes.iter().filter(|n| n.cpus.is_empty()) {
        let text = format!(
            "node {} · {} · memory only, no CPUs",
            node.os_index,
            shape::memory(node.memory_bytes)
        );
        y += d.note(&text, "box d0", y) + GAP;
    }
    if !loose.is_empty() {
        let text = format!("offline, core unknown: CPU {}", cpu_list(&loose, 6));
        y += d.note(&text, "box off", y) + GAP;
    }
    let anywhere = anywhere(threads);
    if !anywhere.is_empty() {
        y += d.note(
            &format!("anywhere: {}", anywhere.join(", ")),
            "box anywhere",
            y,
        ) + GAP;
    }
    (d.out, y - GAP + 1.0)
}

/// Threads that nothing binds, counted by type.
fn anywhere(threads: &[ThreadSpot]) -> Vec<String> {
    let mut count: BTreeMap<ThreadType, usize> = BTreeMap::new();
    for spot in threads.iter().filter(|t| t.cpu.is_none()) {
        *count.entry(spot.threads).or_default() += 1;
    }
    count
        .into_iter()
        .map(|(t, n)| {
            let name = words::threads(t);
            let name = if n == 1 {
                name.trim_end_matches('s')
            } else {
                name
            };
            format!("{n} {name}")
        })
        .collect()
}

impl Drawing<'_> {
    /// Draws a part and everything inside; returns its height.
    fn part(&mut self, part: &Part, x: f64, y: f64, w: f64, depth: usize) -> f64 {
        // The frame's height is known only after its contents, but it must lie behind them.
        let outer = std::mem::take(&mut self.out);
        let mut title = if part.is.is_empty() {
            "machine".to_owned()
        } else {
            part.label(self.machine)
        };
        let hybrid = |core: &usize| self.machine.cores[*core].kind != CoreKind::Uniform;
        if part.parts.is_empty() && part.cores.iter().any(hybrid) {
            // Unlike cores stand in the order of the words.
            title += &format!(" · {}", shape::cores_in_words(self.machine, &part.cores));
        }
        let mut inner_y = y + PAD / 2.0;
        for line in fold(&title, ((w - 2.0 * PAD) / 5.6) as usize) {
            self.text(&line, x + PAD, inner_y + 12.0, "title");
            inner_y += TITLE - 4.0;
        }
        inner_y += 4.0;
        let inner_x = x + PAD;
        let inner_w = w - 2.0 * PAD;
        if part.parts.is_empty() {
            inner_y += self.cores(&part.cores, inner_x, inner_y, inner_w);
        } else {
            inner_y += self.parts(&part.parts, inner_x, inner_y, inner_w, depth + 1);
        }
        let height = inner_y + PAD - y;
        let inside = std::mem::replace(&mut self.out, outer);
        self.rect(x, y, w, height, 6.0, &format!("box d{}", depth.min(2)));
        self.out += &inside;
        height
    }

    /// Parts beside each other where they fit; returns their height.
    fn parts(&mut self, parts: &[Part], x: f64, y: f64, w: f64, depth: usize) -> f64 {
        let (cell_w, _) = self.core_size();
        let leaf = parts.iter().all(|p| p.parts.is_empty());
        let most = parts.iter().map(|p| p.cores.len()).max().unwrap_or(1);
        let wanted = 2.0 * PAD + cell_w * (most as f64).sqrt().ceil().max(2.0);
        let wanted = wanted.max(78.0);
        let columns = if leaf {
            (((w + GAP) / (wanted + GAP)).floor().max(1.0) as usize).min(parts.len())
        } else {
            1
        };
        let each = (w - GAP * (columns as f64 - 1.0)) / columns as f64;
        let mut top = y;
        for row in parts.chunks(columns) {
            let mut height = 0f64;
            for (i, part) in row.iter().enumerate() {
                height = height.max(self.part(part, x + i as f64 * (each + GAP), top, each, depth));
            }
            top += height + GAP;
        }
        top - GAP - y
    }

    fn pu_size(&self) -> (f64, f64) {
        if self.numbered {
            (25.0, 29.0)
        } else {
            (6.0, 8.0)
        }
    }

    fn core_size(&self) -> (f64, f64) {
        let (w, h) = self.pu_size();
        let threads = self.machine.counts.threads_per_core.clamp(1, 8) as f64;
        let gap = if self.numbered { 5.0 } else { 2.0 };
        (w * threads + gap, h + gap)
    }

    fn cores(&mut self, cores: &[usize], x: f64, y: f64, w: f64) -> f64 {
        let (cell_w, cell_h) = self.core_size();
        let (pu_w, pu_h) = self.pu_size();
        let columns = ((w / cell_w).floor() as usize).max(1);
        for (i, &core) in cores.iter().enumerate() {
            let left = x + (i % columns) as f64 * cell_w;
            let top = y + (i / columns) as f64 * cell_h;
            let cpus: Vec<u32> = self.machine.cores[core].cpus.iter().collect();
            let pu_w = pu_w.min((cell_w - 2.0) / cpus.len().max(1) as f64);
            for (t, &cpu) in cpus.iter().enumerate() {
                self.pu(cpu, left + t as f64 * pu_w, top, pu_w, pu_h);
            }
            if self.numbered {
                self.rect(left, top, pu_w * cpus.len() as f64, pu_h, 3.0, "core");
            }
        }
        cores.len().div_ceil(columns) as f64 * cell_h
    }

    fn pu(&mut self, cpu: u32, x: f64, y: f64, w: f64, h: f64) {
        let pu = self.pus.get(&cpu);
        let spots = self.spots.get(&cpu).map(Vec::as_slice).unwrap_or_default();
        let state = match pu {
            Some(pu) if !pu.online => " off",
            Some(pu) if !pu.allowed => " barred",
            _ if !spots.is_empty() => " taken",
            _ => "",
        };
        let label: Vec<String> = spots
            .iter()
            .map(|s| match s.threads {
                ThreadType::Scheduler => s.number.to_string(),
                _ => format!("d{}", s.number),
            })
            .collect();
        self.rect(
            x,
            y,
            w,
            h,
            if self.numbered { 3.0 } else { 0.5 },
            &format!("pu{state}"),
        );
        if !self.numbered {
            return;
        }
        self.text(
            &cpu.to_string(),
            x + w / 2.0,
            y + 10.0,
            &format!("cpu{state}"),
        );
        let text = match state {
            " off" => "off".to_owned(),
            " barred" => "barred".to_owned(),
            _ => label.join(" "),
        };
        if !text.is_empty() {
            self.text(&text, x + w / 2.0, y + 23.0, &format!("who{state}"));
        }
    }

    /// A box with text only; returns its height.
    fn note(&mut self, text: &str, class: &str, y: f64) -> f64 {
        let lines = fold(text, 58);
        let height = lines.len() as f64 * 16.0 + 12.0;
        self.rect(1.0, y, WIDTH - 2.0, height, 6.0, class);
        for (i, line) in lines.iter().enumerate() {
            self.text(line, 1.0 + PAD, y + 18.0 + i as f64 * 16.0, "title");
        }
        height
    }

    fn rect(&mut self, x: f64, y: f64, w: f64, h: f64, r: f64, class: &str) {
        self.out += &format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            n(x),
            n(y),
            n(w),
            n(h),
            n(r)
        );
    }

    fn text(&mut self, text: &str, x: f64, y: f64, class: &str) {
        self.out += &format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            n(x),
            n(y),
            escape(text)
        );
    }
}

/// Lines of about `width` characters, broken at spaces.
fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
