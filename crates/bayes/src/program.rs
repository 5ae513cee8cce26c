//! A compiled model: log density and gradient on the unconstrained space.

use crate::op::{Op, Slot};
use crate::simd::InstructionSet;
use crate::term::{Buffers, Term};
use crate::transform::Block;

/// A model with its data, ready to be evaluated. Immutable, so one program serves many chains;
/// each has its own [`Workspace`].
///
/// [`Program::compile`] makes it.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) set: InstructionSet,
    /// Unconstrained (and constrained) parameters.
    pub(crate) dimension: usize,
    pub(crate) blocks: Vec<Block>,
    /// Data and everything computed from data alone.
    pub(crate) constants: Vec<f64>,
    /// Length of the value buffer: constrained parameters, then definitions.
    pub(crate) active: usize,
    pub(crate) ops: Vec<(Op, Slot)>,
    pub(crate) quadratic: Quadratic,
    pub(crate) constant_term: f64,
    pub(crate) terms: Vec<Term>,
    pub(crate) scratch: usize,
    /// Names of the numbers in a draw.
    pub(crate) names: Vec<String>,
    /// Kept definitions, behind the parameters in a draw.
    pub(crate) kept: Vec<Slot>,
}

/// All normal and half-normal priors with constant arguments: one pass over the parameters.
/// −½ precision·(x − mean)²; precision 0 where a parameter has no such prior.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quadratic {
    pub(crate) mean: Vec<f64>,
    pub(crate) precision: Vec<f64>,
}

/// The buffers of one evaluation at a time; allocated once.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub(crate) values: Vec<f64>,
    slope: Vec<f64>,
    adjoint: Vec<f64>,
    scratch: Vec<f64>,
}

impl Program {
    /// The number of unconstrained parameters.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Names of the numbers of a draw: parameters (`name`, or `name.1`, `name.2`, … for a
    /// vector), then kept definitions.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The instruction set of the kernels.
    pub fn instruction_set(&self) -> InstructionSet {
        self.set
    }

    /// The same program for another instruction set (for tests and measurements).
    pub fn with_instruction_set(mut self, set: InstructionSet) -> Self {
        self.set = set;
        self
    }

    /// Buffers for [`Program::log_density_gradient`]; `None` when there is no memory for them.
    pub fn workspace(&self) -> Option<Workspace> {
        Some(Workspace {
            values: zeros(self.active)?,
            slope: zeros(self.dimension)?,
            adjoint: zeros(self.active)?,
            scratch: zeros(self.scratch)?,
        })
    }

    /// The log density at the unconstrained `position`, Jacobians and all constants included;
    /// its gradient is written to `gradient`. Nothing is allocated. The result may be infinite
    /// or NaN where the density is.
    ///
    /// # Panics
    /// If `position` or `gradient` is not [`Program::dimension`] long.
    pub fn log_density_gradient(
        &self,
        workspace: &mut Workspace,
        position: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        assert!(position.len() == self.dimension && gradient.len() == self.dimension);
        let Workspace {
            values,
            slope,
            adjoint,
            scratch,
        } = workspace;
        let mut log = self.constant_term + self.forward(position, values, slope);

        let (direct, derived) = adjoint.split_at_mut(self.dimension);
        derived.fill(0.0);
        log += self.quadratic.start(&values[..self.dimension], direct);
        let mut buffers = Buffers {
            constants: &self.constants,
            values,
            adjoint,
            scratch,
        };
        for term in &self.terms {
            log += term.add(self.set, &mut buffers);
        }
        for (op, out) in self.ops.iter().rev() {
            let (inputs, rest) = adjoint.split_at_mut(out.at);
            let (read, written) = values.split_at(out.at);
            op.reverse(
                self.set,
                &self.constants,
                (read, &written[..out.len]),
                inputs,
                &rest[..out.len],
            );
        }
        for block in &self.blocks {
            block.reverse(values, slope, adjoint, gradient);
        }
        log
    }

    /// The numbers of a draw at `position`: constrained parameters and kept definitions, in the
    /// order of [`Program::names`].
    ///
    /// # Panics
    /// If `position` is not [`Program::dimension`] long or `draw` not as long as the names.
    pub fn constrain(&self, workspace: &mut Workspace, position: &[f64], draw: &mut [f64]) {
        let Workspace { values, slope, .. } = workspace;
        if self.kept.is_empty() {
            // The definitions are not needed.
            for block in &self.blocks {
                block.forward(self.set, position, values, slope);
            }
        } else {
            self.forward(position, values, slope);
        }
        draw[..self.dimension].copy_from_slice(&values[..self.dimension]);
        let mut at = self.dimension;
        for slot in &self.kept {
            draw[at..at + slot.len].copy_from_slice(slot.read(&self.constants, values));
            at += slot.len;
        }
    }

    /// Fills the values; returns the logarithm of the Jacobian.
    #[inline]
    fn forward(&self, position: &[f64], values: &mut [f64], slope: &mut [f64]) -> f64 {
        let mut log = 0.0;
        for block in &self.blocks {
            log += block.forward(self.set, position, values, slope);
        }
        for (op, out) in &self.ops {
            let (read, written) = values.split_at_mut(out.at);
            op.forward(self.set, &self.constants, read, &mut written[..out.len]);
        }
        log
    }
}

impl Quadratic {
    /// The sum of the terms; *sets* the adjoints (this is what clears them).
    #[inline]
    fn start(&self, x: &[f64], adjoint: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        let inputs = x.iter().zip(&self.mean).zip(&self.precision);
        for (a, ((x, mean), precision)) in adjoint.iter_mut().zip(inputs) {
            let d = x - mean;
            let g = d * precision;
            *a = -g;
            sum += g * d;
        }
        -0.5 * sum
    }
}

/// `n` zeros, or `None` when there is no memory for them.
pub(crate) fn zeros(n: usize) -> Option<Vec<f64>> {
    let mut v = Vec::new();
    v.try_reserve_exact(n).ok()?;
    v.resize(n, 0.0);
    Some(v)
}
