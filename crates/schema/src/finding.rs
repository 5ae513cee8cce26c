use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How sure a finding is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Follows from structure alone: true by construction.
    Certain,
    /// Measured, with an interval that excludes chance.
    Measured,
    /// Fits the evidence, not proven.
    Likely,
}

/// One cause, with what shows it and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A stable name such as `bind.dirty-unbound`.
    pub id: String,
    /// What is the case, in one sentence.
    pub cause: String,
    /// The facts that show it, one sentence each.
    pub evidence: Vec<String>,
    /// What to do next, in one sentence; `None` when nothing need be done.
    pub fix: Option<String>,
    /// The expected gain, in words with a number where one is known.
    pub expected_gain: Option<String>,
    /// How sure.
    pub confidence: Confidence,
}
