//! From what the user asks for to arms that differ.

use plimsoll_placement::map_report;
use plimsoll_schema::{Arm, BindType, Machine};

/// One arm as the user asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArmRequest {
    /// `--arms ts`: a bind type.
    Bind(BindType),
    /// `--arm NAME=FLAGS`: any VM flags.
    Flags {
        /// Its name.
        name: String,
        /// The flags' words.
        flags: Vec<String>,
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
                name: bind.flag().to_owned(),
                same_as: vec![bind.flag().to_owned()],
                bind: Some(*bind),
                vm_flags: vec!["+sbt".to_owned(), bind.flag().to_owned()],
                predicted: map.bindings.get(bind).cloned().unwrap_or_default(),
            },
            ArmRequest::Flags { name, flags } => Arm {
                name: name.clone(),
                same_as: vec![name.clone()],
                bind: None,
                vm_flags: flags.clone(),
                predicted: Vec::new(),
            },
            ArmRequest::AsIs => Arm {
                name: "as-is".to_owned(),
                same_as: vec!["as-is".to_owned()],
                bind: None,
                vm_flags: Vec::new(),
                predicted: Vec::new(),
            },
        };
        if arms.iter().any(|a| a.same_as.contains(&arm.name)) {
            return Err(ArmsError::Twice(arm.name));
        }
        match arms
            .iter_mut()
            .find(|a| a.bind.is_some() && arm.bind.is_some() && a.predicted == arm.predicted)
        {
            Some(same) => same.same_as.push(arm.name),
            None => arms.push(arm),
        }
    }
    Ok(arms)
}
