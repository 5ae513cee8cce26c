//! The manual page and the shells' completions, made from the command line's own description.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, Output};
use crate::failure::Failure;
use crate::output::deliver;

/// One page: the program, then each verb.
pub fn man(output: &Output) -> Result<ExitCode, Failure> {
    let cannot = |e: std::io::Error| Failure::cannot(e);
    let mut page = Vec::new();
    let command = Cli::command();
    let man = clap_mangen::Man::new(command.clone());
    man.render(&mut page).map_err(cannot)?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let mut part = Vec::new();
        let verb = verb.clone().name(format!("plimsoll {}", verb.get_name()));
        let man = clap_mangen::Man::new(verb);
        man.render_synopsis_section(&mut part).map_err(cannot)?;
        man.render_options_section(&mut part).map_err(cannot)?;
        man.render_extra_section(&mut part).map_err(cannot)?;
        page.extend(part);
    }
    deliver(output, &String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}

/// The completions of one shell.
pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "plimsoll", &mut script);
    deliver(&args.output, &String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
