//! Where the program's own files are: relative to the program itself.

use std::path::PathBuf;

use plimsoll_workload::Layout;

use crate::failure::Failure;

/// `lib/plimsoll` beside the `bin` folder that the program was started from.
pub fn layout() -> Result<Layout, Failure> {
    let program =
        std::env::current_exe().map_err(|e| Failure::cannot(format!("cannot find myself: {e}")))?;
    let lib: Option<PathBuf> = program
        .parent()
        .and_then(|bin| bin.parent())
        .map(|prefix| prefix.join("lib").join("plimsoll"))
        .filter(|lib| lib.join("ebin").is_dir());
    lib.map(|lib| Layout { lib }).ok_or_else(|| {
        Failure::cannot(format!(
            "the built-in workloads are missing: no lib/plimsoll beside the folder of {}; \
             `./x setup` builds them, `./x install` puts them in place",
            program.display()
        ))
    })
}
