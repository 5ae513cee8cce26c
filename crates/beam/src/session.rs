use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use plimsoll_schema::VmFacts;

use crate::{BeamError, agent, flags};

/// One run of a command that may be a BEAM: a private directory with the agent in it, and the
/// environment that makes a VM take flags and agent. The directory vanishes with the session; an
/// agent that is still alive then switches off what it had switched on, and ends.
#[derive(Debug)]
pub struct Session {
    directory: tempfile::TempDir,
}

impl Session {
    /// Makes the directory (mode 0700) below `TMPDIR`.
    pub fn new() -> Result<Self, BeamError> {
        Self::new_in(&env::temp_dir())
    }

    /// Makes the directory below `parent`.
    pub fn new_in(parent: &Path) -> Result<Self, BeamError> {
        let directory = tempfile::Builder::new()
            .prefix("plimsoll-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(BeamError::Directory)?;
        let session = Self { directory };
        session.write(agent::BEAM_FILE, agent::BEAM)?;
        Ok(session)
    }

    /// The environment variables to set for the command, beside those that it inherits.
    ///
    /// `vm_flags`: one word each, as on `erl`'s command line (`["+sbt", "ts"]`). They win over the
    /// same flags on the command line and in the inherited environment: the VM takes the last of
    /// equal flags, and reads `ERL_AFLAGS`, its command line, `ERL_FLAGS` and `ERL_ZFLAGS` in this
    /// order. The agent comes in through `ERL_AFLAGS`, ahead of everything: code in the others
    /// waits behind a program that never returns.
    pub fn environment(&self, vm_flags: &[String]) -> Vec<(String, String)> {
        self.environment_over(vm_flags, |name| env::var(name).ok())
    }

    fn environment_over(
        &self,
        vm_flags: &[String],
        inherited: impl Fn(&str) -> Option<String>,
    ) -> Vec<(String, String)> {
        let inherited = |name: &str| inherited(name).unwrap_or_default();
        let arm = flags::join(vm_flags);
        let expression = agent::expression(self.directory.path().as_os_str().as_bytes());
        // `--` ends the list of expressions: plain arguments of the program that follow stay its own.
        let agent = flags::join(&["-eval", &expression, "--"]);
        let mut variables = vec![
            (
                "ERL_AFLAGS".to_owned(),
                flags::concat(&agent, &inherited("ERL_AFLAGS")),
            ),
            (
                "ERL_FLAGS".to_owned(),
                flags::concat(&inherited("ERL_FLAGS"), &arm),
            ),
        ];
        let last = inherited("ERL_ZFLAGS");
        if !last.trim().is_empty() {
            variables.push(("ERL_ZFLAGS".to_owned(), flags::concat(&last, &arm)));
        }
        variables
    }

    /// Restarts the means of run queue and utilisation: the warm-up is over. The agent follows
    /// within a quarter of a second; until then, and without a VM, nothing changes.
    pub fn begin_window(&self) -> Result<(), BeamError> {
        self.write(agent::WINDOW_FILE, b"")
    }

    /// What the VM said last of itself; `None`: no VM has claimed the session.
    ///
    /// The facts outlive the VM. `masks` is empty: they are read from outside (`plimsoll-probe`).
    /// Means are `None` until the VM has run for half a second. While a normal scheduler is stuck
    /// in native code that does not yield the VM cannot answer, and the facts stay as they were.
    pub fn facts(&self) -> Result<Option<VmFacts>, BeamError> {
        let path = self.path(agent::STATE_FILE);
        match fs::read(&path) {
            Ok(json) => agent::parse_state(&json)
                .map(Some)
                .map_err(|source| BeamError::State { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(BeamError::File { path, source }),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.path().join(file)
    }

    fn write(&self, file: &str, bytes: &[u8]) -> Result<(), BeamError> {
        let path = self.path(file);
        fs::write(&path, bytes).map_err(|source| BeamError::File { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(flags: &[&str], inherited: &[(&str, &str)]) -> Vec<(String, String)> {
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        Session::new().unwrap().environment_over(&flags, |name| {
            inherited
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    fn value<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
        environment
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    #[test]
    fn our_flags_come_after_the_inherited_ones() {
        let got = environment(&["+sbt", "ts"], &[("ERL_FLAGS", "+S 2")]);
        assert_eq!(value(&got, "ERL_FLAGS"), Some("+S 2 +sbt ts"));
        assert_eq!(value(&got, "ERL_ZFLAGS"), None);
    }

    #[test]
    fn flags_that_would_be_read_even_later_are_followed_by_ours_too() {
        let got = environment(&["+sbt", "ts"], &[("ERL_ZFLAGS", "+sbt u")]);
        assert_eq!(value(&got, "ERL_ZFLAGS"), Some("+sbt u +sbt ts"));
    }

    #[test]
    fn the_agent_comes_before_inherited_arguments() {
        let got = environment(&[], &[("ERL_AFLAGS", "-kernel shell_history enabled")]);
        let flags = value(&got, "ERL_AFLAGS").unwrap();
        assert!(flags.starts_with("-eval "));
        assert!(flags.ends_with(" -- -kernel shell_history enabled"));
    }

    #[test]
    fn the_directory_is_private_and_vanishes_with_the_session() {
        let session = Session::new().unwrap();
        let path = session.directory.path().to_owned();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o700
        );
        drop(session);
        assert!(!path.exists());
    }

    #[test]
    fn a_damaged_state_is_an_error_and_not_a_guess() {
        let session = Session::new().unwrap();
        session
            .write(agent::STATE_FILE, b"{\"otp_release\":")
            .unwrap();
        let error = session.facts().unwrap_err().to_string();
        assert!(error.contains("state.json is damaged"), "{error}");
    }
}
