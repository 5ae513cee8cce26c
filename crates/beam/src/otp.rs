use std::path::PathBuf;

use crate::BeamError;

/// An installed Erlang/OTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Otp {
    /// The release, for instance `25`.
    pub release: String,
    /// The runtime system's version, for instance `13.1.5`.
    pub erts: String,
    /// The `erl` that says so.
    pub erl: PathBuf,
}

/// The Erlang/OTP whose `erl` is first on PATH.
pub fn otp() -> Result<Otp, BeamError> {
    Err(BeamError::NoErlang)
}
