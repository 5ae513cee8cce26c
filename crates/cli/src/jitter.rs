//! `plimsoll jitter`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use plimsoll_beam::{Otp, otp};
use plimsoll_jitter::{
    DEFAULT_ARMS, JitterError, Progress, Vm, VmExecutor, analyse, check_arms, default_baseline,
    default_blocks, run,
};
use plimsoll_lab::{Stop, settings};
use plimsoll_machine::live;
use plimsoll_report::{jitter_html, jitter_text};
use plimsoll_schema::{JitterConclusion, JitterDesign, JitterReport};

use crate::args::Shown;
use crate::bench::quoted;
use crate::failure::{FOUND, Failure};
use crate::layout::layout;
use crate::output::{deliver, json, width, write_whole};

/// `plimsoll jitter`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct JitterArgs {
    /// What the workers do [default: idle,erlang,blocking,yielding,dirty,automatic,matrix, or idle,spin,eval with --eval]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    arms: Vec<String>,
    /// The arm that the others are compared with [default: erlang, spin or idle, the first that there is]
    #[arg(long, value_name = "ARM")]
    baseline: Option<String>,
    /// An Erlang expression that the workers of the arm eval run, such as 'my_nif:work(1000)'
    #[arg(long, value_name = "EXPRESSION")]
    eval: Option<String>,
    /// Evaluated once in each worker; its variables can be used in --eval
    #[arg(long, value_name = "EXPRESSIONS", requires = "eval")]
    with: Option<String>,
    /// A folder with compiled code (may be repeated)
    #[arg(long, value_name = "FOLDER")]
    pa: Vec<PathBuf>,
    /// List the functions of MODULE that hold a normal scheduler longer than 1 ms while --eval runs
    #[arg(long, value_name = "MODULE", requires = "eval", conflicts_with_all = ["arms", "baseline", "blocks"])]
    audit: Option<String>,

    /// Processes that wake on the schedule
    #[arg(long, value_name = "N", default_value_t = 20)]
    probes: u32,
    /// Time between two wake-ups of a probe, whole milliseconds
    #[arg(long, value_name = "TIME", value_parser = milliseconds, default_value = "10ms")]
    period: u64,
    /// Length of a run [default: 600ms, with --audit 5s]
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    window: Option<u64>,
    /// Worker processes [default: one for each scheduler online]
    #[arg(long, value_name = "N")]
    workers: Option<u32>,
    /// Length of the two random binaries of the edit distance [default: 20000, matrix 5000]
    #[arg(long, value_name = "N")]
    input_bytes: Option<u64>,
    /// End the VM after so long without a sign of life
    #[arg(long, value_name = "TIME", value_parser = milliseconds, default_value = "3s")]
    patience: u64,
    /// Blocks to run: each holds one run of every arm [default: as many as the error rate needs]
    #[arg(long, value_name = "N")]
    blocks: Option<usize>,
    /// Chance of any false claim in the experiment
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    error_rate: f64,
    /// Seed of the order of runs and of the inputs
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Also write the report, one HTML file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Exit with 1 when an arm blocks or wakes later than the baseline, or an audited function holds a scheduler
    #[arg(long)]
    fail_if_late: bool,
    /// Say what would be run, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// How output looks
    #[command(flatten)]
    shown: Shown,
}

const HELP: &str = "Loads: idle, erlang, blocking, yielding, dirty, automatic (edit distance of two binaries),
matrix, matrix-yielding, matrix-dirty (the published algorithm, 4 bytes a cell),
spin, nif-spin, ets-counter, eval.

The published test:  plimsoll jitter --arms erlang,yielding,matrix --probes 1 --period 1s --window 30s \
                       --input-bytes 10000 --blocks 6
Your own NIF:        plimsoll jitter --eval 'my_nif:work(<<\"abc\">>)' --pa ebin
Is it well behaved?  plimsoll jitter --audit my_nif --eval 'my_nif:work(<<\"abc\">>)' --pa ebin";

pub fn main(args: &JitterArgs) -> Result<ExitCode, Failure> {
    let design = design(args)?;
    if args.dry_run {
        deliver(&args.shown.output, &plan(&design))?;
        return Ok(ExitCode::SUCCESS);
    }
    let otp = otp().map_err(Failure::cannot)?;
    let mut report = report(args, design, &otp)?;
    let vm = Vm {
        erl: otp.erl,
        layout: layout()?,
        paths: folders(&args.pa)?,
    };
    let stopped = carry_out(&mut report, vm, args.shown.quiet)?;
    analyse(&mut report);
    let text = if args.shown.json {
        json(&report)
    } else {
        jitter_text(&report, width())
    };
    deliver(&args.shown.output, &text)?;
    if let Some(file) = &args.report {
        write_whole(file, &jitter_html(&report))?;
        if !args.shown.quiet {
            eprintln!("report: {}", file.display());
        }
    }
    if stopped {
        return Err(Failure::stopped(format!(
            "stopped after {} runs, which are in the report",
            report.runs.len()
        )));
    }
    Ok(if args.fail_if_late && is_late(&report) {
        FOUND.into()
    } else {
        ExitCode::SUCCESS
    })
}

fn design(args: &JitterArgs) -> Result<JitterDesign, Failure> {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let arms = match (&args.audit, &args.eval) {
        (Some(_), _) => names(&["eval"]),
        (None, _) if !args.arms.is_empty() => args.arms.clone(),
        (None, Some(_)) => names(&["idle", "spin", "eval"]),
        (None, None) => names(&DEFAULT_ARMS),
    };
    check_arms(&arms).map_err(Failure::usage)?;
    if arms.iter().any(|arm| arm == "eval") && args.eval.is_none() {
        return Err(Failure::usage(
            "the arm eval needs --eval EXPRESSION, such as --eval 'my_nif:work(1000)'",
        ));
    }
    let baseline = args
        .baseline
        .as_ref()
        .or_else(|| default_baseline(&arms))
        .cloned()
        .unwrap_or_default();
    if !arms.contains(&baseline) {
        return Err(Failure::usage(format!(
            "--baseline {baseline} is none of the arms: {}",
            arms.join(", ")
        )));
    }
    if !(args.error_rate > 0.0 && args.error_rate < 1.0) {
        return Err(Failure::usage(
            "--error-rate takes a probability between 0 and 1, such as 0.05",
        ));
    }
    if args.blocks == Some(0) || args.probes == 0 || args.workers == Some(0) {
        return Err(Failure::usage(
            "--blocks, --probes and --workers take a number from 1",
        ));
    }
    let window_ms = args
        .window
        .unwrap_or(if args.audit.is_some() { 5_000 } else { 600 });
    if window_ms < args.period {
        return Err(Failure::usage(
            "--window is shorter than --period: nobody would wake in it",
        ));
    }
    let now = SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |d| d.as_millis() as u64);
    let planned = if args.audit.is_some() {
        1
    } else {
        default_blocks(arms.len(), args.error_rate)
    };
    Ok(JitterDesign {
        arms,
        baseline,
        blocks: args.blocks.unwrap_or(planned),
        probes: args.probes,
        period_ms: args.period,
        window_ms,
        workers: args.workers,
        input_bytes: args.input_bytes,
        eval: args.eval.clone(),
        with: args.with.clone(),
        audit: args.audit.clone(),
        // A heartbeat comes ten times a second; less than a second of silence may be the machine's.
        patience_seconds: Duration::from_millis(args.patience.max(1_000)).as_secs_f64(),
        error_rate: args.error_rate,
        seed: args.seed.unwrap_or(now % 1_000_000_007),
    })
}

fn report(args: &JitterArgs, design: JitterDesign, otp: &Otp) -> Result<JitterReport, Failure> {
    let facts = [("otp", otp.release.clone()), ("erts", otp.erts.clone())];
    Ok(JitterReport {
        schema: JitterReport::SCHEMA.to_owned(),
        plimsoll_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at_ms: SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |d| d.as_millis() as u64),
        complete: false,
        machine: live().map_err(Failure::cannot)?,
        vm: None,
        arms: Vec::new(),
        runs: Vec::new(),
        effects: Vec::new(),
        audit: None,
        verdict: Vec::new(),
        findings: Vec::new(),
        settings: settings(std::env::vars(), &facts),
        reproduce: reproduce(args, design.seed),
        design,
    })
}

/// Makes the runs; true when the user stopped them.
fn carry_out(report: &mut JitterReport, vm: Vm, quiet: bool) -> Result<bool, Failure> {
    let stop = Stop::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.flag())
            .map_err(|e| Failure::cannot(format!("cannot listen for signals: {e}")))?;
    }
    let mut executor = VmExecutor::new(vm, report.design.clone(), stop.clone());
    let bar = bar(quiet);
    let lines = !quiet && bar.is_none();
    let mut last = None;
    let result = run(report, &mut executor, &stop, &mut |progress: &Progress<
        '_,
    >| {
        let block = format!("block {} of {}", progress.block + 1, progress.blocks);
        if let Some(bar) = &bar {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(format!("{block}, {}", progress.arm));
        } else if lines && last.replace(progress.block) != Some(progress.block) {
            eprintln!("{block}");
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    match result {
        Ok(()) => Ok(false),
        Err(JitterError::Stopped) => Ok(true),
        Err(e @ JitterError::Usage(_)) => Err(Failure::usage(e)),
        Err(e) => Err(Failure::cannot(e)),
    }
}

fn bar(quiet: bool) -> Option<ProgressBar> {
    if quiet || !std::io::stderr().is_terminal() {
        return None;
    }
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} runs, {eta} left · {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    Some(ProgressBar::new(0).with_style(style))
}

fn is_late(report: &JitterReport) -> bool {
    let late =
        |c: JitterConclusion| matches!(c, JitterConclusion::Later | JitterConclusion::Blocked);
    report.effects.iter().any(|e| late(e.conclusion))
        || report.arms.iter().any(|arm| arm.blocked > 0)
        || report.audit.iter().any(|audit| {
            audit
                .functions
                .iter()
                .any(|f| f.holds.p99_us > audit.limit_us)
        })
}

/// Folders that exist, as absolute paths: the VM is started elsewhere one day.
fn folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let whole = |path: &PathBuf| {
        std::fs::canonicalize(path)
            .ok()
            .filter(|path| path.is_dir())
            .ok_or_else(|| {
                Failure::usage(format!(
                    "--pa {}: there is no such folder",
                    Path::display(path)
                ))
            })
    };
    paths.iter().map(whole).collect()
}

/// The command line as it was given, with the seed that was chosen.
fn reproduce(args: &JitterArgs, seed: u64) -> String {
    let mut words: Vec<String> = std::env::args().skip(1).map(quoted).collect();
    if args.seed.is_none() {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    format!("plimsoll {}", words.join(" "))
}

fn plan(design: &JitterDesign) -> String {
    let mut text = String::new();
    for arm in &design.arms {
        let baseline = if *arm == design.baseline {
            " (baseline)"
        } else {
            ""
        };
        text.push_str(&format!(
            "arm {arm}{baseline}: {}\n",
            plimsoll_jitter::summary(arm)
        ));
    }
    text.push_str(&format!(
        "{} blocks of {} runs, {:.0} s at least\n",
        design.blocks,
        design.arms.len(),
        (design.blocks * design.arms.len()) as f64 * design.window_ms as f64 / 1000.0
    ));
    text
}

fn milliseconds(text: &str) -> Result<u64, String> {
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())?,
        Err(_) => humantime::parse_duration(text)
            .map_err(|e| format!("{e}; write it like 10ms, 1s or 1m30s"))?,
    };
    let whole = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    if time.is_zero() || Duration::from_millis(whole) != time {
        return Err(
            "give whole milliseconds, from 1ms: the VM's clock ticks once a millisecond".to_owned(),
        );
    }
    Ok(whole)
}
