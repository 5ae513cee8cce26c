//! Models as data: what a program is compiled from.
//!
//! A model is four lists: names of data, parameters, definitions (each one operation on names
//! above it, so there is nothing nested and nothing recursive), and statements that add to the
//! log density. It is deserialised from JSON or from any other serde format:
//!
//! ```
//! let model: plimsoll_bayes::Model = serde_json::from_str(r#"{
//!   "name": "eight schools",
//!   "data": ["y", "sigma"],
//!   "parameters": [
//!     {"name": "mu"},
//!     {"name": "tau", "support": "positive"},
//!     {"name": "z", "shape": [{"rows": "y"}]}
//!   ],
//!   "definitions": [
//!     {"name": "spread", "op": "mul", "args": ["tau", "z"]},
//!     {"name": "theta", "op": "add", "args": ["mu", "spread"]}
//!   ],
//!   "statements": [
//!     {"kind": "distribution", "value": "mu", "family": "normal", "args": [0, 5]},
//!     {"kind": "distribution", "value": "tau", "family": "half_cauchy", "args": [5]},
//!     {"kind": "distribution", "value": "z", "family": "normal", "args": [0, 1]},
//!     {"kind": "distribution", "value": "y", "family": "normal", "args": ["theta", "sigma"]}
//!   ]
//! }"#).unwrap();
//! assert_eq!(model.parameters.len(), 3);
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A model, independent of any data set.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// For people; not interpreted.
    #[serde(default)]
    pub name: String,
    /// Names of the data the model needs; their shapes come with the data.
    #[serde(default)]
    pub data: Vec<String>,
    /// The unknowns, in the order of the draws.
    pub parameters: Vec<Parameter>,
    /// Deterministic values, each from names above it.
    #[serde(default)]
    pub definitions: Vec<Definition>,
    /// The terms of the log density.
    pub statements: Vec<Statement>,
}

/// One unknown: a scalar (`shape` empty) or a vector.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The name; elements of a vector are reported as `name.1`, `name.2`, ….
    pub name: String,
    /// No dimension for a scalar, one for a vector.
    #[serde(default)]
    pub shape: Vec<Dimension>,
    /// Where its values may lie.
    #[serde(default)]
    pub support: Support,
}

/// A dimension: a number, or as long as some data.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// As many as the data has rows (a vector's length).
    Rows(String),
    /// As many as the data (a matrix) has columns.
    Columns(String),
    /// This many.
    #[serde(untagged)]
    Size(usize),
}

/// The support of a parameter, and with it the transform from the real line and its Jacobian.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Any real number; no transform.
    #[default]
    Real,
    /// Above zero: `exp(u)`.
    Positive,
    /// Above a bound: `bound + exp(u)`.
    Above(f64),
    /// Below a bound: `bound − exp(u)`.
    Below(f64),
    /// Between two bounds: `low + (high − low)·inv_logit(u)`.
    Interval(f64, f64),
    /// A vector with rising elements: `x₁ = u₁, xₖ = xₖ₋₁ + exp(uₖ)`.
    Ordered,
}

/// A literal number or the name of data, a parameter or a definition.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Argument {
    /// A literal.
    Number(f64),
    /// A name.
    Name(String),
}

/// `name = op(args…)`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The new name.
    pub name: String,
    /// The operation.
    pub op: Operation,
    /// Its arguments.
    pub args: Vec<Argument>,
    /// Whether the value is kept with every draw.
    #[serde(default)]
    pub keep: bool,
}

/// The operations. Elementwise ones take scalars and vectors of one length; a scalar is
/// repeated.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `a + b`, elementwise.
    Add,
    /// `a − b`, elementwise.
    Sub,
    /// `a · b`, elementwise.
    Mul,
    /// `a / b`, elementwise.
    Div,
    /// `aᵇ`, elementwise, for a > 0.
    Pow,
    /// `−a`.
    Neg,
    /// `eᵃ`.
    Exp,
    /// `ln a`.
    Log,
    /// `ln(1 + a)`.
    Log1p,
    /// `√a`.
    Sqrt,
    /// `a²`.
    Square,
    /// `tanh a`.
    Tanh,
    /// `1/(1 + e⁻ᵃ)`.
    InvLogit,
    /// `ln(a/(1 − a))`.
    Logit,
    /// `ln(1 + eᵃ)`.
    Log1pExp,
    /// Sum of the elements: a scalar.
    Sum,
    /// `Σ aᵢbᵢ` of two vectors: a scalar.
    Dot,
    /// A data matrix times a vector.
    Matvec,
    /// Scalars and vectors, one after the other: a vector.
    Concat,
    /// `a[index]`: elements of a vector by zero-based positions, which are a number or data. For
    /// hierarchies: the group effect of every observation.
    Index,
    /// `a − ln Σ eᵃ`.
    LogSoftmax,
    /// `eᵃ / Σ eᵃ`.
    Softmax,
    /// Running sums.
    CumulativeSum,
    /// `ar1(φ, e)`: `x₁ = e₁, xₜ = φ xₜ₋₁ + eₜ`.
    Ar1,
    /// As `ar1`, started in its stationary distribution: `x₁ = e₁/√(1 − φ²)`; needs |φ| < 1.
    StationaryAr1,
}

/// A term of the log density.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Statement {
    /// `value ~ family(args…)`, for every element of `value`; arguments are scalars or as long
    /// as `value`.
    Distribution {
        /// Data, parameter or definition. (No Jacobian is added for a definition.)
        value: Argument,
        /// The family.
        family: Family,
        /// Its arguments, in the order its documentation gives.
        args: Vec<Argument>,
    },
    /// `value ~ Σₖ exp(log_weights[k]) · componentsₖ`, for every element of `value`.
    Mixture {
        /// Data, parameter or definition.
        value: Argument,
        /// A vector with one log weight a component; `log_softmax` makes one.
        log_weights: Argument,
        /// The components.
        components: Vec<Component>,
    },
    /// The sum of the elements of `value`, as it is.
    Term {
        /// What to add.
        value: Argument,
    },
}

/// One component of a mixture.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// The family.
    pub family: Family,
    /// Its arguments.
    pub args: Vec<Argument>,
}

/// The families of distributions, with their arguments. All densities are normalised.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// `(mean, scale)`.
    Normal,
    /// `(scale)`: |x| of a normal distribution around 0.
    HalfNormal,
    /// `(mean, scale)` of ln x.
    LogNormal,
    /// `(location, scale)`.
    Cauchy,
    /// `(scale)`.
    HalfCauchy,
    /// `(degrees of freedom, location, scale)`.
    StudentT,
    /// `(location, scale)`.
    Laplace,
    /// `(location, scale)`.
    Logistic,
    /// `(low, high)`.
    Uniform,
    /// `(rate)`.
    Exponential,
    /// `(shape, rate)`.
    Gamma,
    /// `(shape, scale)`.
    InverseGamma,
    /// `(a, b)`.
    Beta,
    /// `(logit of the probability)`; the value is 0 or 1.
    BernoulliLogit,
    /// `(logarithm of the rate)`; the value is a count.
    PoissonLog,
}

/// A data array: row by row. Counts and indices are whole numbers in it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// `[]` for a number, `[n]` for a vector, `[rows, columns]` for a matrix.
    pub shape: Vec<usize>,
    /// As many as the shape says.
    pub values: Vec<f64>,
}

impl Array {
    /// A single number.
    pub fn scalar(value: f64) -> Self {
        Array {
            shape: Vec::new(),
            values: vec![value],
        }
    }

    /// A vector.
    pub fn vector(values: Vec<f64>) -> Self {
        Array {
            shape: vec![values.len()],
            values,
        }
    }

    /// A matrix, row by row; `values.len()` must be a multiple of `columns`, which compiling
    /// checks.
    pub fn matrix(columns: usize, values: Vec<f64>) -> Self {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        Array {
            shape: vec![rows, columns],
            values,
        }
    }
}

/// The data of a model by name.
pub type Data = BTreeMap<String, Array>;
