//! The jitter lab's report: never wider than asked, nothing from users obeyed, lower bounds marked.

use plimsoll_report::{jitter_html, jitter_text};
use plimsoll_schema::JitterReport;
use serde_json::json;

/// Two arms: one measured, one blocked; an audit; text from users that would like to be obeyed.
fn report() -> JitterReport {
    let interval = json!({"low": 90.0, "high": 1400.0, "confidence": 0.95});
    let figure =
        |statistic: &str, us: f64| json!({"statistic": statistic, "us": us, "interval": interval});
    let arm = |name: &str, blocked: usize, us: f64| {
        json!({"name": name, "summary": "work", "runs": 10 - blocked, "blocked": blocked, "failed": 0,
            "lateness": [figure("median", us), figure("p99", 3.0 * us), figure("p999", 4.0 * us), figure("worst", 5.0 * us)],
            "worst_us": (9.0 * us) as u64, "at_least": blocked > 0,
            "histogram": [{"up_to_us": us as u64, "count": 990}, {"up_to_us": (5.0 * us) as u64, "count": 10}],
            "jobs_per_second": 12.5, "run_queue_mean": 2.0, "dirty_run_queue_mean": null, "utilisation": 1.0,
            "dirty_utilisation": 0.0, "cpu_wait_share": 0.01, "long_schedules_per_second": 3.0, "longest_schedule_ms": 12})
    };
    let effect = |statistic: &str| {
        json!({"arm": "matrix", "baseline": "erlang", "statistic": statistic, "ratio": 1157.2, "interval": null,
            "p_adjusted": 1.0, "blocks": 2, "smallest_detectable": null, "conclusion": "blocked"})
    };
    serde_json::from_value(json!({
        "schema": JitterReport::SCHEMA, "plimsoll_version": "0", "started_at_ms": 0, "complete": true,
        "design": {"arms": ["erlang", "matrix"], "baseline": "erlang", "blocks": 10, "probes": 20, "period_ms": 10,
            "window_ms": 600, "workers": null, "input_bytes": null, "eval": "evil:work(\"<script>\u{1b}[2J\")",
            "with": null, "audit": "evil", "patience_seconds": 3.0, "error_rate": 0.05, "seed": 1},
        "machine": {"source": {"kind": "live"}, "cpu_model": "<b>", "counts": {"packages": 0, "numa_nodes": 0,
            "l3_domains": 0, "cores": 0, "pus": 0, "online": 0, "allowed": 0, "threads_per_core": 0},
            "packages": [], "numa_nodes": [], "l3_domains": [], "cores": [], "pus": [], "kernel": null, "limits": null},
        "vm": {"otp_release": "25", "erts": "13", "emulator_flavour": "jit", "schedulers_online": 2, "dirty_cpu_online": 2},
        "arms": [arm("erlang", 0, 300.0), arm("matrix", 2, 2_600_000.0)],
        "runs": [],
        "effects": [effect("median"), effect("p99"), effect("p999"), effect("worst")],
        "audit": {"module": "<i>evil", "limit_us": 1000, "not_called": ["f/0"], "suspended": 1, "cannot_see": ["much"],
            "functions": [
                {"function": "slow/1", "native": true, "calls": 5, "dirty_calls": 0, "unreturned": 1,
                 "holds": {"count": 5, "over_limit": 5, "median_us": 9000, "p99_us": 9100, "p999_us": 9100, "worst_us": 9100}},
                {"function": "fast/1", "native": false, "calls": 500, "dirty_calls": 0, "unreturned": 0,
                 "holds": {"count": 500, "over_limit": 1, "median_us": 2, "p99_us": 9, "p999_us": 12, "worst_us": 1500}}]},
        "verdict": ["matrix: schedulers blocked for 3.0 s, until the watchdog ended the VM (2 of 2 runs)"],
        "findings": [], "settings": {"otp": "25"}, "reproduce": "plimsoll jitter --eval '<script>'"
    }))
    .unwrap()
}

#[test]
fn no_line_is_wider_than_asked() {
    for width in [40, 60, 80, 120] {
        for line in jitter_text(&report(), width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn lower_bounds_and_conclusions_are_told_apart_from_figures() {
    let text = jitter_text(&report(), 80).replace('\u{a0}', " ");
    assert!(
        text.starts_with("matrix: schedulers blocked for 3.0 s"),
        "{text}"
    );
    assert!(
        text.contains("≥ 2.6 s") && text.contains("≥ 1 157 ×"),
        "{text}"
    );
    assert!(text.contains("90 µs–1.4 ms"), "{text}");
    let line = |name: &str| {
        text.lines()
            .find(|l| l.trim_start().starts_with(name))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        line("slow/1").contains("mostly") && line("fast/1").contains("rarely"),
        "{text}"
    );
    assert!(
        text.contains("not called: f/0") && text.contains("suspended 1 times"),
        "{text}"
    );
}

#[test]
fn nothing_that_users_write_is_obeyed() {
    let html = jitter_html(&report());
    assert!(
        !html.contains("<script>") && !html.contains("<i>evil") && html.contains("&lt;script&gt;")
    );
    assert!(!jitter_text(&report(), 80).contains('\u{1b}'));
    assert!(html.contains("class=\"curve a0\"") && html.contains("class=\"curve a1\""));
}
