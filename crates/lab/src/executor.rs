//! The measured thing behind a small trait, so that the order of runs, budgets, interruption and
//! storage are tested without starting a process.

use plimsoll_schema::{Arm, Design, Run};

use crate::schedule::Planned;

/// Why an experiment cannot go on. (A single run that fails is a [`Run`] with status `Failed`.)
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The command cannot be started at all.
    #[error("cannot start `{program}`: {why}")]
    CannotStart {
        /// The first word of the command.
        program: String,
        /// What the system says.
        why: String,
    },
    /// The set-up around the run failed.
    #[error("{0}")]
    Setup(String),
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
}

/// Makes one run.
pub trait Executor {
    /// Runs `planned` under `arm` and gives its record. A workload that crashes or prints nonsense
    /// gives a record with status `Failed`; an error ends the experiment.
    fn execute(&mut self, design: &Design, arm: &Arm, planned: &Planned) -> Result<Run, RunError>;
}
