//! VMs from outside: launch with flags, read back, the injected agent.

mod agent;
mod error;
mod flags;
mod otp;
mod session;

pub use error::BeamError;
pub use otp::{Otp, otp};
pub use session::Session;
