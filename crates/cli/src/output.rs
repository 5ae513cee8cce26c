//! Where output goes.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::args::Output;
use crate::failure::Failure;

/// The width that tables keep to when the terminal does not say.
const WIDTH: usize = 80;

/// Prints `text`, or puts it into `--out FILE`.
pub fn deliver(output: &Output, text: &str) -> Result<(), Failure> {
    match &output.out {
        Some(file) => write_whole(file, text),
        None => crate::print(text),
    }
}

/// A record as JSON, with a line end.
pub fn json<T: Serialize>(record: &T) -> String {
    let mut text =
        serde_json::to_string_pretty(record).expect("records have string keys and serialise");
    text.push('\n');
    text
}

/// Writes beside `file` and renames, so that nobody ever reads half a file.
pub fn write_whole(file: &Path, text: &str) -> Result<(), Failure> {
    let cannot =
        |e: std::io::Error| Failure::usage(format!("cannot write {}: {e}", file.display()));
    if std::fs::metadata(file).is_ok_and(|m| !m.is_file()) {
        // A pipe or a device such as /dev/stdout cannot be renamed onto.
        return std::fs::write(file, text).map_err(cannot);
    }
    let mut name = file
        .file_name()
        .map(std::ffi::OsStr::to_owned)
        .ok_or_else(|| Failure::usage(format!("--out {}: that is no file name", file.display())))?;
    name.push(format!(".{}.new", std::process::id()));
    let beside = file.with_file_name(name);
    let written = std::fs::File::create(&beside)
        .and_then(|mut f| f.write_all(text.as_bytes()).and_then(|()| f.sync_all()))
        .and_then(|()| std::fs::rename(&beside, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written.map_err(cannot)
}

/// Columns to draw in: `$COLUMNS` when set, else 80.
pub fn width() -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|c| c.parse().ok())
        .map_or(WIDTH, |c: usize| c.clamp(60, 160))
}
