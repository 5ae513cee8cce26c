use std::path::PathBuf;

/// Why a process cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// There is no such process, or it has ended.
    #[error("process {pid} is not there (no {}); start the command first, then watch it", path.display())]
    NoProcess {
        /// The process that was asked for.
        pid: u32,
        /// Where it should have been.
        path: PathBuf,
    },
    /// The kernel refused the sampling thread.
    #[error("cannot start the sampling thread: {0}; raise the limit on processes (ulimit -u)")]
    Thread(#[source] std::io::Error),
}
