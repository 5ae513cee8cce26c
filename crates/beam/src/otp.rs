use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::BeamError;

/// An installed Erlang/OTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Otp {
    /// The release, for instance `25`.
    pub release: String,
    /// The runtime system's version, for instance `13.1.5`.
    pub erts: String,
    /// The `erl` that says so.
    pub erl: PathBuf,
}

/// The Erlang/OTP whose `erl` is first on `PATH`. Starts a VM to ask it (about 0.1 s).
pub fn otp() -> Result<Otp, BeamError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let erl = env::split_paths(&path)
        .map(|directory| directory.join("erl"))
        .find(|candidate| is_executable(candidate))
        .ok_or(BeamError::NoErlang)?;
    ask(&erl)
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn ask(erl: &Path) -> Result<Otp, BeamError> {
    const QUESTION: &str = "io:format(\"plimsoll ~ts ~ts~n\", \
         [erlang:system_info(otp_release), erlang:system_info(version)]), halt().";
    let broken = |why: String| BeamError::ErlangBroken {
        erl: erl.to_owned(),
        why,
    };
    let output = Command::new(erl)
        .args(["-noshell", "-boot", "start_clean", "-eval", QUESTION])
        // A user's own flags may name a node or start an application.
        .env_remove("ERL_FLAGS")
        .env_remove("ERL_AFLAGS")
        .env_remove("ERL_ZFLAGS")
        .stdin(Stdio::null())
        .output()
        .map_err(|error: io::Error| broken(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text
        .lines()
        .find_map(|line| line.strip_prefix("plimsoll "))
        .ok_or_else(|| {
            broken(format!(
                "it ended with {} and did not answer",
                output.status
            ))
        })?
        .split_whitespace();
    match (words.next(), words.next()) {
        (Some(release), Some(erts)) => Ok(Otp {
            release: release.to_owned(),
            erts: erts.to_owned(),
            erl: erl.to_owned(),
        }),
        _ => Err(broken(format!("its answer is `{}`", text.trim()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_erlang_on_path_says_who_it_is() {
        let otp = otp().unwrap();
        assert!(otp.release.parse::<u32>().unwrap() >= 25, "{otp:?}");
        assert!(otp.erts.starts_with(char::is_numeric), "{otp:?}");
        assert!(otp.erl.ends_with("erl"));
    }

    #[test]
    fn an_erl_that_does_not_run_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let erl = directory.path().join("erl");
        fs::write(&erl, "#!/bin/sh\nexit 3\n").unwrap();
        fs::set_permissions(&erl, fs::Permissions::from_mode(0o755)).unwrap();
        let error = ask(&erl).unwrap_err().to_string();
        assert!(error.contains(&erl.display().to_string()), "{error}");
        assert!(error.contains("exit status: 3"), "{error}");
    }
}
