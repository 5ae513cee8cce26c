//! What the workers can do.

use plimsoll_schema::JitterStatistic;
use plimsoll_stats::minimum_blocks;

/// The loads by name, with what each does in one line. `Plimsoll.Jitter.Load` does them.
pub const LOADS: [(&str, &str); 13] = [
    ("idle", "nothing"),
    ("erlang", "edit distance in plain Elixir"),
    (
        "blocking",
        "edit distance in a NIF that blocks its scheduler to the end",
    ),
    (
        "yielding",
        "edit distance in a NIF that gives up its scheduler every millisecond",
    ),
    ("dirty", "edit distance in a NIF on a dirty CPU scheduler"),
    (
        "automatic",
        "edit distance in a NIF that moves to a dirty scheduler when it turns out long",
    ),
    (
        "matrix",
        "the published full-matrix edit distance in a NIF that blocks",
    ),
    (
        "matrix-yielding",
        "the full-matrix edit distance in a NIF that yields",
    ),
    (
        "matrix-dirty",
        "the full-matrix edit distance in a dirty NIF",
    ),
    ("spin", "integer work in Elixir"),
    ("nif-spin", "integer work in a dirty NIF"),
    ("ets-counter", "updates of the same few ETS counters"),
    ("eval", "the expression given with --eval"),
];

/// The arms of an experiment that names none.
pub const DEFAULT_ARMS: [&str; 7] = [
    "idle",
    "erlang",
    "blocking",
    "yielding",
    "dirty",
    "automatic",
    "matrix",
];

/// Inputs of the edit distance when nothing is said: milliseconds of native work. In Erlang, longer
/// ones make heaps so large that their collection goes to dirty schedulers, and the normal ones wait.
const INPUT_BYTES: u64 = 20_000;
/// The full matrix takes four bytes a cell: 100 MB for each worker.
const MATRIX_INPUT_BYTES: u64 = 5_000;

/// Length of each input of an arm's edit distance, when nothing is said.
pub fn default_input_bytes(arm: &str) -> u64 {
    if arm.starts_with("matrix") {
        MATRIX_INPUT_BYTES
    } else {
        INPUT_BYTES
    }
}

/// What an arm's workers do, in one line.
pub fn summary(name: &str) -> &'static str {
    LOADS
        .iter()
        .find(|(known, _)| *known == name)
        .map_or("", |(_, summary)| summary)
}

/// Refuses names that there are not, and names given twice; the sentence says what there is.
pub fn check_arms(arms: &[String]) -> Result<(), String> {
    for (i, arm) in arms.iter().enumerate() {
        if summary(arm).is_empty() {
            let known = LOADS.map(|(name, _)| name).join(", ");
            return Err(format!("--arms: there is no load `{arm}`: use {known}"));
        }
        if arms[..i].contains(arm) {
            return Err(format!("--arms: `{arm}` is named twice"));
        }
    }
    if arms.is_empty() {
        return Err("--arms: name at least one load, such as idle".to_owned());
    }
    Ok(())
}

/// What the others are compared with when nothing is said: plain Erlang work where it is among them,
/// because that is what the VM's schedulers are made for.
pub fn default_baseline(arms: &[String]) -> Option<&String> {
    let named = |name: &str| arms.iter().find(|arm| *arm == name);
    named("erlang")
        .or_else(|| named("spin"))
        .or_else(|| named("idle"))
        .or_else(|| arms.first())
}

/// The fewest blocks with which every comparison (each arm but the baseline, each statistic) can come
/// to a claim, and at least six, which an interval for a median needs.
pub fn default_blocks(arms: usize, error_rate: f64) -> usize {
    minimum_blocks(
        arms.saturating_sub(1) * JitterStatistic::ALL.len(),
        error_rate,
    )
    .max(6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_arms_exist() {
        check_arms(&DEFAULT_ARMS.map(str::to_owned)).unwrap();
    }

    #[test]
    fn a_wrong_name_lists_the_right_ones() {
        let error = check_arms(&["idel".to_owned()]).unwrap_err();
        assert!(
            error.contains("`idel`") && error.contains("idle"),
            "{error}"
        );
        let twice = check_arms(&["idle".to_owned(), "idle".to_owned()]).unwrap_err();
        assert!(twice.contains("twice"), "{twice}");
    }

    #[test]
    fn ten_blocks_are_enough_for_the_default_arms_and_nine_are_not() {
        // Six arms and four statistics: 2 ÷ 2ⁿ ≤ 0.05 ÷ 24 from n = 10 on.
        assert_eq!(default_blocks(DEFAULT_ARMS.len(), 0.05), 10);
        assert_eq!(default_blocks(1, 0.05), 6);
    }
}
