//! `plimsoll map`.

use std::process::ExitCode;

use plimsoll_machine::{from_synthetic, from_xml, live};
use plimsoll_placement::map_report;
use plimsoll_report::{map_svg, map_text, thread_spots};
use plimsoll_schema::BindType;

use crate::args::MapArgs;
use crate::failure::Failure;
use crate::output::{deliver, json, width};

pub fn main(args: &MapArgs) -> Result<ExitCode, Failure> {
    let machine = match (&args.xml, &args.synthetic) {
        (Some(file), _) => from_xml(file).map_err(Failure::usage)?,
        (None, Some(spec)) => from_synthetic(spec).map_err(Failure::usage)?,
        (None, None) => live().map_err(Failure::cannot)?,
    };
    let report =
        map_report(&machine, args.schedulers, args.cpuset.clone()).map_err(Failure::usage)?;
    let text = if args.shown.json {
        json(&report)
    } else if args.svg {
        map_svg(&report, &thread_spots(&report, BindType::Db))
    } else {
        map_text(&report, width())
    };
    deliver(&args.shown.output, &text)?;
    Ok(ExitCode::SUCCESS)
}
