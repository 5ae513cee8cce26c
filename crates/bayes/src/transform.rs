//! From the real line to the support of a parameter, with the Jacobian.

use crate::model::Support;
use crate::simd::{self, InstructionSet};

/// Neighbouring parameters with one support, transformed together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) support: Support,
    pub(crate) at: usize,
    pub(crate) len: usize,
}

impl Block {
    /// Writes the constrained values `x` and the slopes dx/du of this block; returns the
    /// logarithm of the Jacobian.
    #[inline]
    pub(crate) fn forward(
        &self,
        set: InstructionSet,
        u: &[f64],
        x: &mut [f64],
        slope: &mut [f64],
    ) -> f64 {
        let range = self.at..self.at + self.len;
        let (u, x, slope) = (&u[range.clone()], &mut x[range.clone()], &mut slope[range]);
        match self.support {
            Support::Real => {
                x.copy_from_slice(u);
                0.0
            }
            Support::Positive => {
                simd::exp(set, u, x);
                u.iter().sum()
            }
            Support::Above(bound) => {
                simd::exp(set, u, slope);
                x.iter_mut().zip(slope).for_each(|(x, s)| *x = bound + *s);
                u.iter().sum()
            }
            Support::Below(bound) => {
                simd::exp(set, u, slope);
                x.iter_mut().zip(slope).for_each(|(x, s)| {
                    *x = bound - *s;
                    *s = -*s;
                });
                u.iter().sum()
            }
            Support::Interval(low, high) => {
                let width = high - low;
                let mut log = 0.0;
                for ((x, s), u) in x.iter_mut().zip(slope).zip(u) {
                    let t = (-u.abs()).exp();
                    let small = t / (1.0 + t);
                    *x = if *u < 0.0 {
                        low + width * small
                    } else {
                        high - width * small
                    };
                    *s = width * small / (1.0 + t);
                    log -= u.abs() + 2.0 * t.ln_1p();
                }
                log + u.len() as f64 * width.ln()
            }
            Support::Ordered => {
                x[0] = u[0];
                for k in 1..u.len() {
                    slope[k] = u[k].exp();
                    x[k] = x[k - 1] + slope[k];
                }
                u[1..].iter().sum()
            }
        }
    }

    /// From adjoints by x to the gradient by u, the Jacobian's included.
    #[inline]
    pub(crate) fn reverse(&self, x: &[f64], slope: &[f64], adjoint: &[f64], gradient: &mut [f64]) {
        let range = self.at..self.at + self.len;
        let (x, slope) = (&x[range.clone()], &slope[range.clone()]);
        let (adjoint, gradient) = (&adjoint[range.clone()], &mut gradient[range]);
        match self.support {
            Support::Real => gradient.copy_from_slice(adjoint),
            Support::Positive => {
                for ((g, a), x) in gradient.iter_mut().zip(adjoint).zip(x) {
                    *g = a * x + 1.0;
                }
            }
            Support::Above(_) | Support::Below(_) => {
                for ((g, a), s) in gradient.iter_mut().zip(adjoint).zip(slope) {
                    *g = a * s + 1.0;
                }
            }
            Support::Interval(low, high) => {
                for i in 0..x.len() {
                    let by_jacobian = ((low - x[i]) + (high - x[i])) / (high - low);
                    gradient[i] = adjoint[i] * slope[i] + by_jacobian;
                }
            }
            Support::Ordered => {
                let mut sum = 0.0;
                for k in (1..x.len()).rev() {
                    sum += adjoint[k];
                    gradient[k] = sum * slope[k] + 1.0;
                }
                gradient[0] = sum + adjoint[0];
            }
        }
    }
}
