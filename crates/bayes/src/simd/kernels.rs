//! Fused kernels: a log density and what its gradient needs, in one pass over the data.

use super::dispatch;
use super::lanes::Lanes;
use super::math::{exp_limited, log_lanes};

/// An argument of a kernel: one value for all elements, or one for each.
#[derive(Clone, Copy)]
pub(crate) enum In<'a> {
    /// The same for every element.
    One(f64),
    /// As long as the kernel's outputs.
    Each(&'a [f64]),
}

impl In<'_> {
    #[inline(always)]
    fn whole<L: Lanes>(&self, i: usize) -> L {
        match self {
            In::One(x) => L::splat(*x),
            In::Each(s) => L::load(&s[i..]),
        }
    }

    #[inline(always)]
    fn partial<L: Lanes>(&self, i: usize, n: usize) -> L {
        match self {
            In::One(x) => L::splat(*x),
            In::Each(s) => L::load_partial(&s[i..i + n], 1.0),
        }
    }
}

/// Σ over the data of what the gradient of one mixture component needs; `r` is the
/// responsibility of the component, `d` the distance of the datum from its mean.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ComponentSums {
    pub(crate) r: f64,
    pub(crate) rd: f64,
    pub(crate) rd2: f64,
}

/// Logarithm of the ratio beyond which a component of a mixture is below the rounding of another.
const FAR: f64 = 40.0;

/// Observations between two logarithms. Their sums are multiplied: at most 1 + 5·e⁴⁰ < 2⁶¹ each
/// for a mixture and 2 for a Bernoulli term, so that 16 stay below the largest double.
const PRODUCT: usize = 16;

/// What one pass over the data accumulates for a mixture of `K` normal distributions.
struct Mixture<L, const K: usize> {
    constant: [L; K],
    mean: [L; K],
    half_precision: [L; K],
    r: [L; K],
    rd: [L; K],
    rd2: [L; K],
    base: L,
    product: L,
    log: L,
}

impl<L: Lanes, const K: usize> Mixture<L, K> {
    #[inline(always)]
    fn new(constant: &[f64], mean: &[f64], precision: &[f64]) -> Self {
        let zero = L::splat(0.0);
        let mut own = [[zero; K]; 3];
        for k in 0..K {
            own[0][k] = L::splat(constant[k]);
            own[1][k] = L::splat(mean[k]);
            own[2][k] = L::splat(-0.5 * precision[k]);
        }
        Mixture {
            constant: own[0],
            mean: own[1],
            half_precision: own[2],
            r: [zero; K],
            rd: [zero; K],
            rd2: [zero; K],
            base: zero,
            product: L::splat(1.0),
            log: zero,
        }
    }

    #[inline(always)]
    fn add(&mut self, y: L, mask: Option<L>) {
        let one = L::splat(1.0);
        let zero = L::splat(0.0);
        // Loops, not closures: a closure is a function of its own, without the target features.
        let (mut d, mut e) = ([y; K], [y; K]);
        for k in 0..K {
            d[k] = y.sub(self.mean[k]);
            e[k] = d[k].mul(d[k]).fma(self.half_precision[k], self.constant[k]);
        }
        // Relative to the first component, whose exponential is then known: one less to compute.
        // Where another is more than e^FAR times as likely, the sum is relative to that, and the
        // first, below the rounding of the sum, counts nothing.
        let first = e[0];
        let mut highest = e[K - 1];
        for term in &e[1..] {
            highest = highest.max(*term);
        }
        let far = highest.sub(L::splat(FAR));
        let mut base = L::select_lt(first, far, far, first);
        e[0] = L::select_lt(first, far, zero, one);
        let mut total = e[0];
        for term in &mut e[1..] {
            *term = exp_limited(term.sub(base));
            total = total.add(*term);
        }
        let mut scale = one.div(total);
        if let Some(mask) = mask {
            scale = scale.mul(mask);
            base = base.mul(mask);
            total = L::select_lt(zero, mask, total, one);
        }
        self.base = self.base.add(base);
        self.product = self.product.mul(total);
        for k in 0..K {
            let r = e[k].mul(scale);
            let rd = r.mul(d[k]);
            self.r[k] = self.r[k].add(r);
            self.rd[k] = self.rd[k].add(rd);
            self.rd2[k] = rd.fma(d[k], self.rd2[k]);
        }
    }

    /// One logarithm for the totals multiplied so far.
    #[inline(always)]
    fn take_log(&mut self) {
        self.log = self.log.add(log_lanes(self.product));
        self.product = L::splat(1.0);
    }
}

#[inline(always)]
fn mixture_of<L: Lanes, const K: usize>(
    y: &[f64],
    constant: &[f64],
    mean: &[f64],
    precision: &[f64],
    sums: &mut [ComponentSums],
) -> f64 {
    let mut state = Mixture::<L, K>::new(constant, mean, precision);
    for block in y.chunks(PRODUCT * L::N) {
        let whole = block.len() - block.len() % L::N;
        for i in (0..whole).step_by(L::N) {
            state.add(L::load(&block[i..]), None);
        }
        let rest = &block[whole..];
        if let Some(first) = rest.first() {
            state.add(L::load_partial(rest, *first), Some(L::mask(rest.len())));
        }
        state.take_log();
    }
    for (k, sums) in sums.iter_mut().enumerate().take(K) {
        *sums = ComponentSums {
            r: state.r[k].sum(),
            rd: state.rd[k].sum(),
            rd2: state.rd2[k].sum(),
        };
    }
    state.base.sum() + state.log.sum()
}

#[inline(always)]
fn mixture_any<L: Lanes>(
    y: &[f64],
    constant: &[f64],
    mean: &[f64],
    precision: &[f64],
    sums: &mut [ComponentSums],
) -> f64 {
    match constant.len() {
        1 => mixture_of::<L, 1>(y, constant, mean, precision, sums),
        2 => mixture_of::<L, 2>(y, constant, mean, precision, sums),
        3 => mixture_of::<L, 3>(y, constant, mean, precision, sums),
        4 => mixture_of::<L, 4>(y, constant, mean, precision, sums),
        5 => mixture_of::<L, 5>(y, constant, mean, precision, sums),
        6 => mixture_of::<L, 6>(y, constant, mean, precision, sums),
        // The compiler of models sends larger mixtures to the general path.
        _ => f64::NAN,
    }
}

/// The largest number of components [`normal_mixture`] takes.
pub(crate) const MAX_FUSED_COMPONENTS: usize = 6;

dispatch! {
    /// Σᵢ ln Σₖ exp(constantₖ − ½ precisionₖ (yᵢ − meanₖ)²), and the sums for its gradient.
    pub(crate) fn normal_mixture(
        y: &[f64], constant: &[f64], mean: &[f64], precision: &[f64], sums: &mut [ComponentSums],
    ) -> f64 = mixture_any;
}

#[inline(always)]
fn normal_any<L: Lanes>(
    x: In,
    mean: In,
    scale: In,
    n: usize,
    d_mean: &mut [f64],
    d_scale: &mut [f64],
) -> f64 {
    let half = L::splat(0.5);
    let one = L::splat(1.0);
    let (d_mean, d_scale) = (&mut d_mean[..n], &mut d_scale[..n]);
    let mut squares = L::splat(0.0);
    let mut logs = L::splat(0.0);
    let each_scale = matches!(scale, In::Each(_));
    let whole = n - n % L::N;
    for i in (0..whole).step_by(L::N) {
        let s = scale.whole::<L>(i);
        let inverse = one.div(s);
        let z = x.whole::<L>(i).sub(mean.whole::<L>(i)).mul(inverse);
        let z2 = z.mul(z);
        squares = squares.add(z2);
        z.mul(inverse).store(&mut d_mean[i..]);
        z2.sub(one).mul(inverse).store(&mut d_scale[i..]);
        if each_scale {
            logs = logs.add(log_lanes(s));
        }
    }
    if whole < n {
        let m = n - whole;
        let s = scale.partial::<L>(whole, m);
        let inverse = one.div(s);
        let distance = x.partial::<L>(whole, m).sub(mean.partial::<L>(whole, m));
        let z = distance.mul(inverse);
        let z2 = z.mul(z);
        let mask = L::mask(m);
        squares = z2.fma(mask, squares);
        let mut full = [0.0; 8];
        z.mul(inverse).store(&mut full);
        d_mean[whole..].copy_from_slice(&full[..m]);
        z2.sub(one).mul(inverse).store(&mut full);
        d_scale[whole..].copy_from_slice(&full[..m]);
        if each_scale {
            logs = log_lanes(s).fma(mask, logs);
        }
    }
    let log_scale = match scale {
        In::One(s) => n as f64 * s.ln(),
        In::Each(_) => logs.sum(),
    };
    -squares.mul(half).sum() - log_scale
}

dispatch! {
    /// Σᵢ −½((xᵢ − meanᵢ)/scaleᵢ)² − ln scaleᵢ over `n` elements, without the constant; the
    /// derivatives by the mean (minus those by x) and by the scale go to `d_mean` and `d_scale`.
    pub(crate) fn normal(
        x: In, mean: In, scale: In, n: usize, d_mean: &mut [f64], d_scale: &mut [f64],
    ) -> f64 = normal_any;
}

#[inline(always)]
fn bernoulli_step<L: Lanes>(y: L, eta: L) -> (L, L, L) {
    let zero = L::splat(0.0);
    let one = L::splat(1.0);
    let t = exp_limited(zero.sub(eta.abs()));
    let u = one.add(t);
    let p = L::select_lt(eta, zero, t, one).div(u);
    // y·η − max(η, 0); the rest, −ln(1 + e^−|η|), goes into the product of the u.
    let linear = y.mul(eta).sub(zero.max(eta));
    (linear, u, y.sub(p))
}

#[inline(always)]
fn bernoulli_any<L: Lanes>(y: &[f64], eta: &[f64], gradient: &mut [f64]) -> f64 {
    let n = y.len().min(eta.len()).min(gradient.len());
    let mut linear = L::splat(0.0);
    let mut log = L::splat(0.0);
    for start in (0..n).step_by(PRODUCT * L::N) {
        let end = n.min(start + PRODUCT * L::N);
        let whole = end - (end - start) % L::N;
        let mut product = L::splat(1.0);
        for i in (start..whole).step_by(L::N) {
            let (l, u, g) = bernoulli_step(L::load(&y[i..]), L::load(&eta[i..]));
            linear = linear.add(l);
            product = product.mul(u);
            g.store(&mut gradient[i..]);
        }
        if whole < end {
            let m = end - whole;
            let (l, u, g) = bernoulli_step(
                L::load_partial(&y[whole..end], 0.0),
                L::load_partial(&eta[whole..end], 0.0),
            );
            let mask = L::mask(m);
            linear = l.fma(mask, linear);
            product = product.mul(L::select_lt(L::splat(0.0), mask, u, L::splat(1.0)));
            let mut full = [0.0; 8];
            g.store(&mut full);
            gradient[whole..end].copy_from_slice(&full[..m]);
        }
        log = log.add(log_lanes(product));
    }
    linear.sum() - log.sum()
}

dispatch! {
    /// Σᵢ yᵢηᵢ − ln(1 + e^ηᵢ); `gradient` receives yᵢ − 1/(1 + e^−ηᵢ).
    pub(crate) fn bernoulli_logit(y: &[f64], eta: &[f64], gradient: &mut [f64]) -> f64 = bernoulli_any;
}

#[inline(always)]
fn matvec_any<L: Lanes>(columns: &[f64], x: &[f64], out: &mut [f64]) {
    let rows = out.len();
    let whole = rows - rows % (2 * L::N);
    for i in (0..whole).step_by(2 * L::N) {
        let mut low = L::splat(0.0);
        let mut high = L::splat(0.0);
        for (j, &b) in x.iter().enumerate() {
            let column = &columns[j * rows + i..];
            low = L::load(column).fma(L::splat(b), low);
            high = L::load(&column[L::N..]).fma(L::splat(b), high);
        }
        low.store(&mut out[i..]);
        high.store(&mut out[i + L::N..]);
    }
    for i in whole..rows {
        out[i] = x
            .iter()
            .enumerate()
            .map(|(j, b)| columns[j * rows + i] * b)
            .sum();
    }
}

dispatch! {
    /// `out = A x` with A stored column by column.
    pub(crate) fn matvec(columns: &[f64], x: &[f64], out: &mut [f64]) = matvec_any;
}

#[inline(always)]
fn matvec_adjoint_any<L: Lanes>(columns: &[f64], g: &[f64], out: &mut [f64]) {
    let rows = g.len();
    let whole = rows - rows % (2 * L::N);
    for (j, o) in out.iter_mut().enumerate() {
        let column = &columns[j * rows..(j + 1) * rows];
        let mut low = L::splat(0.0);
        let mut high = L::splat(0.0);
        for i in (0..whole).step_by(2 * L::N) {
            low = L::load(&column[i..]).fma(L::load(&g[i..]), low);
            high = L::load(&column[i + L::N..]).fma(L::load(&g[i + L::N..]), high);
        }
        let tail: f64 = (whole..rows).map(|i| column[i] * g[i]).sum();
        *o += low.add(high).sum() + tail;
    }
}

dispatch! {
    /// `out += Aᵀ g` with A stored column by column.
    pub(crate) fn matvec_adjoint(columns: &[f64], g: &[f64], out: &mut [f64]) = matvec_adjoint_any;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::InstructionSet;
    use rand::{Rng, SeedableRng};

    /// ln Σ exp with the largest term taken out.
    fn log_sum_exp(l: &[f64]) -> f64 {
        let max = l.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        max + l.iter().map(|l| (l - max).exp()).sum::<f64>().ln()
    }

    #[test]
    fn a_mixture_of_far_apart_components_is_its_plain_formula() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(2);
        for case in 0..600 {
            let k = 1 + case % MAX_FUSED_COMPONENTS;
            let n = 1 + case % 37;
            let y: Vec<f64> = (0..n).map(|_| rng.random_range(-3.0..3.0)).collect();
            let constant: Vec<f64> = (0..k).map(|_| rng.random_range(-60.0..60.0)).collect();
            let mean: Vec<f64> = (0..k).map(|_| rng.random_range(-3.0..3.0)).collect();
            // From hardly any difference between the components to thousands on the log scale.
            let precision: Vec<f64> = (0..k)
                .map(|_| rng.random_range(-3.0f64..9.0).exp())
                .collect();
            let term = |y: f64, k: usize| constant[k] - 0.5 * precision[k] * (y - mean[k]).powi(2);
            let (mut want, mut sums) = (0.0, vec![[0.0; 3]; k]);
            for &y in &y {
                let l: Vec<f64> = (0..k).map(|k| term(y, k)).collect();
                let log = log_sum_exp(&l);
                want += log;
                for (j, s) in sums.iter_mut().enumerate() {
                    let (r, d) = ((l[j] - log).exp(), y - mean[j]);
                    s[0] += r;
                    s[1] += r * d;
                    s[2] += r * d * d;
                }
            }
            for set in InstructionSet::available() {
                let mut got = vec![ComponentSums::default(); k];
                let log = normal_mixture(set, &y, &constant, &mean, &precision, &mut got);
                let close = |a: f64, b: f64| (a - b).abs() < 1e-11 * b.abs().max(1.0);
                assert!(close(log, want), "{} {case}: {log} {want}", set.name());
                for (g, w) in got.iter().zip(&sums) {
                    assert!(close(g.r, w[0]) && close(g.rd, w[1]) && close(g.rd2, w[2]));
                }
            }
        }
    }

    #[test]
    fn a_mixture_with_an_undefined_argument_is_undefined() {
        for set in InstructionSet::available() {
            for bad in 0..3 {
                let mut constant = [0.0; 3];
                constant[bad] = f64::NAN;
                let mut sums = [ComponentSums::default(); 3];
                let log =
                    normal_mixture(set, &[0.5; 11], &constant, &[0.0; 3], &[1.0; 3], &mut sums);
                assert!(log.is_nan());
            }
        }
    }
}
