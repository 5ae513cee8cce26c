mod calibration;
mod capacity;
mod compare;
mod experiment;
mod jitter;
mod layout;
mod machine;
mod map;
mod runs;

pub use calibration::calibration_text;
pub use capacity::capacity_text;
pub use compare::compare_text;
pub use experiment::experiment_text;
pub use jitter::jitter_text;
pub use layout::emphasised;
pub use map::map_text;
pub use runs::{RunsRow, runs_table};
