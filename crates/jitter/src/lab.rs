//! The runs of an experiment, in randomised blocks.

use plimsoll_lab::{Planned, Stop, schedule_block};
use plimsoll_schema::{JitterAudit, JitterReport, JitterRun, JitterStatus, JitterVm};

/// Runs of one arm that the watchdog has to end before the arm is left out: they say all there is to
/// say, and each costs the patience.
const BLOCKED_ENOUGH: usize = 2;

/// Why an experiment cannot go on. (A single VM that fails gives a run with status `failed`.)
#[derive(Debug, thiserror::Error)]
pub enum JitterError {
    /// The VM cannot be started at all.
    #[error("cannot start `{program}`: {why}; is Erlang/OTP installed?")]
    CannotStart {
        /// The first word of the command.
        program: String,
        /// What the system says.
        why: String,
    },
    /// The child cannot be watched.
    #[error("cannot watch the VM: {0}")]
    Watch(String),
    /// What was asked for makes no sense to the VM.
    #[error("{0}")]
    Usage(String),
    /// It cannot run here.
    #[error("{0}")]
    CannotRun(String),
    /// Every run of the first block failed.
    #[error("every run of the first block failed: {0}")]
    NothingWorks(String),
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
}

/// What is about to be done, for a progress bar.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Runs made so far.
    pub done: usize,
    /// Runs in all, as far as is known.
    pub total: usize,
    /// Block of the run that starts now, from 0.
    pub block: usize,
    /// Blocks in all.
    pub blocks: usize,
    /// Name of its arm.
    pub arm: &'a str,
}

/// What came of one run.
#[derive(Debug)]
pub struct Made {
    /// Its record.
    pub run: JitterRun,
    /// What the VM said of itself.
    pub vm: Option<JitterVm>,
    /// What its audit gave.
    pub audit: Option<JitterAudit>,
}

/// Makes one run: behind a trait, so that the order of runs is tested without a VM.
pub trait Executor {
    /// Makes the run `planned` of the arm of that name. A VM that fails gives a record with status
    /// `failed`; an error ends the experiment.
    fn execute(&mut self, arm: &str, planned: &Planned) -> Result<Made, JitterError>;
}

/// Makes all runs of `report.design`; `report.runs` grows as it goes.
///
/// An arm whose VM had to be ended by the watchdog in two runs is not run again: that it blocks is then
/// known, and says nothing of the others.
///
/// # Errors
/// [`JitterError::Stopped`] when `stop` is requested: the runs made so far are there.
pub fn run(
    report: &mut JitterReport,
    executor: &mut dyn Executor,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<(), JitterError> {
    let (arms, blocks) = (report.design.arms.clone(), report.design.blocks);
    for block in 0..blocks {
        for planned in schedule_block(report.design.seed, arms.len(), &[1], block) {
            let arm = &arms[planned.arm];
            if is_left_out(report, arm) {
                continue;
            }
            if stop.requested() {
                return Err(JitterError::Stopped);
            }
            let left_out = arms.iter().filter(|arm| is_left_out(report, arm)).count();
            progress(&Progress {
                done: report.runs.len(),
                total: report.runs.len() + (blocks - block) * (arms.len() - left_out),
                block,
                blocks,
                arm,
            });
            let made = executor.execute(arm, &planned)?;
            report.vm = report.vm.take().or(made.vm);
            report.audit = report.audit.take().or(made.audit);
            report.runs.push(made.run);
        }
        if block == 0 {
            something_worked(&report.runs)?;
        }
    }
    report.complete = true;
    Ok(())
}

fn is_left_out(report: &JitterReport, arm: &str) -> bool {
    let blocked =
        |run: &&JitterRun| run.arm == arm && matches!(run.status, JitterStatus::Blocked { .. });
    report.runs.iter().filter(blocked).count() >= BLOCKED_ENOUGH
}

fn something_worked(runs: &[JitterRun]) -> Result<(), JitterError> {
    let mut first = None;
    for run in runs {
        match &run.status {
            JitterStatus::Failed { why } => first = first.or(Some(why)),
            JitterStatus::Ok | JitterStatus::Blocked { .. } => return Ok(()),
        }
    }
    first.map_or(Ok(()), |why| Err(JitterError::NothingWorks(why.clone())))
}
