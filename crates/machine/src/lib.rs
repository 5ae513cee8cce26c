//! What the hardware, the kernel and the container are.
//!
//! Three sources, one record: [`live`] describes the machine that we are on, [`from_xml`] one that
//! somebody recorded with hwloc, [`from_synthetic`] one that exists only as a line of text. All
//! give a [`Machine`](plimsoll_schema::Machine); only the live one has kernel settings and limits.
//!
//! Descriptions come from users, and hwloc, which reads them, is C: it is run on them in a child
//! process (see `child.rs`), so that a file that crashes it, hangs it or eats memory is an error
//! here and nothing worse.

mod cgroup;
mod child;
mod error;
mod kernel;
mod live;
mod root;
mod synthetic;
mod topology;
mod xml;

pub use cgroup::limits;
pub use error::MachineError;
pub use kernel::settings;
pub use live::live;
pub use root::Root;
pub use synthetic::from_synthetic;
pub use xml::from_xml;

/// The highest CPU number accepted from a description: what a CPU list in the records may name.
const MAX_CPU: u32 = 65_535;
