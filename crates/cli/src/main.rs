//! The `plimsoll` command: arguments in, one call, report out.

mod args;
mod bench;
mod calibrate;
mod capacity;
mod documents;
mod failure;
mod jitter;
mod layout;
mod map;
mod output;
mod progress;
mod runs;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Verb};
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.verb {
        Verb::Map(args) => map::main(&args),
        Verb::Bench(args) => bench::main(&args),
        Verb::Capacity(args) => capacity::main(&args),
        Verb::Jitter(args) => jitter::main(&args),
        Verb::Runs(args) => runs::main(&args),
        Verb::Man(args) => documents::man(&args),
        Verb::Completions(args) => documents::completions(&args),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("plimsoll: {failure}");
            failure.exit_code()
        }
    }
}

/// Sends `text` on unless the reader has gone (`plimsoll map | head` is no error).
fn print(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::cannot(format!("cannot print: {e}")))
        }
        _ => Ok(()),
    }
}
