//! Writes the fixture's report and drawings into a folder: to look at, and for the browser test.
//! `cargo run -p plimsoll-report --example sample_report -- FOLDER`. Figures are made by formula.

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::PathBuf;

use plimsoll_report::{experiment_html, map_svg, thread_spots};
use plimsoll_schema::BindType;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let Some(folder) = folder else {
        eprintln!("say where to write: sample_report FOLDER");
        std::process::exit(2);
    };
    std::fs::create_dir_all(&folder)?;
    let map = common::map_of(common::two_sockets());
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text);
    write(
        "sample.html",
        experiment_html(&common::experiment(), Some(&map)),
    )?;
    write("hostile.html", experiment_html(&common::hostile(), None))?;
    write("two-cores.html", experiment_html(&common::small(), None))?;
    for (name, machine) in [
        ("map-88", common::two_sockets()),
        ("map-192", common::chiplets()),
        ("map-1024", common::thousand_cpus()),
        ("map-odd", common::odd()),
        ("map-bare", common::bare()),
    ] {
        let map = common::map_of(machine);
        let spots = thread_spots(&map, BindType::Ts);
        write(&format!("{name}.svg"), map_svg(&map, &spots))?;
    }
    Ok(())
}
