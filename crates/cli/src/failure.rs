//! How the program ends when it does not end well.

use std::fmt;
use std::process::ExitCode;

/// Found or regressed, where the user asked for a gate.
pub const FOUND: u8 = 1;
/// Wrong usage or bad input.
pub const USAGE: u8 = 2;
/// It cannot run here.
pub const CANNOT: u8 = 3;
/// Stopped by the user: what shells report after SIGINT.
pub const STOPPED: u8 = 130;

/// A sentence that says what to do next, and an exit code.
#[derive(Debug)]
pub struct Failure {
    sentence: String,
    code: u8,
}

impl Failure {
    /// Wrong usage or bad input: exit code 2.
    pub fn usage(sentence: impl fmt::Display) -> Self {
        Self {
            sentence: sentence.to_string(),
            code: USAGE,
        }
    }

    /// It cannot run here: exit code 3.
    pub fn cannot(sentence: impl fmt::Display) -> Self {
        Self {
            sentence: sentence.to_string(),
            code: CANNOT,
        }
    }

    /// Stopped by the user: exit code 130.
    pub fn stopped(sentence: impl fmt::Display) -> Self {
        Self {
            sentence: sentence.to_string(),
            code: STOPPED,
        }
    }

    /// The exit code.
    pub fn exit_code(&self) -> ExitCode {
        self.code.into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
