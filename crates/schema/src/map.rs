use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::ThreadType;
use crate::{BindType, CpuSet, Finding, Machine};

/// What `plimsoll map --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MapReport {
    /// Always `plimsoll.map/1`.
    pub schema: String,
    /// The machine.
    pub machine: Machine,
    /// How many normal schedulers the bindings are for.
    pub schedulers: usize,
    /// The CPUs that the VM may use.
    pub cpuset: CpuSet,
    /// For each bind type the CPU of scheduler 1, 2, …; `null` where a scheduler stays unbound.
    pub bindings: BTreeMap<BindType, Vec<Option<u32>>>,
    /// Bind types that are the same placement here, CPU for CPU: one class each.
    pub classes: Vec<Vec<BindType>>,
    /// Which threads of the VM a binding reaches.
    pub reach: Vec<Reach>,
    /// The topology in the syntax of the VM's `+sct` flag.
    pub sct: Option<String>,
    /// Advice that follows from this topology.
    pub advice: Vec<Finding>,
}

impl MapReport {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "plimsoll.map/1";
}

/// Whether `+sbt` reaches a type of thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reach {
    /// The type of thread.
    pub threads: ThreadType,
    /// How many of them a VM with `schedulers` schedulers starts; `None` = it depends on the program.
    pub count: Option<usize>,
    /// Whether `+sbt` places them.
    pub bound: bool,
}
