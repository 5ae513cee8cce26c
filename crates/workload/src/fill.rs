use std::collections::BTreeMap;

use crate::WorkloadError;

/// What a run is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fill {
    /// Threads or concurrent jobs, 1 or more.
    pub level: u32,
    /// Timed window in seconds, warm-up included; finite and above 0.
    pub seconds: f64,
    /// Seed of the workload's own randomness.
    pub seed: u64,
}

/// A command that is ready to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The program and its arguments; never empty.
    pub words: Vec<String>,
    /// Settings to add to the environment that the process inherits.
    pub env: BTreeMap<String, String>,
}

/// Writes level, window and seed into a command.
///
/// `{level}`, `{seconds}` and `{seed}` are replaced in `words` and in the values of `env`; any
/// other `{name}` stays as it is, because commands contain braces. What is put in is not searched
/// again. `PLIMSOLL_LEVEL`, `PLIMSOLL_SECONDS` and `PLIMSOLL_SEED` are added to the environment.
/// Seconds are written in plain decimals, never with an exponent.
///
/// # Errors
/// No words, level 0, a window that is not a finite time, a name that cannot be an environment
/// variable or that Plimsoll sets itself, a NUL character.
pub fn fill(
    words: &[String],
    env: &BTreeMap<String, String>,
    fill: &Fill,
) -> Result<Filled, WorkloadError> {
    if words.first().is_none_or(|program| program.is_empty()) {
        return Err(WorkloadError::NoCommand);
    }
    if fill.level == 0 {
        return Err(WorkloadError::LevelZero);
    }
    if !(fill.seconds.is_finite() && fill.seconds > 0.0) {
        return Err(WorkloadError::BadWindow(fill.seconds));
    }
    let values = [
        ("{level}", fill.level.to_string()),
        ("{seconds}", fill.seconds.to_string()),
        ("{seed}", fill.seed.to_string()),
    ];
    let mut filled = Filled {
        words: Vec::with_capacity(words.len()),
        env: BTreeMap::new(),
    };
    for word in words {
        filled.words.push(replaced(no_nul(word)?, &values));
    }
    for (name, value) in env {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(WorkloadError::BadEnvName(name.clone()));
        }
        let value = replaced(no_nul(value)?, &values);
        filled.env.insert(name.clone(), value);
    }
    let own = ["PLIMSOLL_LEVEL", "PLIMSOLL_SECONDS", "PLIMSOLL_SEED"];
    for (name, (_, value)) in own.into_iter().zip(values) {
        if filled.env.insert(name.to_owned(), value).is_some() {
            return Err(WorkloadError::ReservedEnv(name.to_owned()));
        }
    }
    Ok(filled)
}

fn no_nul(text: &str) -> Result<&str, WorkloadError> {
    if text.contains('\0') {
        Err(WorkloadError::Nul(text.to_owned()))
    } else {
        Ok(text)
    }
}

/// One pass from left to right, so that a value is never taken for a placeholder.
fn replaced(text: &str, values: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out.push_str(value);
                rest = &rest[name.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}
