//! Deterministic operations on the tape: forward values and reverse adjoints.
//!
//! Outputs lie behind all their inputs in the buffer, so that a split at the output separates
//! what is read from what is written without copies.

use crate::model::Operation;
use crate::simd::{self, InstructionSet};

/// Where the elements of a value lie: in the program's constants or in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) active: bool,
    pub(crate) at: usize,
    pub(crate) len: usize,
}

impl Slot {
    #[inline]
    pub(crate) fn read<'a>(&self, constants: &'a [f64], values: &'a [f64]) -> &'a [f64] {
        let from = if self.active { values } else { constants };
        &from[self.at..self.at + self.len]
    }

    /// Element `i`, or the only element.
    #[inline]
    pub(crate) fn get(&self, constants: &[f64], values: &[f64], i: usize) -> f64 {
        let from = if self.active { values } else { constants };
        from[self.at + if self.len == 1 { 0 } else { i }]
    }

    /// Adds `g` to the adjoint of element `i` (or of the only element); constants have none.
    #[inline]
    pub(crate) fn add(&self, adjoint: &mut [f64], i: usize, g: f64) {
        if self.active {
            adjoint[self.at + if self.len == 1 { 0 } else { i }] += g;
        }
    }

    /// Adds `factor · g` elementwise, or its sum to a single element.
    #[inline]
    pub(crate) fn add_all(&self, adjoint: &mut [f64], g: &[f64], factor: f64) {
        if !self.active {
            return;
        }
        if self.len == 1 {
            adjoint[self.at] += factor * g.iter().sum::<f64>();
        } else {
            for (a, g) in adjoint[self.at..self.at + self.len].iter_mut().zip(g) {
                *a += factor * g;
            }
        }
    }
}

/// An operation with its shapes resolved.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Unary {
        f: Operation,
        x: Slot,
    },
    Binary {
        f: Operation,
        a: Slot,
        b: Slot,
    },
    Sum {
        x: Slot,
    },
    Dot {
        a: Slot,
        b: Slot,
    },
    Matvec {
        columns: Slot,
        x: Slot,
    },
    Concat {
        parts: Vec<Slot>,
    },
    Index {
        x: Slot,
        index: Vec<usize>,
    },
    LogSoftmax {
        x: Slot,
    },
    Softmax {
        x: Slot,
    },
    CumulativeSum {
        x: Slot,
    },
    Ar1 {
        phi: Slot,
        innovations: Slot,
        stationary: bool,
    },
}

#[inline]
fn zip2(a: &[f64], b: &[f64], out: &mut [f64], f: impl Fn(f64, f64) -> f64) {
    match (a.len() == 1, b.len() == 1) {
        (true, true) => out.fill(f(a[0], b[0])),
        (true, false) => out.iter_mut().zip(b).for_each(|(o, b)| *o = f(a[0], *b)),
        (false, true) => out.iter_mut().zip(a).for_each(|(o, a)| *o = f(*a, b[0])),
        (false, false) => out
            .iter_mut()
            .zip(a)
            .zip(b)
            .for_each(|((o, a), b)| *o = f(*a, *b)),
    }
}

/// Adds `g · d(a, b)` to the adjoint of `slot`, elementwise or summed.
#[inline]
fn pull2(
    slot: Slot,
    adjoint: &mut [f64],
    (a, b, g): (&[f64], &[f64], &[f64]),
    d: impl Fn(f64, f64) -> f64,
) {
    if !slot.active {
        return;
    }
    let at = |s: &[f64], i: usize| if s.len() == 1 { s[0] } else { s[i] };
    if slot.len == 1 {
        let sum: f64 = (0..g.len()).map(|i| g[i] * d(at(a, i), at(b, i))).sum();
        adjoint[slot.at] += sum;
    } else {
        let adjoint = &mut adjoint[slot.at..slot.at + slot.len];
        for i in 0..g.len().min(adjoint.len()) {
            adjoint[i] += g[i] * d(at(a, i), at(b, i));
        }
    }
}

/// ln(1 + eˣ) without overflow.
fn log1p_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn inv_logit(x: f64) -> f64 {
    let t = (-x.abs()).exp();
    if x < 0.0 {
        t / (1.0 + t)
    } else {
        1.0 / (1.0 + t)
    }
}

impl Op {
    /// Every value the operation reads.
    pub(crate) fn inputs(&self) -> Vec<Slot> {
        match self {
            Op::Unary { x, .. }
            | Op::Sum { x }
            | Op::Index { x, .. }
            | Op::LogSoftmax { x }
            | Op::Softmax { x }
            | Op::CumulativeSum { x } => vec![*x],
            Op::Binary { a, b, .. } | Op::Dot { a, b } => vec![*a, *b],
            Op::Matvec { columns, x } => vec![*columns, *x],
            Op::Concat { parts } => parts.clone(),
            Op::Ar1 {
                phi, innovations, ..
            } => vec![*phi, *innovations],
        }
    }

    /// Writes the values to `out`.
    pub(crate) fn forward(
        &self,
        set: InstructionSet,
        constants: &[f64],
        values: &[f64],
        out: &mut [f64],
    ) {
        let read = |s: &Slot| s.read(constants, values);
        match self {
            Op::Unary { f, x } => unary(*f, set, read(x), out),
            Op::Binary { f, a, b } => {
                let (a, b) = (read(a), read(b));
                match f {
                    Operation::Add => zip2(a, b, out, |a, b| a + b),
                    Operation::Sub => zip2(a, b, out, |a, b| a - b),
                    Operation::Mul => zip2(a, b, out, |a, b| a * b),
                    Operation::Div => zip2(a, b, out, |a, b| a / b),
                    _ => zip2(a, b, out, f64::powf),
                }
            }
            Op::Sum { x } => out[0] = read(x).iter().sum(),
            Op::Dot { a, b } => out[0] = read(a).iter().zip(read(b)).map(|(a, b)| a * b).sum(),
            Op::Matvec { columns, x } => simd::matvec(set, read(columns), read(x), out),
            Op::Concat { parts } => {
                let mut at = 0;
                for part in parts {
                    out[at..at + part.len].copy_from_slice(read(part));
                    at += part.len;
                }
            }
            Op::Index { x, index } => {
                let x = read(x);
                out.iter_mut().zip(index).for_each(|(o, i)| *o = x[*i]);
            }
            Op::LogSoftmax { x } => {
                let x = read(x);
                let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = x.iter().map(|x| (x - max).exp()).sum();
                let log = max + total.ln();
                out.iter_mut().zip(x).for_each(|(o, x)| *o = x - log);
            }
            Op::Softmax { x } => {
                let x = read(x);
                let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                out.iter_mut()
                    .zip(x)
                    .for_each(|(o, x)| *o = (x - max).exp());
                let total: f64 = out.iter().sum();
                out.iter_mut().for_each(|o| *o /= total);
            }
            Op::CumulativeSum { x } => {
                let mut sum = 0.0;
                for (o, x) in out.iter_mut().zip(read(x)) {
                    sum += x;
                    *o = sum;
                }
            }
            Op::Ar1 {
                phi,
                innovations,
                stationary,
            } => {
                let (phi, e) = (read(phi)[0], read(innovations));
                let mut last = 0.0;
                for (t, (o, e)) in out.iter_mut().zip(e).enumerate() {
                    last = match t {
                        0 if *stationary => e / (1.0 - phi * phi).sqrt(),
                        _ => phi * last + e,
                    };
                    *o = last;
                }
            }
        }
    }

    /// Adds the output's adjoint `g`, pulled back, to the adjoints of the inputs; `out` are the
    /// values that `forward` wrote.
    pub(crate) fn reverse(
        &self,
        set: InstructionSet,
        constants: &[f64],
        (values, out): (&[f64], &[f64]),
        adjoint: &mut [f64],
        g: &[f64],
    ) {
        let read = |s: &Slot| s.read(constants, values);
        match self {
            Op::Unary { f, x } => {
                let pull = (read(x), out, g);
                match f {
                    Operation::Neg => pull2(*x, adjoint, pull, |_, _| -1.0),
                    Operation::Exp => pull2(*x, adjoint, pull, |_, y| y),
                    Operation::Log => pull2(*x, adjoint, pull, |x, _| 1.0 / x),
                    Operation::Log1p => pull2(*x, adjoint, pull, |x, _| 1.0 / (1.0 + x)),
                    Operation::Sqrt => pull2(*x, adjoint, pull, |_, y| 0.5 / y),
                    Operation::Square => pull2(*x, adjoint, pull, |x, _| 2.0 * x),
                    Operation::Tanh => pull2(*x, adjoint, pull, |_, y| 1.0 - y * y),
                    Operation::InvLogit => pull2(*x, adjoint, pull, |_, y| y * (1.0 - y)),
                    Operation::Logit => pull2(*x, adjoint, pull, |x, _| 1.0 / (x * (1.0 - x))),
                    _ => pull2(*x, adjoint, pull, |x, _| inv_logit(x)),
                }
            }
            Op::Binary { f, a, b } => {
                let pull = (read(a), read(b), g);
                match f {
                    Operation::Add => {
                        a.add_all(adjoint, g, 1.0);
                        b.add_all(adjoint, g, 1.0);
                    }
                    Operation::Sub => {
                        a.add_all(adjoint, g, 1.0);
                        b.add_all(adjoint, g, -1.0);
                    }
                    Operation::Mul => {
                        pull2(*a, adjoint, pull, |_, b| b);
                        pull2(*b, adjoint, pull, |a, _| a);
                    }
                    Operation::Div => {
                        pull2(*a, adjoint, pull, |_, b| 1.0 / b);
                        pull2(*b, adjoint, pull, |a, b| -a / (b * b));
                    }
                    _ => {
                        pull2(*a, adjoint, pull, |a, b| b * a.powf(b - 1.0));
                        pull2(*b, adjoint, pull, |a, b| a.powf(b) * a.ln());
                    }
                }
            }
            Op::Sum { x } => (0..x.len).for_each(|i| x.add(adjoint, i, g[0])),
            Op::Dot { a, b } => {
                a.add_all(adjoint, read(b), g[0]);
                b.add_all(adjoint, read(a), g[0]);
            }
            Op::Matvec { columns, x } => {
                if x.active {
                    let target = &mut adjoint[x.at..x.at + x.len];
                    simd::matvec_adjoint(set, read(columns), g, target);
                }
            }
            Op::Concat { parts } => {
                let mut at = 0;
                for part in parts {
                    part.add_all(adjoint, &g[at..at + part.len], 1.0);
                    at += part.len;
                }
            }
            Op::Index { x, index } => {
                for (i, g) in index.iter().zip(g) {
                    x.add(adjoint, *i, *g);
                }
            }
            Op::LogSoftmax { x } => {
                let total: f64 = g.iter().sum();
                for (i, (g, o)) in g.iter().zip(out).enumerate() {
                    x.add(adjoint, i, g - o.exp() * total);
                }
            }
            Op::Softmax { x } => {
                let total: f64 = g.iter().zip(out).map(|(g, o)| g * o).sum();
                for (i, (g, o)) in g.iter().zip(out).enumerate() {
                    x.add(adjoint, i, o * (g - total));
                }
            }
            Op::CumulativeSum { x } => {
                let mut sum = 0.0;
                for i in (0..g.len()).rev() {
                    sum += g[i];
                    x.add(adjoint, i, sum);
                }
            }
            Op::Ar1 {
                phi,
                innovations,
                stationary,
            } => {
                let p = read(phi)[0];
                let (mut pulled, mut by_phi) = (0.0, 0.0);
                for t in (1..g.len()).rev() {
                    pulled = g[t] + p * pulled;
                    by_phi += pulled * out[t - 1];
                    innovations.add(adjoint, t, pulled);
                }
                if let Some(first) = g.first() {
                    pulled = first + p * pulled;
                    let rest = 1.0 - p * p;
                    if *stationary {
                        by_phi += pulled * out[0] * p / rest;
                        pulled /= rest.sqrt();
                    }
                    innovations.add(adjoint, 0, pulled);
                }
                phi.add(adjoint, 0, by_phi);
            }
        }
    }
}

fn unary(f: Operation, set: InstructionSet, x: &[f64], out: &mut [f64]) {
    let map = |out: &mut [f64], f: fn(f64) -> f64| {
        out.iter_mut().zip(x).for_each(|(o, x)| *o = f(*x));
    };
    match f {
        Operation::Exp => simd::exp(set, x, out),
        Operation::Log => simd::log(set, x, out),
        Operation::Log1p => simd::log1p(set, x, out),
        Operation::InvLogit => simd::inv_logit(set, x, out),
        Operation::Neg => map(out, |x| -x),
        Operation::Sqrt => map(out, f64::sqrt),
        Operation::Square => map(out, |x| x * x),
        Operation::Tanh => map(out, f64::tanh),
        Operation::Logit => map(out, |x| x.ln() - (-x).ln_1p()),
        _ => map(out, log1p_exp),
    }
}
