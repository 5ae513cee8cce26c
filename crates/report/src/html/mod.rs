//! The report as one HTML file: style inside, drawings inside, no script, nothing loaded. A content
//! security policy in the page makes the browser hold it to that.

mod effects;
mod escape;
mod facts;
mod jitter;
mod runs;
mod table;
mod threads;
mod throughput;

pub use escape::escape;
pub use jitter::jitter_html;

use plimsoll_schema::{Experiment, MapReport};

use crate::number::{count, utc};
use crate::{svg, words};
use table::{command, list};

const STYLE: &str = include_str!("page.css");

/// The mark on a ship's hull: a circle and a line through it.
const LOGO: &str = "<svg class=\"logo\" width=\"30\" height=\"20\" viewBox=\"0 0 30 20\" aria-hidden=\"true\">\
    <circle cx=\"15\" cy=\"10\" r=\"8\"/><path d=\"M1 10h28\"/></svg>";

/// The experiment as one HTML file that needs no network, no script and no other file: verdict
/// first, then the machine with the threads of each arm, effects, throughput, raw runs, mechanisms,
/// findings, settings, and how to repeat it. For phone, desk and print, light and dark.
///
/// `map` adds the threads that the VM starts besides its schedulers where the runs do not say.
/// Text from users is escaped wherever it stands.
pub fn experiment_html(e: &Experiment, map: Option<&MapReport>) -> String {
    let mut sections = vec![
        threads::section(e, map),
        effects::section(e),
        throughput::section(e),
        effects::mechanisms(e),
        facts::findings(e),
        runs::section(&words::without_ceilings(e)),
        facts::settings(e),
        facts::reproduce(e),
    ];
    sections.retain(|s| !s.is_empty());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>Plimsoll: {title}</title>\n<style>\n{STYLE}{machine}</style>\n</head>\n<body>\n\
         {header}<main>\n{verdict}{sections}</main>\n{footer}</body>\n</html>\n",
        title = escape(&e.design.workload),
        machine = svg::machine::style(),
        header = header(e),
        verdict = verdict(e),
        sections = sections.concat(),
        footer = footer(e),
    )
}

fn header(e: &Experiment) -> String {
    let number = if e.id > 0 {
        format!("experiment {}", e.id)
    } else {
        "experiment".to_owned()
    };
    format!(
        "<header class=\"top\">{LOGO}<span class=\"brand\">Plimsoll</span>\
         <span>{number}</span><span class=\"name\">{}</span><span>{}</span></header>\n",
        escape(&e.design.workload),
        utc(e.started_at_ms)
    )
}

fn verdict(e: &Experiment) -> String {
    let mut out = "<section class=\"verdict\" aria-labelledby=\"verdict\">\n".to_owned();
    let sentence = e
        .verdict
        .as_ref()
        .map_or_else(|| words::no_verdict(e), |v| v.sentence.clone());
    out += &format!("<h1 id=\"verdict\">{}</h1>\n", prose(&sentence));
    if let Some(v) = &e.verdict {
        if !v.notes.is_empty() {
            out += &list("notes", v.notes.iter().map(|note| prose(note)));
        }
        out += &format!(
            "<div class=\"launch\"><h2>Launch with</h2>\n{}<p><b>Verify</b> {}</p></div>\n",
            command(&v.launch.command),
            escape(&v.launch.verify)
        );
    }
    out += &format!("<p class=\"basis\">{}</p>\n", escape(&basis(e)));
    out + "</section>\n"
}

fn basis(e: &Experiment) -> String {
    let model = e
        .machine
        .cpu_model
        .as_deref()
        .unwrap_or("CPU model unknown");
    format!(
        "{} · {model}, {}",
        words::design(e),
        count(e.machine.counts.allowed, "CPU")
    )
}

fn footer(e: &Experiment) -> String {
    format!(
        "<footer>Plimsoll {} · {} · status: {}. This file is complete in itself: it loads nothing \
         and sends nothing.</footer>\n",
        escape(&e.plimsoll_version),
        utc(e.started_at_ms),
        words::status(e.status)
    )
}

/// A section with a heading and a sentence on how to read it.
fn section(id: &str, title: &str, lead: &str, body: &str) -> String {
    let lead = if lead.is_empty() {
        String::new()
    } else {
        format!("<p class=\"lead\">{lead}</p>\n")
    };
    format!(
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n{lead}{body}</section>\n"
    )
}

/// A sentence of the experiment as HTML.
fn prose(sentence: &str) -> String {
    escape(&words::prose(sentence))
}

/// Which mark stands for which arm.
fn legend(e: &Experiment) -> String {
    let items = e.arms.iter().enumerate().map(|(i, arm)| {
        let baseline = if arm.name == e.design.baseline {
            " <small>baseline</small>"
        } else {
            ""
        };
        format!(
            "{}<span>{}{baseline}</span>",
            svg::mark::key(i),
            escape(&words::arm_names(arm))
        )
    });
    list("legend", items)
}

/// Position of an arm: what its colour and shape follow from.
fn arm_index(e: &Experiment, name: &str) -> usize {
    e.arms.iter().position(|arm| arm.name == name).unwrap_or(0)
}
