use std::io;
use std::path::PathBuf;

/// Why a VM cannot be started, observed or asked.
#[derive(Debug, thiserror::Error)]
pub enum BeamError {
    /// No private directory for the agent.
    #[error(
        "cannot make a temporary directory: {0}; set TMPDIR to a directory that is writable and has space"
    )]
    Directory(#[source] io::Error),
    /// A file in the session directory could not be read or written.
    #[error("cannot use {}: {source}; set TMPDIR to a directory that stays in place during the run", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// What the agent left is not what an agent writes.
    #[error("the VM's state in {} is damaged: {source}; run again, and report it if it comes back", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// No Erlang on PATH.
    #[error(
        "no `erl` on PATH; install Erlang/OTP 25 or later (on Debian: apt install erlang-base)"
    )]
    NoErlang,
    /// `erl` is there but does not work.
    #[error("{} does not run: {why}; try `erl -noshell -eval 'halt().'`", erl.display())]
    ErlangBroken {
        /// The `erl` that was tried.
        erl: PathBuf,
        /// What happened.
        why: String,
    },
}
