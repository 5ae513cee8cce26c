//! What somebody would write by hand on nuts-rs for M1 and M5: plain Rust, the natural loop over
//! the observations, scalar `exp` and `ln` of the standard library.

use std::collections::HashMap;

use nuts_rs::rand::rngs::ChaCha8Rng;
use nuts_rs::rand::{Rng, RngExt, SeedableRng};
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings,
};

#[derive(Debug)]
pub struct Never;

impl std::fmt::Display for Never {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not finite")
    }
}

impl std::error::Error for Never {}

impl LogpError for Never {
    fn is_recoverable(&self) -> bool {
        true
    }
}

/// A hand-written log density and gradient on eight unconstrained parameters.
pub type Gradient = fn(&[f64], &[f64], &mut [f64]) -> f64;

struct Model<'a> {
    y: &'a [f64],
    f: Gradient,
}

impl HasDims for Model<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), 8)])
    }
}

impl CpuLogpFunc for Model<'_> {
    type LogpError = Never;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        8
    }

    fn logp(&mut self, u: &[f64], g: &mut [f64]) -> Result<f64, Never> {
        let log = (self.f)(self.y, u, g);
        if log.is_finite() { Ok(log) } else { Err(Never) }
    }

    fn expand_vector<R: Rng + ?Sized>(
        &mut self,
        _: &mut R,
        u: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(u.to_vec())
    }
}

const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// Priors and transforms that M1 and M5 share: constrained values, log density with Jacobian,
/// and the gradient by the constrained values.
fn priors(u: &[f64], x: &mut [f64; 8], g: &mut [f64]) -> f64 {
    const SCALE: [f64; 8] = [1.0, 1.0, 1.0, 2.0, 1.0, 0.5, 1.0, 1.0];
    let mut log = 0.0;
    for i in 0..8 {
        let positive = (1..4).contains(&i);
        x[i] = if positive { u[i].exp() } else { u[i] };
        let z = x[i] / SCALE[i];
        log -= 0.5 * z * z + SCALE[i].ln() + HALF_LN_TAU;
        if positive {
            log += u[i] + std::f64::consts::LN_2;
        }
        g[i] = -z / SCALE[i];
    }
    log
}

fn finish(x: &[f64; 8], g: &mut [f64]) {
    for i in 1..4 {
        g[i] = g[i] * x[i] + 1.0;
    }
}

/// M1: every observation is visited.
pub fn m1(y: &[f64], u: &[f64], g: &mut [f64]) -> f64 {
    let mut x = [0.0; 8];
    let mut log = priors(u, &mut x, g);
    let (mu, sigma) = (x[0], x[1]);
    let inverse = 1.0 / sigma;
    let (mut by_mu, mut squares) = (0.0, 0.0);
    for y in y {
        let z = (y - mu) * inverse;
        by_mu += z;
        squares += z * z;
    }
    let n = y.len() as f64;
    log -= 0.5 * squares + n * (sigma.ln() + HALF_LN_TAU);
    g[0] += by_mu * inverse;
    g[1] += (squares - n) * inverse;
    finish(&x, g);
    log
}

/// M5: log-sum-exp of three components for every observation.
pub fn m5(y: &[f64], u: &[f64], g: &mut [f64]) -> f64 {
    let mut x = [0.0; 8];
    let mut log = priors(u, &mut x, g);
    let mean = [x[0], x[4] * x[5], 0.0];
    let sigma = [x[1], x[2], x[3]];
    let inverse = sigma.map(|s| 1.0 / s);
    let logits = [x[6], x[7], 0.0];
    let top = logits.iter().copied().fold(f64::MIN, f64::max);
    let total = top + logits.iter().map(|l| (l - top).exp()).sum::<f64>().ln();
    let weight = logits.map(|l| l - total);
    let constant: [f64; 3] = std::array::from_fn(|k| weight[k] - sigma[k].ln() - HALF_LN_TAU);
    let (mut r, mut by_mean, mut by_sigma) = ([0.0; 3], [0.0; 3], [0.0; 3]);
    for y in y {
        let z: [f64; 3] = std::array::from_fn(|k| (y - mean[k]) * inverse[k]);
        let l: [f64; 3] = std::array::from_fn(|k| constant[k] - 0.5 * z[k] * z[k]);
        let max = l[0].max(l[1]).max(l[2]);
        let e = l.map(|l| (l - max).exp());
        let sum = e[0] + e[1] + e[2];
        log += max + sum.ln();
        for k in 0..3 {
            let p = e[k] / sum;
            r[k] += p;
            by_mean[k] += p * z[k];
            by_sigma[k] += p * (z[k] * z[k] - 1.0);
        }
    }
    let n = y.len() as f64;
    g[0] += by_mean[0] * inverse[0];
    g[4] += by_mean[1] * inverse[1] * x[5];
    g[5] += by_mean[1] * inverse[1] * x[4];
    for k in 0..3 {
        g[1 + k] += by_sigma[k] * inverse[k];
    }
    g[6] += r[0] - n * weight[0].exp();
    g[7] += r[1] - n * weight[1].exp();
    finish(&x, g);
    log
}

/// One run of the hand-written program: constrained draws into flat storage, as ours. The seed,
/// the random stream and the start are those of our `Chain`. Returns the gradients evaluated.
pub fn run(
    f: Gradient,
    y: &[f64],
    seed: u64,
    warmup: u64,
    draws: usize,
    out: &mut Vec<f64>,
) -> u64 {
    let mut model = Model { y, f };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(0);
    let start: Vec<f64> = (0..8)
        .map(|_| 2.0 * (2.0 * rng.random::<f64>() - 1.0))
        .collect();
    let mut unused = [0.0; 8];
    model.logp(&start, &mut unused).expect("a finite start");
    let settings = DiagNutsSettings {
        num_tune: warmup,
        num_draws: draws as u64,
        ..Default::default()
    };
    let mut chain = settings
        .new_chain(0, CpuMath::new(model), &mut rng)
        .expect("valid settings");
    chain.set_position(&start).expect("a finite start");
    out.clear();
    out.reserve(8 * draws);
    let mut gradients = 0;
    for i in 0..warmup as usize + draws {
        let (u, info) = chain.draw().expect("a draw");
        gradients += info.num_gradients;
        if i >= warmup as usize {
            out.extend(
                u.iter()
                    .enumerate()
                    .map(|(i, u)| if (1..4).contains(&i) { u.exp() } else { *u }),
            );
        }
    }
    gradients
}
