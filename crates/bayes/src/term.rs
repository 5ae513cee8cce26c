//! Terms of the log density, each with the adjoints of what it reads.
//!
//! The density is the sum of its terms, so the adjoint of every term is 1 and value and
//! derivatives come out of one pass.

use crate::family::HALF_LN_TAU;
use crate::model::Family;
use crate::op::Slot;
use crate::simd::{self, ComponentSums, In, InstructionSet, MAX_FUSED_COMPONENTS};

/// A statement with its shapes resolved and the best kernel chosen.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    /// `n` independent data, one mean and one scale: the data enter through their mean and sum
    /// of squared deviations only, which were computed once. O(1) a gradient.
    NormalReduced {
        n: f64,
        average: f64,
        squares: f64,
        mean: Slot,
        scale: Slot,
    },
    /// Normal, vectorised; the constant is in the program's.
    Normal {
        value: Slot,
        mean: Slot,
        scale: Slot,
        n: usize,
    },
    /// Data of zeros and ones, vectorised.
    BernoulliLogit { y: Slot, eta: Slot },
    /// Data from a mixture of normal distributions with scalar arguments, vectorised.
    NormalMixture {
        y: Slot,
        log_weights: Slot,
        means: Vec<Slot>,
        scales: Vec<Slot>,
    },
    /// Any family, one element at a time.
    General {
        family: Family,
        value: Slot,
        args: [Slot; 3],
        n: usize,
    },
    /// Any mixture, one element at a time.
    Mixture {
        value: Slot,
        log_weights: Slot,
        components: Vec<(Family, [Slot; 3])>,
        n: usize,
    },
    /// The sum of the elements.
    Sum { value: Slot },
}

/// The buffers a term works on.
pub(crate) struct Buffers<'a> {
    pub(crate) constants: &'a [f64],
    pub(crate) values: &'a [f64],
    pub(crate) adjoint: &'a mut [f64],
    pub(crate) scratch: &'a mut [f64],
}

impl Buffers<'_> {
    #[inline]
    fn scalar(&self, slot: &Slot) -> f64 {
        slot.get(self.constants, self.values, 0)
    }

    #[inline]
    fn arguments(&self, args: &[Slot; 3], i: usize) -> [f64; 3] {
        args.map(|a| a.get(self.constants, self.values, i))
    }
}

fn input<'a>(slot: &Slot, constants: &'a [f64], values: &'a [f64]) -> In<'a> {
    match slot.read(constants, values) {
        [one] => In::One(*one),
        each => In::Each(each),
    }
}

impl Term {
    /// Numbers of scratch memory the term needs.
    pub(crate) fn scratch(&self) -> usize {
        match self {
            Term::Normal { n, .. } => 2 * n,
            Term::BernoulliLogit { y, .. } => y.len,
            Term::Mixture { components, .. } => components.len(),
            _ => 0,
        }
    }

    /// The term's value; adds its derivatives to the adjoints.
    #[inline]
    pub(crate) fn add(&self, set: InstructionSet, b: &mut Buffers) -> f64 {
        match self {
            Term::NormalReduced {
                n,
                average,
                squares,
                mean,
                scale,
            } => {
                let s = b.scalar(scale);
                let inverse = 1.0 / s;
                let precision = inverse * inverse;
                let distance = average - b.scalar(mean);
                let total = (squares + n * distance * distance) * precision;
                mean.add(b.adjoint, 0, n * distance * precision);
                scale.add(b.adjoint, 0, (total - n) * inverse);
                -0.5 * total - n * s.ln()
            }
            Term::Normal {
                value,
                mean,
                scale,
                n,
            } => {
                let (d_mean, d_scale) = b.scratch[..2 * n].split_at_mut(*n);
                let log = simd::normal(
                    set,
                    input(value, b.constants, b.values),
                    input(mean, b.constants, b.values),
                    input(scale, b.constants, b.values),
                    *n,
                    d_mean,
                    d_scale,
                );
                value.add_all(b.adjoint, d_mean, -1.0);
                mean.add_all(b.adjoint, d_mean, 1.0);
                scale.add_all(b.adjoint, d_scale, 1.0);
                log
            }
            Term::BernoulliLogit { y, eta } => {
                let gradient = &mut b.scratch[..y.len];
                let log = simd::bernoulli_logit(
                    set,
                    y.read(b.constants, b.values),
                    eta.read(b.constants, b.values),
                    gradient,
                );
                eta.add_all(b.adjoint, gradient, 1.0);
                log
            }
            Term::NormalMixture {
                y,
                log_weights,
                means,
                scales,
            } => normal_mixture(set, b, y, log_weights, means, scales),
            Term::General {
                family,
                value,
                args,
                n,
            } => {
                let mut log = 0.0;
                for i in 0..*n {
                    let x = value.get(b.constants, b.values, i);
                    let term = family.term(x, b.arguments(args, i));
                    log += term.log;
                    value.add(b.adjoint, i, term.by_value);
                    for (slot, g) in args.iter().zip(term.by_arg) {
                        slot.add(b.adjoint, i, g);
                    }
                }
                log
            }
            Term::Mixture {
                value,
                log_weights,
                components,
                n,
            } => (0..*n)
                .map(|i| mixture(b, value, log_weights, components, i))
                .sum(),
            Term::Sum { value } => {
                (0..value.len).for_each(|i| value.add(b.adjoint, i, 1.0));
                value.read(b.constants, b.values).iter().sum()
            }
        }
    }
}

fn normal_mixture(
    set: InstructionSet,
    b: &mut Buffers,
    y: &Slot,
    log_weights: &Slot,
    means: &[Slot],
    scales: &[Slot],
) -> f64 {
    let k = means.len();
    let mut constant = [0.0; MAX_FUSED_COMPONENTS];
    let mut mean = [0.0; MAX_FUSED_COMPONENTS];
    let mut inverse = [0.0; MAX_FUSED_COMPONENTS];
    let mut precision = [0.0; MAX_FUSED_COMPONENTS];
    let mut sums = [ComponentSums::default(); MAX_FUSED_COMPONENTS];
    for i in 0..k {
        let scale = b.scalar(&scales[i]);
        mean[i] = b.scalar(&means[i]);
        inverse[i] = 1.0 / scale;
        precision[i] = inverse[i] * inverse[i];
        let weight = log_weights.get(b.constants, b.values, i);
        constant[i] = weight - scale.ln() - HALF_LN_TAU;
    }
    let log = simd::normal_mixture(
        set,
        y.read(b.constants, b.values),
        &constant[..k],
        &mean[..k],
        &precision[..k],
        &mut sums[..k],
    );
    for i in 0..k {
        let ComponentSums { r, rd, rd2 } = sums[i];
        log_weights.add(b.adjoint, i, r);
        means[i].add(b.adjoint, 0, rd * precision[i]);
        scales[i].add(b.adjoint, 0, (rd2 * precision[i] - r) * inverse[i]);
    }
    log
}

/// Element `i` of a general mixture: ln Σ exp, then every component's derivatives weighted by
/// its responsibility.
fn mixture(
    b: &mut Buffers,
    value: &Slot,
    log_weights: &Slot,
    components: &[(Family, [Slot; 3])],
    i: usize,
) -> f64 {
    let x = value.get(b.constants, b.values, i);
    let mut max = f64::NEG_INFINITY;
    for (k, (family, args)) in components.iter().enumerate() {
        let weight = log_weights.get(b.constants, b.values, k);
        b.scratch[k] = weight + family.term(x, b.arguments(args, i)).log;
        max = max.max(b.scratch[k]);
    }
    let logs = &b.scratch[..components.len()];
    let log = max + logs.iter().map(|l| (l - max).exp()).sum::<f64>().ln();
    for (k, (family, args)) in components.iter().enumerate() {
        let r = (b.scratch[k] - log).exp();
        if r == 0.0 {
            continue; // outside the support of this component its derivatives mean nothing
        }
        let term = family.term(x, b.arguments(args, i));
        log_weights.add(b.adjoint, k, r);
        value.add(b.adjoint, i, r * term.by_value);
        for (slot, g) in args.iter().zip(term.by_arg) {
            slot.add(b.adjoint, i, r * g);
        }
    }
    log
}
