//! What was in force around the experiment, from an allow-list, with secrets taken out.

use std::collections::BTreeMap;

/// Environment variables that change how a VM or a numerical library uses the machine.
const ALLOWED: [&str; 12] = [
    "ERL_FLAGS",
    "ERL_AFLAGS",
    "ERL_ZFLAGS",
    "ELIXIR_ERL_OPTIONS",
    "MALLOC_ARENA_MAX",
    "LD_PRELOAD",
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "XLA_FLAGS",
];

/// Settings in force: those of `environment` that are on the allow-list, and `facts` (versions).
pub fn settings(
    environment: impl Iterator<Item = (String, String)>,
    facts: &[(&str, String)],
) -> BTreeMap<String, String> {
    environment
        .filter(|(name, _)| ALLOWED.contains(&name.as_str()))
        .map(|(name, value)| (name, redact(&value)))
        .chain(
            facts
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone())),
        )
        .collect()
}

/// Replaces the word after `-setcookie`: a cookie opens every node of a cluster.
pub(crate) fn redact(flags: &str) -> String {
    let mut hide = false;
    flags
        .split_whitespace()
        .map(|word| {
            let shown = if std::mem::take(&mut hide) {
                "[redacted]"
            } else {
                word
            };
            hide = word == "-setcookie" || word == "--cookie";
            shown
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_never_reaches_the_record() {
        let environment = [
            ("ERL_FLAGS", "+sbt ts -setcookie hunter2 -sname a"),
            ("AWS_SECRET", "x"),
        ]
        .map(|(k, v)| (k.to_owned(), v.to_owned()));
        let settings = settings(environment.into_iter(), &[("erts", "13.1.5".to_owned())]);
        assert_eq!(
            settings["ERL_FLAGS"],
            "+sbt ts -setcookie [redacted] -sname a"
        );
        assert_eq!(settings.keys().collect::<Vec<_>>(), ["ERL_FLAGS", "erts"]);
    }
}
