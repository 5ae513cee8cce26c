//! Sampling of threads, machine and cgroup; no opinion.
//!
//! A [`Watch`] looks at one process and all its descendants (commands are often shell wrappers)
//! from outside, through `/proc` and the cgroup files, and sums what it saw by type of thread.
//! What the kernel does not provide is `None`, never zero.

mod cgroup;
mod counts;
mod error;
mod host;
mod process;
mod thread;
mod threads;
mod watch;

pub use error::ProbeError;
pub use thread::{scheduler_number, thread_type};
pub use watch::{Observation, Watch};
