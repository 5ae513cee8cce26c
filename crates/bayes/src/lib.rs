//! Models as data → log density and gradient → NUTS.
//!
//! 1. [`Model`] describes a model; it is plain data and comes from JSON or any serde format.
//! 2. [`Program::compile`] checks it against its [`Data`] and lowers it to a flat tape of
//!    vectorised operations: log density with Jacobians, and gradient, without allocation.
//! 3. [`Chain`] samples a program with NUTS (nuts-rs), one draw at a time.
//! 4. [`Fit`] summarises chains and says when they did not mix.

mod chain;
mod compile;
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
