use plimsoll_schema::{JitterAudit, JitterReport, JitterStatistic, JitterStatus};

use super::table::{command, definitions, list, table};
use super::{LOGO, STYLE, escape, section};
use crate::jitter::{
    arm_time, column, conclusion, design, holds_often, range, ratio, ratio_range, sign, time,
};
use crate::number::{percent, utc};
use crate::svg::{latency, mark};

/// The jitter lab's report as one HTML file that needs no network, no script and no other file: what
/// it means, the latency distributions, figures, comparisons, the audit, findings, how to repeat it.
/// Text from users is escaped wherever it stands.
pub fn jitter_html(report: &JitterReport) -> String {
    let mut sections = vec![
        lateness(report),
        effects(report),
        load(report),
        report.audit.as_ref().map_or(String::new(), audit),
        findings(report),
        runs(report),
        settings(report),
        section("repeat", "Repeat it", "", &command(&report.reproduce)),
    ];
    sections.retain(|s| !s.is_empty());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>Plimsoll: jitter</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header class=\"top\">{LOGO}<span class=\"brand\">Plimsoll</span><span>jitter</span><span>{}</span></header>\n\
         <main>\n{}{}</main>\n<footer>Plimsoll {} · {}. This file is complete in itself: it loads nothing and \
         sends nothing.</footer>\n</body>\n</html>\n",
        utc(report.started_at_ms),
        verdict(report),
        sections.concat(),
        escape(&report.plimsoll_version),
        utc(report.started_at_ms),
    )
}

fn verdict(report: &JitterReport) -> String {
    let mut out = "<section class=\"verdict\" aria-labelledby=\"verdict\">\n".to_owned();
    let first = report
        .verdict
        .first()
        .map_or("How late processes wake up", String::as_str);
    out += &format!("<h1 id=\"verdict\">{}</h1>\n", escape(first));
    if report.verdict.len() > 1 {
        out += &list(
            "notes",
            report.verdict[1..].iter().map(|sentence| escape(sentence)),
        );
    }
    let model = report
        .machine
        .cpu_model
        .as_deref()
        .unwrap_or("CPU model unknown");
    out + &format!(
        "<p class=\"basis\">{} · {}</p>\n</section>\n",
        escape(&design(report)),
        escape(model)
    )
}

fn lateness(report: &JitterReport) -> String {
    let Some(chart) = latency::chart(report) else {
        return String::new();
    };
    let legend = report.arms.iter().enumerate().map(|(i, arm)| {
        format!(
            "{}{}<small>&#160;{}</small>",
            mark::key(i),
            escape(&arm.name),
            escape(&arm.summary)
        )
    });
    let rows: Vec<Vec<String>> = report
        .arms
        .iter()
        .enumerate()
        .map(|(i, arm)| {
            let mut row = vec![format!("{}{}", mark::key(i), escape(&arm.name))];
            for statistic in JitterStatistic::ALL {
                let figure = arm.lateness.iter().find(|f| f.statistic == statistic);
                let interval = figure.and_then(|f| f.interval).map_or(String::new(), |i| {
                    format!(" <span class=\"ci\">{}</span>", range(i.low, i.high))
                });
                row.push(format!(
                    "<b>{}</b>{interval}",
                    arm_time(arm, figure.map(|f| f.us))
                ));
            }
            row.push(arm_time(arm, arm.worst_us.map(|us| us as f64)));
            row.push(arm.runs.to_string());
            row.push(arm.blocked.to_string());
            row
        })
        .collect();
    let body = format!(
        "{}<figure>{chart}<figcaption>Lateness of all wake-ups of all runs; to the right of 99 % is the latest \
         hundredth.</figcaption></figure>\n{}",
        list("legend", legend),
        table(
            "lateness",
            "Median over runs of each run's figure, with a 95 % interval for that median",
            &[
                "Arm",
                ">Median",
                ">p99",
                ">p99.9",
                ">Worst",
                ">Latest of all",
                ">Runs",
                ">Blocked"
            ],
            &rows,
        )
    );
    let bounds = if report.arms.iter().any(|arm| arm.at_least) {
        " ≥ marks lower bounds: wake-ups that never came before the VM was ended count with the time that had passed."
    } else {
        ""
    };
    section(
        "lateness",
        "How late processes wake up",
        &format!(
            "Measured against the intended time of a closed schedule: a wake-up that is missed counts with every \
             intended time that passed meanwhile.{bounds}"
        ),
        &body,
    )
}

fn effects(report: &JitterReport) -> String {
    if report.effects.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = report
        .effects
        .iter()
        .map(|e| {
            let arm = report
                .arms
                .iter()
                .position(|arm| arm.name == e.arm)
                .unwrap_or(0);
            vec![
                format!("{}{}", mark::key(arm), escape(&e.arm)),
                column(e.statistic).to_owned(),
                format!(
                    "<b>{}</b> <span class=\"ci\">{}</span>",
                    ratio(e),
                    ratio_range(e).unwrap_or_else(|| "no interval".to_owned())
                ),
                e.blocks.to_string(),
                format!(
                    "<span aria-hidden=\"true\">{}</span> {}",
                    sign(e.conclusion),
                    conclusion(e.conclusion)
                ),
            ]
        })
        .collect();
    let caption = format!("Lateness as a multiple of {}", report.design.baseline);
    section(
        "effects",
        &format!("Against {}", escape(&report.design.baseline)),
        &format!(
            "Paired by block; all intervals together are wrong in at most {} of experiments.",
            percent(report.design.error_rate)
        ),
        &table(
            "effects",
            &caption,
            &["Arm", "Figure", ">Ratio", ">Blocks", "Conclusion"],
            &rows,
        ),
    )
}

fn load(report: &JitterReport) -> String {
    let cell =
        |value: Option<f64>, show: &dyn Fn(f64) -> String| value.map_or("–".to_owned(), show);
    let one = |x: f64| format!("{x:.1}");
    let rows: Vec<Vec<String>> = report
        .arms
        .iter()
        .enumerate()
        .map(|(i, arm)| {
            vec![
                format!("{}{}", mark::key(i), escape(&arm.name)),
                cell(arm.utilisation, &percent),
                cell(arm.dirty_utilisation, &percent),
                cell(arm.cpu_wait_share, &percent),
                cell(arm.run_queue_mean, &one),
                cell(arm.dirty_run_queue_mean, &one),
                cell(arm.long_schedules_per_second, &one),
                cell(arm.longest_schedule_ms.map(|ms| ms as f64), &|ms| {
                    time(ms * 1000.0)
                }),
                cell(arm.jobs_per_second, &one),
            ]
        })
        .collect();
    let headers = [
        "Arm",
        ">Busy",
        ">Dirty busy",
        ">No CPU",
        ">Run queue",
        ">Dirty run queue",
        ">Held per second",
        ">Longest",
        ">Jobs per second",
    ];
    section(
        "load",
        "What the schedulers did meanwhile",
        "<i>No CPU</i>: share of the time in which scheduler threads wanted a CPU and had none. <i>Held</i>: a normal scheduler kept for more than a millisecond at a time, as the VM's system monitor saw it.",
        &table("load", "Medians over runs", &headers, &rows),
    )
}

fn audit(audit: &JitterAudit) -> String {
    let rows: Vec<Vec<String>> = audit
        .functions
        .iter()
        .map(|f| {
            let h = &f.holds;
            vec![
                escape(&f.function),
                if f.native { "native" } else { "Erlang" }.to_owned(),
                holds_often(audit, f).to_owned(),
                f.calls.to_string(),
                f.dirty_calls.to_string(),
                h.over_limit.to_string(),
                time(h.median_us as f64),
                time(h.p99_us as f64),
                time(h.p999_us as f64),
                time(h.worst_us as f64),
            ]
        })
        .collect();
    let over = format!(">Over {}", time(audit.limit_us as f64));
    let headers = [
        "Function",
        "Code",
        "Holds",
        ">Calls",
        ">On dirty",
        &over,
        ">Median",
        ">p99",
        ">p99.9",
        ">Worst",
    ];
    let mut body = table(
        "audit",
        "Uninterrupted stays on a normal scheduler",
        &headers,
        &rows,
    );
    if !audit.not_called.is_empty() {
        body += &format!(
            "<p>Not called: {}</p>\n",
            escape(&audit.not_called.join(", "))
        );
    }
    body += "<h3>What this audit cannot see</h3>\n";
    body += &list(
        "notes",
        audit.cannot_see.iter().map(|sentence| escape(sentence)),
    );
    section(
        "audit",
        &format!("Functions of {}", escape(&audit.module)),
        "",
        &body,
    )
}

fn findings(report: &JitterReport) -> String {
    if report.findings.is_empty() {
        return String::new();
    }
    let body: String = report
        .findings
        .iter()
        .map(|f| {
            let fix = f.fix.as_ref().map_or(String::new(), |fix| {
                format!("<p><b>Fix</b> {}</p>\n", escape(fix))
            });
            format!(
                "<div class=\"finding\"><h3>{}</h3>\n{}{fix}</div>\n",
                escape(&f.cause),
                list(
                    "evidence",
                    f.evidence.iter().map(|sentence| escape(sentence))
                )
            )
        })
        .collect();
    section(
        "findings",
        "Findings",
        "",
        &format!("<div class=\"findings\">\n{body}</div>\n"),
    )
}

fn runs(report: &JitterReport) -> String {
    let rows: Vec<Vec<String>> = report
        .runs
        .iter()
        .map(|run| {
            let status = match &run.status {
                JitterStatus::Ok => "ok".to_owned(),
                JitterStatus::Blocked { seconds, .. } => format!("blocked for {seconds:.1} s"),
                JitterStatus::Failed { why } => escape(why),
            };
            let figure = |s| {
                run.lateness
                    .map_or("–".to_owned(), |l| time(l.get(s) as f64))
            };
            let mut row = vec![
                (run.order + 1).to_string(),
                escape(&run.arm),
                (run.block + 1).to_string(),
                status,
            ];
            row.extend(JitterStatistic::ALL.map(figure));
            row.push(run.wakeups.to_string());
            row
        })
        .collect();
    let headers = [
        ">Run",
        "Arm",
        ">Block",
        "Ended",
        ">Median",
        ">p99",
        ">p99.9",
        ">Worst",
        ">Wake-ups",
    ];
    section(
        "runs",
        "Every run",
        "",
        &table(
            "runs",
            "In the order in which they were made",
            &headers,
            &rows,
        ),
    )
}

fn settings(report: &JitterReport) -> String {
    let pairs: Vec<(String, String)> = report
        .settings
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    section("settings", "Settings", "", &definitions(&pairs))
}
