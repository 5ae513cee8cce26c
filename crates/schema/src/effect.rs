use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A two-sided interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Coverage, for instance 0.975.
    pub confidence: f64,
}

/// What an effect's interval allows to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The whole interval lies above 1.
    Faster,
    /// The whole interval lies below 1.
    Slower,
    /// The interval contains 1: no claim.
    NoDifferenceSeen,
    /// Too few blocks for the stated error rate: no interval can be given.
    TooFewBlocks,
}

/// One arm against the baseline at one level: the ratio of their work per second, paired by block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// Name of the arm.
    pub arm: String,
    /// Name of the arm that it is compared with.
    pub baseline: String,
    /// The level.
    pub level: u32,
    /// Hodges–Lehmann estimate of arm ÷ baseline over the blocks (the median over all pairs of blocks of
    /// the geometric mean of their two ratios); above 1 = the arm does more work.
    pub ratio: f64,
    /// Interval for the ratio; `None` = too few blocks.
    pub interval: Option<Interval>,
    /// Probability of a difference at least this large by chance alone, corrected for the number of
    /// effects in the experiment.
    pub p_adjusted: f64,
    /// Complete pairs of runs that it rests on.
    pub blocks: usize,
    /// The smallest true difference that this many blocks would have found with 90 % probability,
    /// given the noise seen: 0.03 = 3 %. `None` = cannot be said from so few.
    pub smallest_detectable: Option<f64>,
    /// What may be said.
    pub conclusion: Conclusion,
    /// The counters that moved with it, those that would explain it first.
    pub mechanisms: Vec<Mechanism>,
}

/// A counter under the arm and under the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mechanism {
    /// Name of the counter, for instance `migrations of normal schedulers`.
    pub counter: String,
    /// Unit, for instance `per second`.
    pub unit: String,
    /// Median over the arm's runs.
    pub arm: f64,
    /// Median over the baseline's runs.
    pub baseline: f64,
    /// Whether the two differ beyond chance (paired sign-flip test at the same family-wise rate) in
    /// the direction that would explain the effect.
    pub explains: bool,
}
