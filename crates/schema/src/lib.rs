//! The records that pass between Plimsoll's rooms, and that users read as JSON.
//!
//! Every top-level record carries a `schema` member such as `plimsoll.map/1`: the number is raised
//! when a member is renamed, removed or changes meaning; new members do not raise it. Records hold
//! facts only; the rooms that make and use them hold the behaviour.

mod bind;
mod capacity;
mod cpuset;
mod effect;
mod experiment;
mod finding;
mod jitter;
mod machine;
mod map;
mod run;
mod runs;

pub use bind::{BindType, ParseBindTypeError};
pub use capacity::{CapacityReport, CapacityRow, CapacityTable, Fits};
pub use cpuset::{CpuSet, ParseCpuSetError};
pub use effect::{Conclusion, Effect, Interval, Mechanism};
pub use experiment::{
    Arm, Calibration, Design, Efficiency, Experiment, ExperimentStatus, LaunchLine, NoiseFloor,
    Verdict,
};
pub use finding::{Confidence, Finding};
pub use jitter::{
    AuditedFunction, HeldAt, HoldFigures, JitterArm, JitterAudit, JitterConclusion, JitterDesign,
    JitterEffect, JitterFigure, JitterReport, JitterRun, JitterStatistic, JitterStatus, JitterVm,
    Lateness, LatenessBin,
};
pub use machine::{
    CgroupLimit, CgroupVersion, Core, CoreKind, Counts, KernelSettings, L3Domain, Limits, Machine,
    MachineSource, NumaNode, Package, Pu, StealShare,
};
pub use map::{MapReport, Reach};
pub use run::{
    Evidence, HostEvidence, Run, RunStatus, Sample, ThreadType, ThreadTypeEvidence, VmFacts,
};
pub use runs::{Comparison, ComparisonRow, RunsList, Summary};

/// The JSON Schema of every top-level record, as `(file stem, schema)`.
pub fn json_schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![
        ("map", schemars::schema_for!(MapReport)),
        ("experiment", schemars::schema_for!(Experiment)),
        ("calibration", schemars::schema_for!(Calibration)),
        ("capacity", schemars::schema_for!(CapacityReport)),
        ("runs", schemars::schema_for!(RunsList)),
        ("comparison", schemars::schema_for!(Comparison)),
        ("jitter", schemars::schema_for!(JitterReport)),
    ]
}
