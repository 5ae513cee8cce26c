use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scheduler bind type: the argument of the VM's `+sbt` flag.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum BindType {
    /// `unbound`: the kernel places the schedulers.
    U,
    /// `no_spread`: neighbours first.
    Ns,
    /// `thread_spread`: hardware threads of different cores first, node by node.
    Ts,
    /// `processor_spread`: packages in turn.
    Ps,
    /// `spread`: as far apart as possible.
    S,
    /// `no_node_thread_spread`: `ts` within one NUMA node after the other.
    Nnts,
    /// `no_node_processor_spread`: `ps` within one NUMA node after the other.
    Nnps,
    /// `thread_no_node_processor_spread`: threads spread, packages in turn within one node.
    Tnnps,
    /// `default_bind`: the VM's choice, today `tnnps`.
    Db,
}

impl BindType {
    /// Every bind type, in the order of the VM's documentation.
    pub const ALL: [Self; 9] = [
        Self::U,
        Self::Ns,
        Self::Ts,
        Self::Ps,
        Self::S,
        Self::Nnts,
        Self::Nnps,
        Self::Tnnps,
        Self::Db,
    ];

    /// The abbreviation that `+sbt` takes.
    pub fn flag(self) -> &'static str {
        match self {
            Self::U => "u",
            Self::Ns => "ns",
            Self::Ts => "ts",
            Self::Ps => "ps",
            Self::S => "s",
            Self::Nnts => "nnts",
            Self::Nnps => "nnps",
            Self::Tnnps => "tnnps",
            Self::Db => "db",
        }
    }

    /// The atom by which the VM itself calls the type (`erlang:system_info(scheduler_bind_type)`).
    pub fn atom(self) -> &'static str {
        match self {
            Self::U => "unbound",
            Self::Ns => "no_spread",
            Self::Ts => "thread_spread",
            Self::Ps => "processor_spread",
            Self::S => "spread",
            Self::Nnts => "no_node_thread_spread",
            Self::Nnps => "no_node_processor_spread",
            Self::Tnnps => "thread_no_node_processor_spread",
            Self::Db => "default_bind",
        }
    }
}

impl fmt::Display for BindType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.flag())
    }
}

/// A word that is not a bind type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a bind type; use one of u, ns, ts, ps, s, nnts, nnps, tnnps, db")]
pub struct ParseBindTypeError(pub String);

impl FromStr for BindType {
    type Err = ParseBindTypeError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|b| b.flag() == s)
            .ok_or_else(|| ParseBindTypeError(s.to_owned()))
    }
}
