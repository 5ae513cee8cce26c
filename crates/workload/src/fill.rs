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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILL: Fill = Fill {
        level: 4,
        seconds: 1.5,
        seed: u64::MAX,
    };

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn placeholders_are_replaced_in_words_and_in_env_values() {
        let filled = fill(
            &words(&["sort", "--parallel={level}", "{seconds}{seed}"]),
            &env(&[("OMP_NUM_THREADS", "{level}")]),
            &FILL,
        )
        .unwrap();
        assert_eq!(
            filled.words,
            ["sort", "--parallel=4", "1.518446744073709551615"]
        );
        assert_eq!(
            filled.env,
            env(&[
                ("OMP_NUM_THREADS", "4"),
                ("PLIMSOLL_LEVEL", "4"),
                ("PLIMSOLL_SECONDS", "1.5"),
                ("PLIMSOLL_SEED", "18446744073709551615"),
            ])
        );
    }

    #[test]
    fn unknown_braces_stay_as_they_are() {
        let given = words(&["awk", "{print $1}", "{levels}", "{", "{{level}}", "}{é"]);
        let filled = fill(&given, &BTreeMap::new(), &FILL).unwrap();
        assert_eq!(
            filled.words,
            ["awk", "{print $1}", "{levels}", "{", "{4}", "}{é"]
        );
    }

    #[test]
    fn seconds_never_have_an_exponent() {
        let tiny = Fill {
            seconds: 1e-7,
            ..FILL
        };
        let filled = fill(&words(&["{seconds}"]), &BTreeMap::new(), &tiny).unwrap();
        assert_eq!(filled.words, ["0.0000001"]);
    }

    #[test]
    fn what_cannot_be_run_is_refused_by_name() {
        let run = |given: &[&str], pairs: &[(&str, &str)], with: Fill| {
            fill(&words(given), &env(pairs), &with)
        };
        assert_eq!(run(&[], &[], FILL), Err(WorkloadError::NoCommand));
        assert_eq!(run(&["", "x"], &[], FILL), Err(WorkloadError::NoCommand));
        assert_eq!(
            run(&["a"], &[], Fill { level: 0, ..FILL }),
            Err(WorkloadError::LevelZero)
        );
        for seconds in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(
                run(&["a"], &[], Fill { seconds, ..FILL }),
                Err(WorkloadError::BadWindow(seconds))
            );
        }
        let nan = Fill {
            seconds: f64::NAN,
            ..FILL
        };
        assert!(run(&["a"], &[], nan).is_err());
        for name in ["", "A=B", "A\0"] {
            assert_eq!(
                run(&["a"], &[(name, "1")], FILL),
                Err(WorkloadError::BadEnvName(name.to_owned()))
            );
        }
        assert_eq!(
            run(&["a"], &[("PLIMSOLL_SEED", "1")], FILL),
            Err(WorkloadError::ReservedEnv("PLIMSOLL_SEED".to_owned()))
        );
        let nul = Err(WorkloadError::Nul("b\0".to_owned()));
        assert_eq!(run(&["a", "b\0"], &[], FILL), nul);
        assert_eq!(run(&["a"], &[("B", "b\0")], FILL), nul);
    }

    proptest! {
        /// The oracle replaces one after the other, which is the same because values have no braces.
        #[test]
        fn filling_equals_replacing_one_after_the_other(
            text in "([{}a-c]|\\{level\\}|\\{seconds\\}|\\{seed\\}|\\{other\\}|é){0,20}",
            level in 1u32..,
            seconds in 1e-9..1e9,
            seed: u64,
        ) {
            let with = Fill { level, seconds, seed };
            let filled = fill(&[format!("x{text}")], &BTreeMap::new(), &with).unwrap();
            let expected = format!("x{text}")
                .replace("{level}", &level.to_string())
                .replace("{seconds}", &seconds.to_string())
                .replace("{seed}", &seed.to_string());
            prop_assert_eq!(&filled.words[0], &expected);
            prop_assert_eq!(filled.env["PLIMSOLL_SECONDS"].parse::<f64>().unwrap(), seconds);
        }
    }
}
