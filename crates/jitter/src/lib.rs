//! The jitter lab: how late processes wake up inside a VM while others keep its schedulers busy.
//!
//! Every run is a fresh VM that goes through a closed schedule and writes what it sees
//! ([`Vm`], the Elixir module `Plimsoll.Jitter`); a watchdog out here ends it when its heartbeat stays
//! away, because a VM whose schedulers are all blocked cannot end anything itself. [`run`] makes the
//! runs of an experiment in randomised blocks, [`analyse`] turns them into figures, comparisons paired
//! by block, findings and a verdict. The unit is the run: wake-ups of a run are never pooled with those
//! of another, except to draw them.

mod analysis;
mod arm;
mod audit;
mod event;
mod findings;
mod follow;
mod lab;
mod tally;
mod verdict;
mod vm;

pub use analysis::analyse;
pub use arm::{
    DEFAULT_ARMS, LOADS, check_arms, default_baseline, default_blocks, default_input_bytes, summary,
};
pub use follow::{Followed, Limits, follow};
pub use lab::{Executor, JitterError, Made, Progress, run};
pub use tally::Tally;
pub use vm::{Vm, VmExecutor};
