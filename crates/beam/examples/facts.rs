//! Runs a command with the agent and prints what the VM said of itself:
//! `cargo run -p plimsoll-beam --example facts -- erl -noshell -eval 'halt()'`.

use std::process::Command;

use plimsoll_beam::Session;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (first, rest) = words.split_first().ok_or("name a command")?;
    let session = Session::new()?;
    let status = Command::new(first)
        .args(rest)
        .envs(session.environment(&[]))
        .status()?;
    eprintln!("{status}\n{:#?}", session.facts()?);
    Ok(())
}
