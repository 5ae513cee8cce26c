//! Goes through the schedule, stores each run as it ends, and knows when to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plimsoll_schema::{Experiment, ExperimentStatus, Run, RunStatus};

use crate::executor::{Executor, RunError};
use crate::schedule::{Planned, block_count, schedule_block};
use crate::store::{Store, StoreError};

/// A flag that a signal handler sets; the runner and the executor look at it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for the end of the experiment; the run in progress is given up.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the end was asked for.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The flag itself, for signal handlers.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// What the runner is about to do, for a progress bar.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Runs made so far.
    pub done: usize,
    /// Runs in all; an estimate when a budget decides.
    pub total: usize,
    /// The run that starts now.
    pub next: &'a Planned,
    /// Name of its arm.
    pub arm: &'a str,
    /// Blocks in all.
    pub blocks: usize,
}

/// Why the runner ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// The experiment cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A run could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Every run of the first block failed.
    #[error("every run of the first block failed: {why}")]
    NothingWorks {
        /// Why the first of them failed.
        why: String,
    },
}

/// Runs what is left of `experiment`, storing each run; `experiment.runs` grows as it goes.
///
/// Ends when the planned blocks are done, or at the end of the block in which the budget is used up,
/// or — with [`RunError::Stopped`] — when `stop` is requested; then the status stays `Running` and
/// calling again goes on where it stopped. `elapsed` is the time that earlier calls used.
pub fn run(
    experiment: &mut Experiment,
    executor: &mut dyn Executor,
    store: Option<&mut Store>,
    stop: &Stop,
    elapsed: Duration,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<(), RunnerError> {
    let mut store = store;
    let start = Instant::now();
    let arms = experiment.arms.len();
    let cells = arms * experiment.levels.len();
    let budget = experiment
        .design
        .budget_seconds
        .map(Duration::from_secs_f64);
    let default_blocks = block_count(experiment);
    let mut block = 0;
    loop {
        let blocks = match (experiment.design.blocks, budget) {
            (Some(blocks), _) => blocks,
            (None, None) => default_blocks,
            (None, Some(budget)) => blocks_within(
                budget,
                elapsed + start.elapsed(),
                experiment.runs.len(),
                cells,
                block,
            ),
        };
        if block >= blocks {
            break;
        }
        for planned in schedule_block(experiment.design.seed, arms, &experiment.levels, block) {
            if experiment.runs.iter().any(|r| r.order == planned.order) {
                continue;
            }
            if stop.requested() {
                return Err(RunError::Stopped.into());
            }
            let arm = &experiment.arms[planned.arm];
            progress(&Progress {
                done: experiment.runs.len(),
                total: blocks * cells,
                next: &planned,
                arm: &arm.name,
                blocks,
            });
            let run = executor.execute(&experiment.design, arm, &planned)?;
            if let Some(store) = store.as_deref_mut() {
                store.add_run(experiment.id, &run, elapsed + start.elapsed())?;
            }
            experiment.runs.push(run);
        }
        if block == 0 {
            first_block_worked(&experiment.runs)?;
        }
        block += 1;
    }
    experiment.status = ExperimentStatus::Complete;
    Ok(())
}

/// How many whole blocks fit the budget, at the pace so far: at least the one that is under way, and
/// one more only if it is expected to end in time.
fn blocks_within(
    budget: Duration,
    used: Duration,
    runs: usize,
    cells: usize,
    block: usize,
) -> usize {
    if runs == 0 {
        return block + 1;
    }
    let per_block = used.mul_f64(cells as f64 / runs as f64);
    let left = budget.saturating_sub(used);
    block + (left.as_secs_f64() / per_block.as_secs_f64().max(1e-9)) as usize
}

fn first_block_worked(runs: &[Run]) -> Result<(), RunnerError> {
    let mut first_failure = None;
    for run in runs {
        match &run.status {
            RunStatus::Ok => return Ok(()),
            RunStatus::Failed { why } => first_failure = first_failure.or(Some(why.clone())),
        }
    }
    match first_failure {
        Some(why) => Err(RunnerError::NothingWorks { why }),
        None => Ok(()),
    }
}
