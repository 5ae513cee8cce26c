use plimsoll_schema::{
    HoldFigures, JitterArm, JitterAudit, JitterReport, JitterStatistic, JitterStatus,
};

use super::layout::{Align, Page};
use crate::jitter::{arm_time, column, design, holds_often, range, ratio, ratio_range, sign, time};
use crate::number::{percent, seconds, significant};

/// The jitter lab's report for a terminal: what it means, lateness and what the schedulers did by arm,
/// comparisons, the audit, findings. No line wider than `width` columns (at least 40).
pub fn jitter_text(report: &JitterReport, width: usize) -> String {
    let mut page = Page::new(width);
    verdict(&mut page, report);
    if report.audit.is_none() || report.arms.iter().any(|arm| arm.blocked > 0) {
        lateness(&mut page, report);
    }
    load(&mut page, report);
    effects(&mut page, report);
    if let Some(audit) = &report.audit {
        functions(&mut page, audit);
    }
    findings(&mut page, report);
    page.heading("To repeat it");
    page.body(&report.reproduce);
    page.finish()
}

fn verdict(page: &mut Page, report: &JitterReport) {
    match report.verdict.split_first() {
        Some((first, rest)) => {
            page.heading(first);
            rest.iter().for_each(|sentence| page.item(sentence));
        }
        None if report.audit.is_some() => page.heading("Audit of a module's functions"),
        None => page.heading("How late processes wake up"),
    }
    page.body(&design(report));
}

fn lateness(page: &mut Page, report: &JitterReport) {
    page.heading("Wake-up lateness by arm (median over runs, 95 % interval below)");
    let mut rows = Vec::new();
    for arm in &report.arms {
        let mut figures = vec![arm.name.clone()];
        let mut intervals = vec![String::new()];
        for statistic in JitterStatistic::ALL {
            let figure = arm.lateness.iter().find(|f| f.statistic == statistic);
            figures.push(arm_time(arm, figure.map(|f| f.us)));
            intervals.push(
                figure
                    .and_then(|f| f.interval)
                    .map_or(String::new(), |i| range(i.low, i.high)),
            );
        }
        figures.push(runs(arm));
        intervals.push(String::new());
        rows.push(figures);
        if intervals.iter().any(|cell| !cell.is_empty()) {
            rows.push(intervals);
        }
    }
    page.table(&by_statistic(("runs", Align::Left)), &rows);
    if report.arms.iter().any(|arm| arm.at_least) {
        page.item("≥: wake-ups never came before the VM was ended; they count with the time that had passed");
    }
}

fn by_statistic(last: (&'static str, Align)) -> Vec<(&'static str, Align)> {
    let mut columns = vec![("", Align::Left)];
    columns.extend(JitterStatistic::ALL.map(|statistic| (column(statistic), Align::Right)));
    columns.push(last);
    columns
}

fn runs(arm: &JitterArm) -> String {
    let mut words = Vec::new();
    if arm.runs > 0 || arm.blocked + arm.failed == 0 {
        words.push(arm.runs.to_string());
    }
    if arm.blocked > 0 {
        words.push(format!("{} blocked", arm.blocked));
    }
    if arm.failed > 0 {
        words.push(format!("{} failed", arm.failed));
    }
    words.join(", ")
}

fn load(page: &mut Page, report: &JitterReport) {
    page.heading("What the schedulers did meanwhile (medians over runs)");
    let cell =
        |value: Option<f64>, show: &dyn Fn(f64) -> String| value.map_or("–".to_owned(), show);
    let one = |x: f64| format!("{x:.1}");
    let rows: Vec<Vec<String>> = report
        .arms
        .iter()
        .map(|arm| {
            vec![
                arm.name.clone(),
                cell(arm.utilisation, &percent),
                cell(arm.dirty_utilisation, &percent),
                cell(arm.cpu_wait_share, &percent),
                cell(arm.run_queue_mean, &one),
                cell(arm.dirty_run_queue_mean, &one),
                cell(arm.long_schedules_per_second, &one),
                cell(arm.longest_schedule_ms.map(|ms| ms as f64), &|ms| {
                    seconds(ms / 1000.0)
                }),
                cell(arm.jobs_per_second, &one),
            ]
        })
        .collect();
    page.table(
        &[
            ("", Align::Left),
            ("busy", Align::Right),
            ("dirty busy", Align::Right),
            ("no CPU", Align::Right),
            ("queue", Align::Right),
            ("dirty", Align::Right),
            ("held/s", Align::Right),
            ("longest", Align::Right),
            ("jobs/s", Align::Right),
        ],
        &rows,
    );
    page.item(
        "no CPU: share of the time in which schedulers wanted a CPU and had none · queue, dirty: processes waiting for a normal or dirty CPU scheduler · held: a normal scheduler kept for more than 1 ms at a time, as the VM's monitor saw it",
    );
}

fn effects(page: &mut Page, report: &JitterReport) {
    if report.effects.is_empty() {
        return;
    }
    let confidence = report
        .effects
        .iter()
        .find_map(|e| e.interval)
        .map(|i| i.confidence);
    page.heading(&format!(
        "Each arm as a multiple of {}, paired by block{}",
        report.design.baseline,
        confidence.map_or(String::new(), |c| format!(
            " ({} % intervals)",
            significant(100.0 * c, 3)
        ))
    ));
    let mut rows = Vec::new();
    for arm in report
        .arms
        .iter()
        .filter(|arm| arm.name != report.design.baseline)
    {
        let of_arm = |statistic| {
            report
                .effects
                .iter()
                .find(|e| e.arm == arm.name && e.statistic == statistic)
        };
        let mut figures = vec![arm.name.clone()];
        let mut intervals = vec![String::new()];
        for effect in JitterStatistic::ALL.map(of_arm) {
            figures.push(effect.map_or("–".to_owned(), |e| {
                format!("{} {}", ratio(e), sign(e.conclusion))
            }));
            intervals.push(effect.and_then(ratio_range).unwrap_or_default());
        }
        figures.push(
            report
                .effects
                .iter()
                .filter(|e| e.arm == arm.name)
                .map(|e| e.blocks)
                .max()
                .unwrap_or(0)
                .to_string(),
        );
        intervals.push(String::new());
        rows.push(figures);
        if intervals.iter().any(|cell| !cell.is_empty()) {
            rows.push(intervals);
        }
    }
    page.table(&by_statistic(("blocks", Align::Right)), &rows);
    page.item("▲ later · ▼ earlier · ○ no difference seen · – too few blocks · × blocked");
    page.item(&format!(
        "at most {} false claims in the experiment as a whole",
        percent(report.design.error_rate)
    ));
}

fn functions(page: &mut Page, audit: &JitterAudit) {
    let limit = time(audit.limit_us as f64);
    page.heading(&format!(
        "{}: stays on a normal scheduler, by function",
        audit.module
    ));
    let share = |h: &HoldFigures| {
        if h.count == 0 {
            "–".to_owned()
        } else {
            percent(h.over_limit as f64 / h.count as f64)
        }
    };
    let rows: Vec<Vec<String>> = audit
        .functions
        .iter()
        .map(|f| {
            let h = &f.holds;
            vec![
                format!("{}{}", f.function, if f.native { " (native)" } else { "" }),
                holds_often(audit, f).to_owned(),
                f.calls.to_string(),
                f.dirty_calls.to_string(),
                format!("{} ({})", h.over_limit, share(h)),
                time(h.median_us as f64),
                time(h.p99_us as f64),
                time(h.worst_us as f64),
            ]
        })
        .collect();
    page.table(
        &[
            ("", Align::Left),
            ("holds", Align::Left),
            ("calls", Align::Right),
            ("dirty", Align::Right),
            (&format!("> {limit}"), Align::Right),
            ("median", Align::Right),
            ("p99", Align::Right),
            ("worst", Align::Right),
        ],
        &rows,
    );
    let unreturned: u64 = audit.functions.iter().map(|f| f.unreturned).sum();
    if unreturned > 0 {
        page.item(&format!(
            "{unreturned} calls had not returned at the end; their last stay is a lower bound"
        ));
    }
    if audit.suspended > 0 {
        page.item(&format!(
            "tracing was suspended {} times because calls came too fast",
            audit.suspended
        ));
    }
    if !audit.not_called.is_empty() {
        page.item(&format!("not called: {}", audit.not_called.join(", ")));
    }
    page.heading("What this audit cannot see");
    audit
        .cannot_see
        .iter()
        .for_each(|sentence| page.item(sentence));
}

fn findings(page: &mut Page, report: &JitterReport) {
    if report.findings.is_empty() {
        return;
    }
    page.heading("Findings");
    for finding in &report.findings {
        page.item(&format!("{} [{}]", finding.cause, finding.id));
        for evidence in &finding.evidence {
            page.paragraph(evidence, "      ", "      ");
        }
        if let Some(fix) = &finding.fix {
            page.paragraph(fix, "    → ", "      ");
        }
    }
    let failed = report
        .runs
        .iter()
        .filter(|run| matches!(run.status, JitterStatus::Failed { .. }));
    if failed.count() > 0 {
        page.item("failed runs have no figures and take part in nothing above");
    }
}
