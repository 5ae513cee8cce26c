use thiserror::Error;

/// Why a workload cannot be run or read; the sentence says what to do next.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum WorkloadError {
    /// There is no command to run.
    #[error("there is no command to run: name a built-in workload or write one after `--`")]
    NoCommand,
    /// Nothing can run at level 0.
    #[error("level 0 runs nothing: use a level of 1 or more")]
    LevelZero,
    /// The window is not a length of time.
    #[error("a window of {0} seconds cannot be timed: use a finite number above 0")]
    BadWindow(f64),
    /// A name that the system would not accept for an environment variable.
    #[error("--env {0:?} is not a name of an environment variable: write --env NAME=VALUE")]
    BadEnvName(String),
    /// The user set a variable that Plimsoll fills in itself.
    #[error(
        "--env {0} is set by Plimsoll for every run: remove it (--levels, --window and --seed \
         decide its value)"
    )]
    ReservedEnv(String),
    /// The system ends strings at a NUL.
    #[error("{0:?} contains a NUL character, which no command can be given: remove it")]
    Nul(String),
    /// A line of the protocol that cannot be used.
    #[error(
        "the workload printed {line:?}, which is not a line of the Plimsoll protocol: {why}; \
         correct the workload (docs: workload protocol)"
    )]
    BadLine {
        /// The line, shortened when it is long.
        line: String,
        /// What is wrong with it.
        why: String,
    },
    /// `--metric` is not a regular expression.
    #[error("--metric {pattern:?} is not a regular expression: {why}")]
    BadMetric {
        /// As given.
        pattern: String,
        /// What is wrong with it, in one line.
        why: String,
    },
    /// `--metric` matches nothing in the output.
    #[error(
        "--metric {pattern:?} matches nothing in the command's output: compare it with what the \
         command prints"
    )]
    NoMatch {
        /// As given.
        pattern: String,
    },
    /// What `--metric` matched is not a positive number.
    #[error(
        "--metric {pattern:?} found {found:?}, which is not a finite number above 0: put the \
         number in the first group, as in 'rate: ([0-9.]+)'"
    )]
    NotAFigure {
        /// As given.
        pattern: String,
        /// What it matched, shortened when it is long.
        found: String,
    },
    /// No built-in workload has this name.
    #[error("there is no built-in workload {name:?}: use {known}, or a command after `--`")]
    UnknownBuiltin {
        /// As given.
        name: String,
        /// The names there are.
        known: String,
    },
}

/// The start of a text, for a message: long output must not flood the terminal.
pub(crate) fn excerpt(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
