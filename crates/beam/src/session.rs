use plimsoll_schema::VmFacts;

use crate::BeamError;

/// One run of a command that may be a BEAM.
#[derive(Debug)]
pub struct Session {
    directory: tempfile::TempDir,
}

impl Session {
    /// Makes a private directory with the agent in it.
    pub fn new() -> Result<Self, BeamError> {
        let directory = tempfile::tempdir().map_err(BeamError::Directory)?;
        Ok(Self { directory })
    }

    /// The environment variables to set for the command. `vm_flags`: one word each, as on `erl`'s
    /// command line (`["+sbt", "ts"]`); they win over the same flags inherited or on the command
    /// line.
    pub fn environment(&self, _vm_flags: &[String]) -> Vec<(String, String)> {
        let _ = &self.directory;
        Vec::new()
    }

    /// Restarts the means of run queue and utilisation: the warm-up is over.
    pub fn begin_window(&self) -> Result<(), BeamError> {
        Ok(())
    }

    /// What the VM said last of itself; `None`: no VM has claimed the session.
    pub fn facts(&self) -> Result<Option<VmFacts>, BeamError> {
        Ok(None)
    }
}
