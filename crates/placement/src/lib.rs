//! Who sits where: the VM's own scheduler orders, classes of equal placements, advice.
//!
//! The VM (erts) reads node, package and core numbers from the kernel, sorts the CPUs by the bind
//! type, skips those outside its affinity mask and gives the rest to schedulers 1, 2, … This crate
//! says the result for any described [`Machine`](plimsoll_schema::Machine), without a VM:
//!
//! - [`erts_view`]: the machine as the VM sees it;
//! - [`order`] and [`bindings`]: which CPU each scheduler gets;
//! - [`classes`] and [`same_cpus`]: which bind types are one placement here;
//! - [`sct`] and [`sct_by_l3`]: the machine in the syntax of the VM's `+sct` flag;
//! - [`reach`], [`default_schedulers`], [`advice`]: what follows for threads, numbers and flags;
//! - [`map_report`]: all of it in one record.
//!
//! The rules are those of OTP 25 (`erts/emulator/beam/erl_cpu_topology.c`,
//! `erts/lib_src/common/erl_misc_utils.c`); the tests ask a running VM.

mod advice;
mod binding;
mod classes;
mod order;
mod report;
mod sct;
mod view;

pub use advice::advice;
pub use binding::{bindings, default_schedulers, reach};
pub use classes::{classes, same_cpus};
pub use order::{order, order_of};
pub use report::{MAX_SCHEDULERS, PlacementError, map_report};
pub use sct::{sct, sct_by_l3, sct_of};
pub use view::{ErtsCpu, erts_view};
