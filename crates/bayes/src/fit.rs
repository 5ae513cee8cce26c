//! The summary of several chains, and whether they may be believed.

use serde::{Deserialize, Serialize};

use crate::chain::Draws;
use crate::diagnostics::{ess_bulk, ess_tail, mcse_mean, mcse_sd, quantile_sorted, rhat};
use crate::error::SampleError;

/// Largest R̂ of chains that have mixed (Vehtari et al. 2021).
pub const RHAT_LIMIT: f64 = 1.01;
/// Smallest effective sample size, for each chain, of a reliable summary (same source).
pub const ESS_PER_CHAIN: f64 = 100.0;

/// The posterior of one number of the draws. Diagnostics that are undefined (a constant, a
/// chain too short) are `None`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Summary {
    /// Name, as in [`Program::names`](crate::Program::names).
    pub name: String,
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// 5 % quantile.
    pub q5: f64,
    /// Median.
    pub q50: f64,
    /// 95 % quantile.
    pub q95: f64,
    /// Monte-Carlo standard error of the mean.
    pub mcse_mean: Option<f64>,
    /// Monte-Carlo standard error of the standard deviation.
    pub mcse_sd: Option<f64>,
    /// Bulk effective sample size.
    pub ess_bulk: Option<f64>,
    /// Tail effective sample size.
    pub ess_tail: Option<f64>,
    /// Rank-normalised split R̂.
    pub rhat: Option<f64>,
}

/// Something that a reader of the fit must know.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// The chains disagree: R̂ above [`RHAT_LIMIT`] (or undefined for a number that varies).
    NotMixed {
        /// Numbers concerned.
        names: Vec<String>,
        /// The largest R̂.
        worst: f64,
    },
    /// Fewer than [`ESS_PER_CHAIN`] effective draws a chain in bulk or tail.
    FewEffectiveDraws {
        /// Numbers concerned.
        names: Vec<String>,
        /// The smallest effective sample size.
        worst: f64,
        /// How many there should be.
        needed: f64,
    },
    /// Divergent trajectories after warm-up: the posterior is not explored everywhere.
    Divergences {
        /// How many.
        count: usize,
    },
    /// Trajectories cut off at the largest depth: slow, not wrong.
    DepthExhausted {
        /// How many.
        count: usize,
    },
}

impl Warning {
    /// A sentence with what to do.
    pub fn words(&self) -> String {
        match self {
            Warning::NotMixed { names, worst } => format!(
                "the chains did not mix: R-hat up to {worst:.3} (limit {RHAT_LIMIT}) in {}; do not use means and intervals of these: run more or longer chains, order interchangeable components, or compare label-invariant quantities only",
                names.join(", ")
            ),
            Warning::FewEffectiveDraws {
                names,
                worst,
                needed,
            } => format!(
                "only {worst:.0} effective draws where {needed:.0} are needed, in {}; make more draws",
                names.join(", ")
            ),
            Warning::Divergences { count } => format!(
                "{count} divergent trajectories; raise target_accept towards 0.99 or reparameterise"
            ),
            Warning::DepthExhausted { count } => format!(
                "{count} trajectories were cut off at the largest depth; raise max_depth or reparameterise"
            ),
        }
    }
}

/// Chains of one program, summarised.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Fit {
    /// Chains.
    pub chains: usize,
    /// Kept draws of each.
    pub draws: usize,
    /// Gradients of all chains, warm-up included.
    pub gradients: u64,
    /// One for every number of the draws.
    pub parameters: Vec<Summary>,
    /// Empty if nothing speaks against using the summaries.
    pub warnings: Vec<Warning>,
}

impl Fit {
    /// Summarises chains; `names` are those of the program.
    ///
    /// # Errors
    /// [`SampleError::Chains`] if there are none, or they differ in length or width.
    pub fn new(names: &[String], chains: &[&Draws]) -> Result<Fit, SampleError> {
        let refuse = |words: &str| Err(SampleError::Chains(words.into()));
        let Some(first) = chains.first() else {
            return refuse("there is no chain to summarise; run at least one, better four");
        };
        if first.len() < 4 {
            return refuse("a chain has fewer than 4 draws; make more");
        }
        if chains
            .iter()
            .any(|c| c.width != names.len() || c.len() != first.len())
        {
            return refuse(
                "the chains differ in length or width; summarise chains of one program and one number of draws",
            );
        }
        let parameters: Vec<Summary> = names
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let columns: Vec<Vec<f64>> = chains.iter().map(|c| c.column(i).collect()).collect();
                summary(name, &columns)
            })
            .collect();
        let warnings = warnings(&parameters, chains);
        Ok(Fit {
            chains: chains.len(),
            draws: first.len(),
            gradients: chains.iter().map(|c| c.total_gradients()).sum(),
            parameters,
            warnings,
        })
    }

    /// Whether every R̂ is within its limit.
    pub fn mixed(&self) -> bool {
        !self
            .warnings
            .iter()
            .any(|w| matches!(w, Warning::NotMixed { .. }))
    }
}

fn summary(name: &str, chains: &[Vec<f64>]) -> Summary {
    let views: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
    let mut sorted = chains.concat();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let defined = |x: f64| x.is_finite().then_some(x);
    Summary {
        name: name.into(),
        mean,
        sd,
        q5: quantile_sorted(&sorted, 0.05),
        q50: quantile_sorted(&sorted, 0.5),
        q95: quantile_sorted(&sorted, 0.95),
        mcse_mean: defined(mcse_mean(&views)),
        mcse_sd: defined(mcse_sd(&views)),
        ess_bulk: defined(ess_bulk(&views)),
        ess_tail: defined(ess_tail(&views)),
        rhat: defined(rhat(&views)),
    }
}

fn warnings(parameters: &[Summary], chains: &[&Draws]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    // Chains stuck at different constants have an infinite R̂; one constant everywhere has none
    // and is fine (a kept definition of data).
    let r = |p: &Summary| {
        p.rhat
            .unwrap_or(if p.sd > 0.0 { f64::INFINITY } else { 1.0 })
    };
    let bad: Vec<&Summary> = parameters.iter().filter(|p| r(p) > RHAT_LIMIT).collect();
    let names = |bad: &[&Summary]| bad.iter().map(|p| p.name.clone()).collect();
    if !bad.is_empty() {
        let worst = bad.iter().map(|p| r(p)).fold(0.0, f64::max).min(f64::MAX);
        warnings.push(Warning::NotMixed {
            names: names(&bad),
            worst,
        });
    }
    let needed = ESS_PER_CHAIN * chains.len() as f64;
    let ess = |p: &Summary| match (p.ess_bulk, p.ess_tail) {
        (Some(bulk), Some(tail)) => bulk.min(tail),
        (one, other) => one.or(other).unwrap_or(f64::INFINITY),
    };
    let few: Vec<&Summary> = parameters.iter().filter(|p| ess(p) < needed).collect();
    if !few.is_empty() {
        let worst = few.iter().map(|p| ess(p)).fold(f64::INFINITY, f64::min);
        warnings.push(Warning::FewEffectiveDraws {
            names: names(&few),
            worst,
            needed,
        });
    }
    let count = chains.iter().map(|c| c.divergences()).sum();
    if count > 0 {
        warnings.push(Warning::Divergences { count });
    }
    let exhausted = |c: &&Draws| {
        c.depth
            .iter()
            .filter(|d| u32::from(**d) >= c.max_depth)
            .count()
    };
    let count = chains.iter().map(exhausted).sum();
    if count > 0 {
        warnings.push(Warning::DepthExhausted { count });
    }
    warnings
}
