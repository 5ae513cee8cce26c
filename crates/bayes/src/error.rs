//! What can be wrong with a model, its data or a run, in sentences that say what to do next.

use thiserror::Error;

/// Why a model and its data could not be compiled.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// A name was used that nothing defines.
    #[error(
        "{place}: `{name}` is not defined; declare it as data, a parameter or a definition above its first use"
    )]
    Unknown {
        /// Where the name was used.
        place: String,
        /// The name.
        name: String,
    },
    /// Two things share a name.
    #[error("`{name}` is defined twice; rename one of the two")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// Data that the model declares was not given.
    #[error("the data `{name}` is missing; give it an array")]
    MissingData {
        /// The name.
        name: String,
    },
    /// Shapes do not fit together.
    #[error("{place}: {reason}")]
    Shape {
        /// The definition, statement or parameter.
        place: String,
        /// What was found and what was expected.
        reason: String,
    },
    /// A value is outside what the operation or distribution allows.
    #[error("{place}: {reason}")]
    Value {
        /// The definition, statement, parameter or data name.
        place: String,
        /// What was found and what was expected.
        reason: String,
    },
    /// The model is larger than the stated cap, or than memory.
    #[error(
        "{what} would need {size} elements, the limit is {limit}; use a smaller model or less data"
    )]
    TooLarge {
        /// What is too large.
        what: String,
        /// The size asked for.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The allocator refused.
    #[error("no memory for {what} ({size} numbers); use a smaller model or free memory")]
    OutOfMemory {
        /// What the memory was for.
        what: String,
        /// Numbers of eight bytes.
        size: usize,
    },
}

/// Why a chain could not start or go on.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SampleError {
    /// A setting is out of range.
    #[error("{0}")]
    Setting(String),
    /// No starting point with a finite density was found.
    #[error(
        "no finite log density at {0} random starting points; check that the data lie within the support of their distributions"
    )]
    NoStart(u32),
    /// The chain has all its draws.
    #[error("the chain is complete; start a new one for more draws")]
    Complete,
    /// The allocator refused.
    #[error("no memory for {0} numbers of draws; ask for fewer draws")]
    OutOfMemory(usize),
    /// nuts-rs stopped.
    #[error("the sampler stopped: {0}; start the chain again with another seed")]
    Sampler(String),
    /// Chains that do not belong together were summarised.
    #[error("{0}")]
    Chains(String),
}
