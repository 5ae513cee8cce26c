//! Experiments: what to run in which order, running it, keeping it, and what follows from it.
//!
//! A *block* is one run of every arm at every level. [`schedule`] says in which order, [`run`] goes
//! through it with an [`Executor`], the [`Store`] keeps every run as soon as it ends, [`analyse`]
//! turns the runs into effects, findings and a verdict. Each of these can be used alone: a stored
//! experiment is analysed again without being run again.

mod analysis;
mod arms;
mod calibrate;
mod effects;
mod executor;
mod findings;
mod mechanism;
mod process;
mod runner;
mod schedule;
mod settings;
mod store;
mod verdict;

pub use analysis::analyse;
pub use arms::{ArmRequest, ArmsError, arms, ceiling, in_modes};
pub use calibrate::{calibration, noise_floor};
pub use executor::{Executor, RunError};
pub use process::{ProcessExecutor, Programme};
pub use runner::{Progress, RunnerError, Stop, run};
pub use schedule::{Planned, block_count, schedule_block};
pub use settings::settings;
pub use store::{Store, StoreError, default_path};
