use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::WorkloadError;

/// A workload that comes with Plimsoll. Its code is the module of the same name under
/// `Plimsoll.Workload` in the Mix project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// Integer work in Elixir, on the normal schedulers.
    Spin,
    /// The same integer work in a NIF, on the dirty CPU schedulers.
    NifSpin,
    /// All processes update the same few ETS counters.
    EtsCounter,
    /// One NUTS fit a job, on the dirty CPU schedulers.
    Nuts,
    /// The same fits draw by draw on the normal schedulers.
    NutsStepping,
}

impl Builtin {
    /// Every one, in the order in which they are listed to people.
    pub const ALL: [Self; 5] = [
        Self::Spin,
        Self::NifSpin,
        Self::EtsCounter,
        Self::Nuts,
        Self::NutsStepping,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::NifSpin => "nif-spin",
            Self::EtsCounter => "ets-counter",
            Self::Nuts => "nuts",
            Self::NutsStepping => "nuts-stepping",
        }
    }

    /// What it does, in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Spin => "integer work in Elixir, on the normal schedulers",
            Self::NifSpin => {
                "the same integer work in a NIF, on the dirty schedulers that +sbt does not bind"
            }
            Self::EtsCounter => "all processes update the same few ETS counters",
            Self::Nuts => "one NUTS fit a job, on the dirty schedulers that +sbt does not bind",
            Self::NutsStepping => "the same NUTS fits draw by draw, on the normal schedulers",
        }
    }

    /// What its `ops` count. `spin` and `nif-spin` count the same thing, as do `nuts` and
    /// `nuts-stepping`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Spin | Self::NifSpin => "steps",
            Self::EtsCounter => "updates",
            Self::Nuts | Self::NutsStepping => "jobs",
        }
    }

    /// The environment variable that sets its execution mode, and the modes; `None` when it has one
    /// way of running only.
    pub fn modes(self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            Self::Nuts => Some(("PLIMSOLL_NUTS_ON", &["dirty", "stepping"])),
            Self::NutsStepping | Self::Spin | Self::NifSpin | Self::EtsCounter => None,
        }
    }
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Builtin {
    type Err = WorkloadError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|builtin| builtin.name() == name)
            .ok_or_else(|| WorkloadError::UnknownBuiltin {
                name: name.to_owned(),
                known: Self::ALL.map(Self::name).join(", "),
            })
    }
}

/// Where the BEAM side is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The installed `lib/plimsoll`, holding `ebin/`, `priv/plimsoll_nif.so` and `elixir/ebin/`
    /// (Elixir's own modules, so that neither `elixir` nor `mix` is needed to run).
    pub lib: PathBuf,
}

/// The words that run a built-in workload in a fresh VM; pass them through [`fill`](crate::fill),
/// which sets the environment that it reads.
///
/// Plain `erl` with the smallest boot script: no `mix`, no `elixir` start script, no `~/.erlang`,
/// no VM flags of its own, so that the arm's `ERL_FLAGS` are the only ones. The entry point is
/// started with `-run`, after anything in `ERL_AFLAGS`.
pub fn command(builtin: Builtin, layout: &Layout) -> Vec<String> {
    let path = |below: &str| layout.lib.join(below).to_string_lossy().into_owned();
    [
        "erl",
        "-noinput",
        "-boot",
        "no_dot_erlang",
        "-pa",
        &path("ebin"),
        &path("elixir/ebin"),
        "-run",
        "Elixir.Plimsoll.Workload.CLI",
        "main",
        builtin.name(),
    ]
    .map(str::to_owned)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_found_by_its_name() {
        for builtin in Builtin::ALL {
            assert_eq!(builtin.name().parse(), Ok(builtin));
            assert!(!builtin.summary().contains('\n'));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "Spin".parse::<Builtin>().unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no built-in workload \"Spin\": use spin, nif-spin, ets-counter, nuts, \
             nuts-stepping, or a command after `--`"
        );
    }

    #[test]
    fn the_command_sets_no_vm_flags() {
        let layout = Layout {
            lib: PathBuf::from("/opt/p q/lib/plimsoll"),
        };
        let words = command(Builtin::NifSpin, &layout);
        assert_eq!(
            words.join("|"),
            "erl|-noinput|-boot|no_dot_erlang|-pa|/opt/p q/lib/plimsoll/ebin|\
             /opt/p q/lib/plimsoll/elixir/ebin|-run|Elixir.Plimsoll.Workload.CLI|main|nif-spin"
        );
        assert!(!words.iter().any(|word| word.starts_with('+')));
    }
}
