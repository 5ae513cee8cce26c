//! What a workload is to the rest of Plimsoll: a command, lines that it prints, and a figure.
//!
//! - [`fill`] writes level, window and seed into a command's words and environment.
//! - [`parse_line`] reads the lines of a workload that speaks the protocol.
//! - [`Metric`] takes the figure from the output of one that does not (`--metric REGEX`).
//! - [`Builtin`] and [`command`] name the workloads that come with Plimsoll and how to start them.
//! - [`spin`] is the arithmetic of `spin` and `nif-spin`; the NIF calls it.
//!
//! Nothing here starts a process: that is the lab's business.

mod builtin;
mod error;
mod event;
mod fill;
mod metric;
mod spin;

pub use builtin::{Builtin, Layout, command};
pub use error::WorkloadError;
pub use event::{Event, Message, parse_line, parse_message};
pub use fill::{Fill, Filled, fill};
pub use metric::Metric;
pub use spin::spin;
