use std::time::Duration;

use plimsoll_schema::{CpuSet, Evidence};

use crate::ProbeError;

/// What a [`Watch`] saw.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// Sums by type of thread, and the host meanwhile.
    pub evidence: Evidence,
    /// The kernel's mask of normal scheduler 1, 2, …; empty when there was no VM.
    pub scheduler_masks: Vec<CpuSet>,
    /// The VM among the processes watched: the outermost one when a VM starts another.
    pub pid_of_vm: Option<u32>,
}

/// A process and all its descendants under observation.
#[derive(Debug)]
pub struct Watch;

impl Watch {
    /// Watches process `pid` and all its descendants from now on, looking every `every`.
    pub fn start(_pid: u32, _every: Duration) -> Result<Self, ProbeError> {
        Ok(Self)
    }

    /// Restarts all counters: the warm-up is over.
    pub fn begin_window(&self) {}

    /// Looks once more, and says what was seen since [`Watch::begin_window`], or since the start.
    /// Call it before the process is reaped: a zombie still has its totals.
    pub fn finish(self) -> Observation {
        Observation::default()
    }
}
