//! Fused kernels: a log density and what its gradient needs, in one pass over the data.

use super::dispatch;
use super::lanes::Lanes;
use super::math::{exp_nonpositive, log_lanes};

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

/// Observations between two logarithms: the sums of at most 8 terms ≤ 1 (and ≥ 1 in total) are
/// multiplied, and 8¹²⁸ is still far below the largest double.
const PRODUCT: usize = 128;

/// What one pass over the data accumulates for a mixture of `K` normal distributions.
struct Mixture<L, const K: usize> {
    constant: [L; K],
    mean: [L; K],
    half_precision: [L; K],
    r: [L; K],
    rd: [L; K],
    rd2: [L; K],
    max: L,
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
            max: zero,
            product: L::splat(1.0),
            log: zero,
        }
    }

    #[inline(always)]
    fn add(&mut self, y: L, mask: Option<L>) {
        let one = L::splat(1.0);
        // Loops, not closures: a closure is a function of its own, without the target features.
        let (mut d, mut e) = ([y; K], [y; K]);
        for k in 0..K {
            d[k] = y.sub(self.mean[k]);
            e[k] = d[k].mul(d[k]).fma(self.half_precision[k], self.constant[k]);
        }
        let mut max = e[0];
        for term in e {
            max = max.max(term);
        }
        let mut total = L::splat(0.0);
        for term in &mut e {
            *term = exp_nonpositive(term.sub(max));
            total = total.add(*term);
        }
        let mut scale = one.div(total);
        if let Some(mask) = mask {
            scale = scale.mul(mask);
            max = max.mul(mask);
            total = L::select_lt(L::splat(0.0), mask, total, one);
        }
        self.max = self.max.add(max);
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
    state.max.sum() + state.log.sum()
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
    let t = exp_nonpositive(zero.sub(eta.abs()));
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
