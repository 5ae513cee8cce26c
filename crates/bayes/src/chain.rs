//! One NUTS chain, stepped draw by draw.

use std::collections::HashMap;
use std::sync::Arc;

use nuts_rs::rand::rngs::ChaCha8Rng;
use nuts_rs::rand::{Rng, RngExt, SeedableRng};
use nuts_rs::{
    Chain as _, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings,
};
use serde::{Deserialize, Serialize};

use crate::error::SampleError;
use crate::program::{Program, Workspace, zeros};

/// Draws (warm-up included) of one chain at most.
pub const MAX_DRAWS: usize = 1 << 24;
/// Random starting points tried before a chain gives up.
const STARTS: u32 = 100;

/// How a chain samples. Deserialised settings may leave members out.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSettings {
    /// Seed; the same seed, chain and program give the same draws on the same machine.
    pub seed: u64,
    /// The number of this chain: chains of one seed use different random streams.
    pub chain: u64,
    /// Adaptation draws, not kept.
    pub warmup: usize,
    /// Draws that are kept.
    pub draws: usize,
    /// Acceptance statistic the step size is adapted to, between 0 and 1.
    pub target_accept: f64,
    /// Doublings of a trajectory at most, 1 to 20.
    pub max_depth: u32,
    /// Starting points are uniform within ± this on the unconstrained space.
    pub start_radius: f64,
}

impl Default for ChainSettings {
    fn default() -> Self {
        ChainSettings {
            seed: 0,
            chain: 0,
            warmup: 500,
            draws: 500,
            target_accept: 0.8,
            max_depth: 10,
            start_radius: 2.0,
        }
    }
}

impl ChainSettings {
    fn check(&self) -> Result<(), SampleError> {
        let refuse = |words: &str| Err(SampleError::Setting(words.into()));
        if self.draws == 0 || self.warmup.saturating_add(self.draws) > MAX_DRAWS {
            return refuse(
                "draws must be at least 1, and warmup and draws together at most 16777216",
            );
        }
        if !(self.target_accept > 0.0 && self.target_accept < 1.0) {
            return refuse("target_accept must lie between 0 and 1; 0.8 is usual");
        }
        if !(1..=20).contains(&self.max_depth) {
            return refuse("max_depth must lie between 1 and 20; 10 is usual");
        }
        if !(self.start_radius >= 0.0 && self.start_radius <= 100.0) {
            return refuse("start_radius must lie between 0 and 100; 2 is usual");
        }
        Ok(())
    }
}

/// What one draw did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Number of this draw from 0, warm-up included.
    pub draw: usize,
    /// Whether it belonged to the warm-up.
    pub warmup: bool,
    /// Whether the trajectory diverged.
    pub divergent: bool,
    /// Step size the next draw will use.
    pub step_size: f64,
    /// Doublings of the trajectory, begun or complete.
    pub depth: u32,
    /// Gradients evaluated for this draw.
    pub gradients: u64,
    /// Whether it was the last draw of the chain.
    pub last: bool,
}

/// The kept draws of one chain, in flat storage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draws {
    /// Numbers in a draw, in the order of [`Program::names`].
    pub width: usize,
    /// Draw by draw, `width` numbers each.
    pub values: Vec<f64>,
    /// Of each kept draw: 1 if the trajectory diverged, else 0.
    pub divergent: Vec<u8>,
    /// Of each kept draw: doublings of the trajectory.
    pub depth: Vec<u8>,
    /// Of each kept draw: gradients.
    pub gradients: Vec<u32>,
    /// Step size after the warm-up.
    pub step_size: f64,
    /// Gradients during warm-up; the search for a starting point and a first step size is not
    /// counted.
    pub warmup_gradients: u64,
    /// Divergences during warm-up (usual, and no cause for concern).
    pub warmup_divergences: u64,
    /// The most doublings the settings allowed.
    pub max_depth: u32,
}

impl Draws {
    /// The number of kept draws so far.
    pub fn len(&self) -> usize {
        self.divergent.len()
    }

    /// Whether no draw is kept yet.
    pub fn is_empty(&self) -> bool {
        self.divergent.is_empty()
    }

    /// One number of every kept draw, in order.
    ///
    /// # Panics
    /// If `column` is not below `width`.
    pub fn column(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        assert!(column < self.width);
        self.values
            .chunks_exact(self.width)
            .map(move |draw| draw[column])
    }

    /// Divergent kept draws.
    pub fn divergences(&self) -> usize {
        self.divergent.iter().map(|d| usize::from(*d)).sum()
    }

    /// All gradients, warm-up included.
    pub fn total_gradients(&self) -> u64 {
        self.warmup_gradients + self.gradients.iter().map(|g| u64::from(*g)).sum::<u64>()
    }
}

/// The log density as nuts-rs wants it.
struct Density {
    program: Arc<Program>,
    workspace: Workspace,
}

/// nuts-rs treats it as a divergence.
#[derive(Debug, thiserror::Error)]
#[error("the log density or its gradient is not finite")]
struct NotFinite;

impl LogpError for NotFinite {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl HasDims for Density {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        let dimension = self.program.dimension() as u64;
        HashMap::from([("unconstrained_parameter".to_string(), dimension)])
    }
}

impl CpuLogpFunc for Density {
    type LogpError = NotFinite;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.program.dimension()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NotFinite> {
        let log = self
            .program
            .log_density_gradient(&mut self.workspace, position, gradient);
        // 0·x is 0 for finite numbers and NaN for all others.
        if (log * 0.0 + gradient.iter().map(|g| g * 0.0).sum::<f64>()) == 0.0 {
            Ok(log)
        } else {
            Err(NotFinite)
        }
    }

    fn expand_vector<R: Rng + ?Sized>(
        &mut self,
        _: &mut R,
        position: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(position.to_vec())
    }
}

type Nuts = <DiagNutsSettings as Settings>::Chain<CpuMath<Density>>;

/// nuts-rs's chain, which shares phase-space points between its own parts through `Rc`.
struct Sampler(Box<Nuts>);

// SAFETY: the only thing in nuts-rs's chain that is not `Send` are the `Rc`s of its pool of
// states. All of them live inside this one value: nuts-rs hands out no `State`, and this module
// only calls `set_position` and `draw`, whose results (a boxed slice and plain numbers) own what
// they hold. So the value moves as a whole, with every clone of every `Rc`, and is used by one
// thread at a time, because `Sampler` is not `Sync` and `Chain::step` takes `&mut self`. Nothing
// in it refers to thread-local state: the random numbers come from its own ChaCha generator.
unsafe impl Send for Sampler {}

/// One chain. Nothing runs between calls of [`Chain::step`], so a caller may yield between
/// draws and go on in another thread: a chain is `Send` (not `Sync`: share it behind a mutex).
pub struct Chain {
    sampler: Sampler,
    program: Arc<Program>,
    workspace: Workspace,
    settings: ChainSettings,
    done: usize,
    draws: Draws,
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain")
            .field("settings", &self.settings)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl Chain {
    /// A chain at a random starting point, with all storage for its draws.
    ///
    /// # Errors
    /// Settings out of range, no memory for the draws, or no starting point of finite density.
    pub fn new(program: Arc<Program>, settings: ChainSettings) -> Result<Chain, SampleError> {
        settings.check()?;
        let width = program.names().len();
        let numbers = width.saturating_mul(settings.draws);
        let memory = || SampleError::OutOfMemory(numbers);
        let mut draws = Draws {
            width,
            max_depth: settings.max_depth,
            ..Draws::default()
        };
        draws
            .values
            .try_reserve_exact(numbers)
            .map_err(|_| memory())?;
        draws
            .divergent
            .try_reserve_exact(settings.draws)
            .map_err(|_| memory())?;
        draws
            .depth
            .try_reserve_exact(settings.draws)
            .map_err(|_| memory())?;
        draws
            .gradients
            .try_reserve_exact(settings.draws)
            .map_err(|_| memory())?;

        let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
        rng.set_stream(settings.chain);
        let mut workspace = program.workspace().ok_or_else(memory)?;
        let start = start(&program, &mut workspace, &mut rng, settings.start_radius)?;

        let density = Density {
            workspace: program.workspace().ok_or_else(memory)?,
            program: Arc::clone(&program),
        };
        let mut nuts = DiagNutsSettings {
            num_tune: settings.warmup as u64,
            num_draws: settings.draws as u64,
            maxdepth: u64::from(settings.max_depth),
            ..DiagNutsSettings::default()
        };
        nuts.adapt_options.step_size_settings.target_accept = settings.target_accept;
        let mut sampler = nuts
            .new_chain(settings.chain, CpuMath::new(density), &mut rng)
            .map_err(|e| SampleError::Sampler(e.to_string()))?;
        sampler
            .set_position(&start)
            .map_err(|e| SampleError::Sampler(e.to_string()))?;
        let sampler = Sampler(Box::new(sampler));
        Ok(Chain {
            sampler,
            program,
            workspace,
            settings,
            done: 0,
            draws,
        })
    }

    /// Makes the next draw.
    ///
    /// # Errors
    /// [`SampleError::Complete`] after the last draw, [`SampleError::Sampler`] if nuts-rs stops.
    pub fn step(&mut self) -> Result<Step, SampleError> {
        if self.is_complete() {
            return Err(SampleError::Complete);
        }
        let (position, progress) = self
            .sampler
            .0
            .draw()
            .map_err(|e| SampleError::Sampler(e.to_string()))?;
        let warmup = self.done < self.settings.warmup;
        let draws = &mut self.draws;
        // A trajectory of d complete doublings takes 2^d − 1 steps.
        let depth = 64 - progress.num_steps.leading_zeros();
        if warmup {
            draws.warmup_gradients += progress.num_gradients;
            draws.warmup_divergences += u64::from(progress.diverging);
        } else {
            let at = draws.values.len();
            draws.values.resize(at + draws.width, 0.0);
            self.program
                .constrain(&mut self.workspace, &position, &mut draws.values[at..]);
            draws.divergent.push(u8::from(progress.diverging));
            draws.depth.push(depth as u8);
            draws.gradients.push(progress.num_gradients as u32);
        }
        draws.step_size = progress.step_size;
        self.done += 1;
        Ok(Step {
            draw: self.done - 1,
            warmup,
            divergent: progress.diverging,
            step_size: progress.step_size,
            depth,
            gradients: progress.num_gradients,
            last: self.is_complete(),
        })
    }

    /// Steps until the chain is complete.
    ///
    /// # Errors
    /// As [`Chain::step`].
    pub fn run(mut self) -> Result<Draws, SampleError> {
        while !self.is_complete() {
            self.step()?;
        }
        Ok(self.draws)
    }

    /// Whether all draws are made.
    pub fn is_complete(&self) -> bool {
        self.done >= self.settings.warmup + self.settings.draws
    }

    /// What is kept so far.
    pub fn draws(&self) -> &Draws {
        &self.draws
    }

    /// What is kept so far, without the chain.
    pub fn into_draws(self) -> Draws {
        self.draws
    }
}

fn start(
    program: &Program,
    workspace: &mut Workspace,
    rng: &mut ChaCha8Rng,
    radius: f64,
) -> Result<Vec<f64>, SampleError> {
    let dimension = program.dimension();
    let memory = || SampleError::OutOfMemory(dimension);
    let mut position = zeros(dimension).ok_or_else(memory)?;
    let mut gradient = zeros(dimension).ok_or_else(memory)?;
    for _ in 0..STARTS {
        for x in &mut position {
            *x = radius * (2.0 * rng.random::<f64>() - 1.0);
        }
        let log = program.log_density_gradient(workspace, &position, &mut gradient);
        if log.is_finite() && gradient.iter().all(|g| g.is_finite()) {
            return Ok(position);
        }
    }
    Err(SampleError::NoStart(STARTS))
}
