//! From what the user asks for to arms that differ.

use std::collections::BTreeMap;

use plimsoll_placement::map_report;
use plimsoll_schema::{Arm, BindType, Machine};

/// One arm as the user asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArmRequest {
    /// `--arms ts`: a bind type.
    Bind(BindType),
    /// `--arm NAME=WORDS`: any VM flags, and before them environment settings as a shell has them.
    Flags {
        /// Its name.
        name: String,
        /// The words, such as `OMP_NUM_THREADS=2 +sbwt none`.
        words: Vec<String>,
    },
    /// The command as it is.
    AsIs,
}

/// Why arms cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ArmsError {
    /// Two arms have one name.
    #[error("--arms: `{0}` is named twice; give each arm a name of its own")]
    Twice(String),
    /// The machine's bindings cannot be computed.
    #[error(transparent)]
    Placement(#[from] plimsoll_placement::PlacementError),
}

/// One arm for each distinct placement and setting, in the order asked for; bind types that put
/// every scheduler on the same CPU here become one arm that lists them all.
pub fn arms(requests: &[ArmRequest], machine: &Machine) -> Result<Vec<Arm>, ArmsError> {
    let map = map_report(machine, None, None)?;
    let mut arms: Vec<Arm> = Vec::new();
    for request in requests {
        let arm = match request {
            ArmRequest::Bind(bind) => Arm {
                bind: Some(*bind),
                vm_flags: vec!["+sbt".to_owned(), bind.flag().to_owned()],
                predicted: map.bindings.get(bind).cloned().unwrap_or_default(),
                ..plain(bind.flag())
            },
            ArmRequest::Flags { name, words } => {
                let settings = words
                    .iter()
                    .map_while(|word| setting(word))
                    .collect::<Vec<_>>();
                Arm {
                    vm_flags: words[settings.len()..].to_vec(),
                    env: settings.into_iter().collect(),
                    ..plain(name)
                }
            }
            ArmRequest::AsIs => plain("as-is"),
        };
        if arms.iter().any(|a| a.same_as.contains(&arm.name)) {
            return Err(ArmsError::Twice(arm.name));
        }
        let same =
            |a: &&mut Arm| a.bind.is_some() && arm.bind.is_some() && a.predicted == arm.predicted;
        match arms.iter_mut().find(same) {
            Some(same) => same.same_as.push(arm.name),
            None => arms.push(arm),
        }
    }
    Ok(arms)
}

/// Every arm in every execution mode of a workload that has them: `dirty/u`, `dirty/db`,
/// `stepping/u`, … Arms of one mode are compared with the first arm of that mode, the first arms with
/// the first of all.
pub fn in_modes(arms: &[Arm], variable: &str, modes: &[String]) -> Vec<Arm> {
    modes
        .iter()
        .flat_map(|mode| {
            arms.iter().enumerate().map(move |(place, arm)| {
                let named = |name: &String| format!("{mode}/{name}");
                let mut arm = arm.clone();
                arm.env.insert(variable.to_owned(), mode.clone());
                arm.against = (place > 0).then(|| named(&arms[0].name));
                arm.name = named(&arm.name);
                arm.same_as = arm.same_as.iter().map(named).collect();
                arm
            })
        })
        .collect()
}

/// An arm that runs `workload` as the ceiling for the speedup of the others: what the machine itself
/// lets so many jobs gain, measured in the same blocks.
pub fn ceiling(workload: &str) -> Arm {
    Arm {
        ceiling: Some(workload.to_owned()),
        ..plain(&format!("ceiling ({workload})"))
    }
}

fn plain(name: &str) -> Arm {
    Arm {
        name: name.to_owned(),
        same_as: vec![name.to_owned()],
        bind: None,
        vm_flags: Vec::new(),
        env: BTreeMap::new(),
        against: None,
        ceiling: None,
        predicted: Vec::new(),
    }
}

/// `NAME=VALUE`, as a shell takes it before a command.
fn setting(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    good.then(|| (name.to_owned(), value.to_owned()))
}
