use std::path::PathBuf;

/// Why a machine could not be described, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// hwloc could not describe the machine that we are on.
    #[error(
        "hwloc cannot describe this machine: {why}; check that /sys is mounted and that \
         `lstopo` works here, or describe the machine with --xml or --synthetic"
    )]
    Live {
        /// What hwloc said.
        why: String,
    },
    /// hwloc was told by its environment to describe another machine.
    #[error(
        "the environment makes hwloc describe another machine than this one; unset HWLOC_XMLFILE, \
         HWLOC_SYNTHETIC, HWLOC_COMPONENTS and HWLOC_FSROOT, or use --xml or --synthetic"
    )]
    NotThisMachine,
    /// The file cannot be read at all.
    #[error("cannot read `{}`: {why}; give the path of an hwloc XML file, made with `lstopo FILE.xml`", file.display())]
    Unreadable {
        /// The file as given.
        file: PathBuf,
        /// What the system said.
        why: String,
    },
    /// The file is larger than any machine description.
    #[error(
        "`{}` is larger than {limit} bytes, more than any machine needs; give an hwloc XML file, \
         made with `lstopo FILE.xml`", file.display()
    )]
    TooLarge {
        /// The file as given.
        file: PathBuf,
        /// The largest size accepted, in bytes.
        limit: u64,
    },
    /// The file is not a machine description in XML.
    #[error("`{}` is not a machine description: {why}; make one with `lstopo FILE.xml`", file.display())]
    Xml {
        /// The file as given.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The text is not a synthetic machine description.
    #[error(
        "`{spec}` is not a machine description: {why}; write it like \
         `pack:2 [numa] l3:1 core:22 pu:2`, from the whole down to `pu`"
    )]
    Synthetic {
        /// The text as given.
        spec: String,
        /// The word that is at fault, where one can be named.
        word: Option<String>,
        /// What is wrong with it.
        why: String,
    },
}
