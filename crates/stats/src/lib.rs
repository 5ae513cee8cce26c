//! Estimators, intervals and tests: pure functions over slices, the same answer every time.
//!
//! - Effects between arms, paired by block: [`paired_effects`], [`smallest_detectable`],
//!   [`paired_ratio_interval`]; how many blocks they need: [`minimum_blocks`], [`default_blocks`]; the
//!   order of runs they rest on: [`block_order`].
//! - One run: [`warmup`]. One session: [`drift`]. One list of values: [`median`] and its neighbours.
//! - [`simulate`]: experiments with known truth, on which all of this is calibrated.
//!
//! The unit is the run: none of the intervals may be given samples from inside a run.

mod describe;
mod design;
mod normal;
mod order;
mod paired;
mod signed_rank;
pub mod simulate;
mod trend;
mod warmup;

pub use describe::{
    coefficient_of_variation, geometric_mean, mad, median, median_interval, quantile,
};
pub use design::{default_blocks, minimum_blocks};
pub use order::block_order;
pub use paired::{
    PairedEffect, paired_effects, paired_ratio, paired_ratio_interval, smallest_detectable,
};
pub use trend::{DRIFT_RATE, Drift, drift};
pub use warmup::{Warmup, warmup};
