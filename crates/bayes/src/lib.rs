//! Models as data → log density and gradient → NUTS.
//!
//! 1. [`Model`] describes a model; it is plain data and comes from JSON or any serde format.
//! 2. [`Program::compile`] checks it against its [`Data`] and lowers it to a flat tape of
//!    vectorised operations: log density with Jacobians, and gradient, without allocation.
//! 3. [`Chain`] samples a program with NUTS (nuts-rs), one draw at a time.
//! 4. [`Fit`] summarises chains and says when they did not mix.
//!
//! # What compiling does
//! - Whatever depends on data alone is computed once.
//! - Normal, half-normal and uniform priors with constant arguments become one pass over the
//!   parameters.
//! - Independent normal data with one mean and one scale are reduced to their number, average and
//!   sum of squared deviations, which are sufficient: a gradient costs O(1), not O(n). The
//!   density is the same number, up to rounding.
//! - Normal, Bernoulli (logit) and normal-mixture statements run in fused kernels over vector
//!   registers ([`simd`]), chosen for the processor at run time; the other families and mixtures
//!   one element at a time.
//!
//! # In a NIF
//! [`Program::compile`] and [`Chain::new`] grow with the data: call them on a dirty scheduler
//! when these are large. [`Chain::step`] makes one draw, of at most 2^`max_depth` gradients, and
//! leaves nothing running; the chain is [`Send`], so a resource may hold it behind a mutex and
//! every step may run on another scheduler. Results lie in flat vectors ([`Draws`]).

mod chain;
mod compile;
mod definition;
pub mod diagnostics;
mod error;
mod family;
mod fit;
mod fourier;
mod model;
mod op;
mod program;
pub mod simd;
pub mod special;
mod statement;
mod term;
mod transform;

pub use chain::{Chain, ChainSettings, Draws, MAX_DRAWS, Step};
pub use compile::{MAX_DIMENSION, MAX_ITEMS, MAX_NUMBERS};
pub use error::{ModelError, SampleError};
pub use fit::{ESS_PER_CHAIN, Fit, RHAT_LIMIT, Summary, Warning};
pub use model::{
    Argument, Array, Component, Data, Definition, Dimension, Family, Model, Operation, Parameter,
    Statement, Support,
};
pub use program::{Program, Workspace};
pub use simd::InstructionSet;
