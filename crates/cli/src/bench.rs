//! `plimsoll bench`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use plimsoll_beam::otp;
use plimsoll_lab::{
    ArmRequest, ProcessExecutor, Programme, RunError, RunnerError, Stop, Store, analyse, arms,
    block_count, ceiling, default_path, in_modes, run, settings,
};
use plimsoll_machine::live;
use plimsoll_placement::map_report;
use plimsoll_report::{experiment_html, experiment_text};
use plimsoll_schema::{
    Arm, BindType, Conclusion, Design, Experiment, ExperimentStatus, Machine, Run,
};
use plimsoll_workload::{Builtin, Metric, command};

use crate::args::BenchArgs;
use crate::failure::{FOUND, Failure};
use crate::layout::layout;
use crate::output::{deliver, json, width, write_whole};
use crate::progress::Shower;

pub fn main(args: &BenchArgs) -> Result<ExitCode, Failure> {
    if args.calibrate {
        return crate::calibrate::main(args);
    }
    let (mut experiment, programme) = match args.resume {
        Some(id) => resume(id, args)?,
        None => {
            let request = Request::new(args)?;
            let experiment = request.experiment(args)?;
            (experiment, request.programme)
        }
    };
    if args.dry_run {
        deliver(&args.shown.output, &plan(&experiment))?;
        return Ok(ExitCode::SUCCESS);
    }
    let stopped = carry_out(&mut experiment, &programme, args)?;
    let text = if args.shown.json {
        json(&experiment)
    } else {
        experiment_text(&experiment, width())
    };
    deliver(&args.shown.output, &text)?;
    if let Some(file) = &args.report {
        write_report(file, &experiment)?;
        if !args.shown.quiet {
            eprintln!("report: {}", file.display());
        }
    }
    if stopped {
        return Err(Failure::stopped(format!(
            "stopped after {} runs, all kept; `plimsoll bench --resume {}` goes on",
            experiment.runs.len(),
            experiment.id
        )));
    }
    let slower = experiment
        .effects
        .iter()
        .any(|e| e.conclusion == Conclusion::Slower);
    Ok(if args.fail_if_slower && slower {
        FOUND.into()
    } else {
        ExitCode::SUCCESS
    })
}

/// What is to be run, before the machine is looked at.
pub struct Request {
    pub arms: Vec<Arm>,
    pub programme: Programme,
    machine: Machine,
    workload: String,
    unit: String,
    metric: Option<String>,
    custom: bool,
    facts: Vec<(&'static str, String)>,
}

impl Request {
    fn new(args: &BenchArgs) -> Result<Self, Failure> {
        match (&args.workload, args.command.first()) {
            (Some(name), _) => Self::builtin(name, args),
            (None, Some(program)) => Self::command(program, args),
            (None, None) => Err(Failure::usage(format!(
                "say what to run: one of {}, or your own command after --",
                Builtin::ALL.map(Builtin::name).join(", ")
            ))),
        }
    }

    /// A built-in workload.
    pub fn builtin(name: &str, args: &BenchArgs) -> Result<Self, Failure> {
        let builtin: Builtin = name.parse().map_err(Failure::usage)?;
        let otp = otp().map_err(Failure::cannot)?;
        let machine = live().map_err(Failure::cannot)?;
        let layout = layout()?;
        let mut arms = arms(&requested(args, &machine, true)?, &machine).map_err(Failure::usage)?;
        // A workload with modes is run in all of them, beside a ceiling, unless the user says otherwise.
        let (modes, ceiling_name) = match builtin.modes() {
            Some((_, known)) if args.modes.is_empty() => {
                let modes = known.iter().map(|mode| (*mode).to_owned()).collect();
                (
                    modes,
                    args.ceiling
                        .clone()
                        .or(Some(Builtin::NifSpin.name().to_owned())),
                )
            }
            _ => (args.modes.clone(), args.ceiling.clone()),
        };
        if !modes.is_empty() {
            let variable = modes_variable(builtin, &modes)?;
            arms = in_modes(&arms, variable, &modes);
        }
        let mut ceilings = BTreeMap::new();
        if let Some(workload) = &ceiling_name {
            let workload: Builtin = workload
                .parse()
                .map_err(|e| Failure::usage(format!("--ceiling: {e}")))?;
            ceilings.insert(workload.name().to_owned(), command(workload, &layout));
            arms.push(ceiling(workload.name()));
        }
        Ok(Self {
            arms,
            programme: Programme {
                words: command(builtin, &layout),
                ceilings,
                environment: environment(&args.env)?,
                metric: None,
                timeout: args.timeout,
            },
            machine,
            workload: builtin.name().to_owned(),
            unit: builtin.unit().to_owned(),
            metric: None,
            custom: false,
            facts: vec![("otp", otp.release), ("erts", otp.erts)],
        })
    }

    /// Arms on the machine of this request.
    pub fn arms_of(&self, requests: &[ArmRequest]) -> Result<Vec<Arm>, Failure> {
        arms(requests, &self.machine).map_err(Failure::usage)
    }

    fn command(program: &str, args: &BenchArgs) -> Result<Self, Failure> {
        let machine = live().map_err(Failure::cannot)?;
        let metric = args
            .metric
            .as_deref()
            .map(Metric::new)
            .transpose()
            .map_err(Failure::usage)?;
        let asked = !args.arms.is_empty() || !args.flag_arms.is_empty();
        Ok(Self {
            arms: arms(&requested(args, &machine, asked)?, &machine).map_err(Failure::usage)?,
            programme: Programme {
                words: args.command.clone(),
                ceilings: BTreeMap::new(),
                environment: environment(&args.env)?,
                metric,
                timeout: args.timeout,
            },
            machine,
            workload: Path::new(program)
                .file_name()
                .map_or(program.to_owned(), |n| n.to_string_lossy().into_owned()),
            unit: args.unit.clone().unwrap_or_else(|| "runs".to_owned()),
            metric: args.metric.clone(),
            custom: true,
            facts: Vec::new(),
        })
    }

    /// The experiment, with nothing run yet.
    pub fn experiment(&self, args: &BenchArgs) -> Result<Experiment, Failure> {
        if !(args.error_rate > 0.0 && args.error_rate < 1.0) {
            return Err(Failure::usage(
                "--error-rate takes a probability between 0 and 1, such as 0.05",
            ));
        }
        if args.blocks == Some(0) {
            return Err(Failure::usage("--blocks takes a number from 1"));
        }
        let started_at_ms = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |d| d.as_millis() as u64);
        let seed = args.seed.unwrap_or(started_at_ms % 1_000_000_007);
        let baseline = self
            .arms
            .first()
            .map(|a| a.name.clone())
            .unwrap_or_default();
        Ok(Experiment {
            schema: Experiment::SCHEMA.to_owned(),
            id: 0,
            plimsoll_version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at_ms,
            status: ExperimentStatus::Running,
            design: Design {
                workload: self.workload.clone(),
                command: if self.custom {
                    self.programme.words.clone()
                } else {
                    Vec::new()
                },
                env: self.programme.environment.clone(),
                metric: self.metric.clone(),
                unit: self.unit.clone(),
                blocks: args.blocks,
                budget_seconds: args.budget.map(|b| b.as_secs_f64()),
                window_seconds: args.window.as_secs_f64(),
                error_rate: args.error_rate,
                seed,
                baseline,
            },
            machine: self.machine.clone(),
            arms: self.arms.clone(),
            levels: levels(&args.levels)?,
            runs: Vec::new(),
            effects: Vec::new(),
            efficiency: Vec::new(),
            verdict: None,
            findings: Vec::new(),
            settings: settings(std::env::vars(), &self.facts),
            reproduce: reproduce(args, seed),
        })
    }
}

/// Runs what is left of the experiment and analyses it; true when the user stopped it.
pub fn carry_out(
    experiment: &mut Experiment,
    programme: &Programme,
    args: &BenchArgs,
) -> Result<bool, Failure> {
    let mut store =
        Store::open(&args.store.clone().unwrap_or_else(default_path)).map_err(Failure::usage)?;
    let elapsed = if experiment.id == 0 {
        store.add(experiment).map_err(Failure::cannot)?;
        Duration::ZERO
    } else {
        store.load(experiment.id).map_err(Failure::cannot)?.1
    };
    let stop = Stop::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.flag())
            .map_err(|e| Failure::cannot(format!("cannot listen for signals: {e}")))?;
    }
    let mut executor = FirstLook {
        inner: ProcessExecutor::new(programme.clone(), stop.clone()),
        binds: experiment.arms.iter().any(|a| !a.vm_flags.is_empty()),
    };
    let mut shower = Shower::new(args.shown.quiet);
    let result = run(
        experiment,
        &mut executor,
        Some(&mut store),
        &stop,
        elapsed,
        &mut |progress| shower.step(progress),
    );
    shower.end();
    let stopped = match result {
        Ok(()) => false,
        Err(RunnerError::Run(RunError::Stopped)) => true,
        Err(RunnerError::Store(e)) => return Err(Failure::cannot(e)),
        Err(e @ (RunnerError::Run(_) | RunnerError::NothingWorks { .. })) => {
            return Err(Failure::cannot(e));
        }
    };
    analyse(experiment);
    store.update(experiment).map_err(Failure::cannot)?;
    Ok(stopped)
}

/// Passes runs on, and refuses to compare VM flags on a command that starts no VM.
struct FirstLook {
    inner: ProcessExecutor,
    binds: bool,
}

impl plimsoll_lab::Executor for FirstLook {
    fn execute(
        &mut self,
        design: &Design,
        arm: &Arm,
        planned: &plimsoll_lab::Planned,
    ) -> Result<Run, RunError> {
        let run = self.inner.execute(design, arm, planned)?;
        if std::mem::take(&mut self.binds) && run.vm.is_none() && run.ops_per_second.is_some() {
            return Err(RunError::Setup(format!(
                "`{}` starts no BEAM that Plimsoll can see, so bind types and VM flags do not reach it; \
                 leave out --arms and --arm to measure it as it is",
                design.command.join(" ")
            )));
        }
        Ok(run)
    }
}

fn resume(id: i64, args: &BenchArgs) -> Result<(Experiment, Programme), Failure> {
    let store =
        Store::open(&args.store.clone().unwrap_or_else(default_path)).map_err(Failure::usage)?;
    let (experiment, _) = store.load(id).map_err(Failure::usage)?;
    if experiment.status == ExperimentStatus::Complete {
        return Err(Failure::usage(format!(
            "experiment {id} is complete; `plimsoll runs show {id}` shows it"
        )));
    }
    let words = if experiment.design.command.is_empty() {
        command(
            experiment.design.workload.parse().map_err(Failure::usage)?,
            &layout()?,
        )
    } else {
        experiment.design.command.clone()
    };
    let metric = experiment
        .design
        .metric
        .as_deref()
        .map(Metric::new)
        .transpose()
        .map_err(Failure::usage)?;
    let ceilings = experiment.arms.iter().filter_map(|arm| arm.ceiling.clone());
    let ceilings = ceilings
        .map(|name| {
            Ok((
                name.clone(),
                command(name.parse().map_err(Failure::usage)?, &layout()?),
            ))
        })
        .collect::<Result<_, Failure>>()?;
    let programme = Programme {
        words,
        ceilings,
        environment: experiment.design.env.clone(),
        metric,
        timeout: args.timeout,
    };
    Ok((experiment, programme))
}

/// The arms asked for; without any, unbound against one bind type of every other placement.
fn requested(args: &BenchArgs, machine: &Machine, binds: bool) -> Result<Vec<ArmRequest>, Failure> {
    let mut requests = Vec::new();
    for word in &args.arms {
        requests.push(ArmRequest::Bind(
            word.parse()
                .map_err(|e| Failure::usage(format!("--arms: {e}")))?,
        ));
    }
    for word in &args.flag_arms {
        let (name, flags) = word
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| {
                Failure::usage(format!(
                    "--arm {word}: write it like --arm 'quiet=+sbwt none'"
                ))
            })?;
        requests.push(ArmRequest::Flags {
            name: name.to_owned(),
            words: flags.split_whitespace().map(str::to_owned).collect(),
        });
    }
    if !args.flag_arms.is_empty() && args.arms.is_empty() {
        requests.insert(0, ArmRequest::AsIs);
    }
    if requests.is_empty() && binds {
        let map = map_report(machine, None, None).map_err(Failure::cannot)?;
        requests = BindType::ALL
            .into_iter()
            .filter(|bind| map.bindings.contains_key(bind))
            .map(ArmRequest::Bind)
            .collect();
    }
    if requests.is_empty() {
        requests.push(ArmRequest::AsIs);
    }
    Ok(requests)
}

/// The variable by which a workload is told its execution mode.
fn modes_variable(builtin: Builtin, modes: &[String]) -> Result<&'static str, Failure> {
    let (variable, known) = builtin.modes().ok_or_else(|| {
        Failure::usage(format!(
            "--modes: the workload {builtin} has no execution modes"
        ))
    })?;
    match modes.iter().find(|mode| !known.contains(&mode.as_str())) {
        Some(wrong) => Err(Failure::usage(format!(
            "--modes: `{wrong}` is no mode of {builtin}; it has {}",
            known.join(", ")
        ))),
        None => Ok(variable),
    }
}

fn levels(asked: &[u32]) -> Result<Vec<u32>, Failure> {
    let mut levels = asked.to_vec();
    levels.sort_unstable();
    levels.dedup();
    match levels.first() {
        None | Some(0) => Err(Failure::usage(
            "--levels takes numbers from 1, such as 1,2,4",
        )),
        Some(_) => Ok(levels),
    }
}

fn environment(words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    words
        .iter()
        .map(|word| {
            word.split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .ok_or_else(|| {
                    Failure::usage(format!("--env {word}: write it like --env NAME=VALUE"))
                })
        })
        .collect()
}

/// The command line as it was given, with the seed that was chosen.
fn reproduce(args: &BenchArgs, seed: u64) -> String {
    let mut words: Vec<String> = std::env::args().skip(1).map(quoted).collect();
    if args.seed.is_none() {
        // Before the command, which begins at `--`.
        let end = words.iter().position(|w| w == "--").unwrap_or(words.len());
        words.splice(end..end, ["--seed".to_owned(), seed.to_string()]);
    }
    format!("plimsoll {}", words.join(" "))
}

/// A word as a shell reads it back.
pub fn quoted(word: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:%@{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn plan(experiment: &Experiment) -> String {
    let cells = experiment.arms.len() * experiment.levels.len();
    let blocks = experiment
        .design
        .blocks
        .unwrap_or_else(|| block_count(experiment));
    let mut text = format!("workload {}\n", experiment.design.workload);
    for arm in &experiment.arms {
        let same = if arm.same_as.len() > 1 {
            format!(" (one placement: {})", arm.same_as.join(", "))
        } else {
            String::new()
        };
        text.push_str(&format!(
            "arm {}{same}: {}\n",
            arm.name,
            arm.vm_flags.join(" ")
        ));
    }
    text.push_str(&format!(
        "levels {}\n",
        experiment
            .levels
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    ));
    match experiment.design.budget_seconds {
        Some(budget) => text.push_str(&format!(
            "as many blocks of {cells} runs as fit {budget:.0} s\n"
        )),
        None => text.push_str(&format!(
            "{blocks} blocks of {cells} runs, {:.0} s at least\n",
            (blocks * cells) as f64 * experiment.design.window_seconds
        )),
    }
    text
}

pub fn write_report(file: &Path, experiment: &Experiment) -> Result<(), Failure> {
    let map = map_report(&experiment.machine, None, None).ok();
    write_whole(file, &experiment_html(experiment, map.as_ref()))
}
