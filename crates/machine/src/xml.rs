use std::fs::File;
use std::io::Read;
use std::path::Path;

use hwlocality::topology::Topology;
use plimsoll_schema::{Machine, MachineSource};

use crate::topology::{Numbering, describe, flags};
use crate::{MachineError, child};

/// The largest file that is read: a recorded machine of 1 024 PUs has about 1 MB.
const MAX_BYTES: u64 = 16 << 20;

/// Describes the machine in an hwloc XML file (format version 2, or 1 as hwloc converts it).
///
/// CPUs that the file names without placing them (they were offline or disallowed where it was
/// made) are included as neither online nor allowed, on no core. Several NUMA nodes with the same
/// CPUs: the one with the lowest number has them, the others are memory-only, as in Linux.
///
/// # Errors
/// A file that cannot be read, is larger than 16 MiB, is not XML, not a machine, or that hwloc
/// cannot make sense of or crashes on.
pub fn from_xml(path: &Path) -> Result<Machine, MachineError> {
    let text = read(path)?;
    let bad = |why: String| MachineError::Xml {
        file: path.to_owned(),
        why,
    };
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.is_empty() {
        return Err(bad("it is empty".to_owned()));
    }
    if !start.starts_with('<') {
        return Err(bad("it is not XML".to_owned()));
    }
    if !text.contains("<topology") && !text.contains("<root") {
        return Err(bad("its XML is not hwloc's".to_owned()));
    }
    let source = MachineSource::Xml {
        file: path.display().to_string(),
    };
    child::guarded(move || {
        let topology = Topology::builder()
            .with_flags(flags())
            .map_err(|error| error.to_string())?
            .from_xml(&text)
            .map_err(|_| "hwloc cannot read its XML".to_owned())?
            .build()
            .map_err(|_| "it is cut off, or its XML does not describe a machine".to_owned())?;
        describe(&topology, source, Numbering::AS_GIVEN)
    })
    .map_err(bad)
}

fn read(path: &Path) -> Result<String, MachineError> {
    let unreadable = |why: String| MachineError::Unreadable {
        file: path.to_owned(),
        why,
    };
    let meta = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !meta.is_file() {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(MachineError::TooLarge {
            file: path.to_owned(),
            limit: MAX_BYTES,
        });
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(MachineError::Xml {
            file: path.to_owned(),
            why: "it is not text".to_owned(),
        }),
    }
}
