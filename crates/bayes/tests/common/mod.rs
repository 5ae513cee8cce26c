//! The five benchmark models with their data, and plain log densities written from their
//! description: the oracle. Nothing here uses the engine but `program` and `fit`.
#![allow(dead_code)] // every test binary uses a part

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_bayes::{Array, Chain, ChainSettings, Data, Draws, Fit, Model, Program};
use serde_json::Value;

pub const MODELS: [&str; 5] = ["M1", "M2", "M3", "M4", "M5"];

pub fn shared(file: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/bayes/");
    let text = std::fs::read_to_string(format!("{path}{file}"))
        .unwrap_or_else(|e| panic!("the shared data beside the checkout: {file}: {e}"));
    serde_json::from_str(&text).unwrap()
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

pub fn model(name: &str) -> Model {
    serde_json::from_str(match name {
        "M1" => include_str!("../../models/m1.json"),
        "M2" => include_str!("../../models/m2.json"),
        "M3" => include_str!("../../models/m3.json"),
        "M4" => include_str!("../../models/m4.json"),
        _ => include_str!("../../models/m5.json"),
    })
    .unwrap()
}

pub fn data(name: &str) -> Data {
    let all = shared("data.json");
    let mut data = BTreeMap::new();
    for key in ["y", "sigma", "X"] {
        let value = &all[name][key];
        if value.is_null() {
            continue;
        }
        let rows = value.as_array().unwrap();
        let array = if rows[0].is_array() {
            let columns = rows[0].as_array().unwrap().len();
            Array::matrix(columns, rows.iter().flat_map(numbers).collect())
        } else {
            Array::vector(numbers(value))
        };
        data.insert(key.to_string(), array);
    }
    data
}

pub fn program(name: &str) -> Program {
    Program::compile(&model(name), &data(name)).unwrap()
}

pub fn run(
    program: Program,
    chains: u64,
    warmup: usize,
    draws: usize,
    seed: u64,
) -> (Vec<Draws>, Fit) {
    let program = Arc::new(program);
    let draws: Vec<Draws> = (0..chains)
        .map(|chain| {
            let settings = ChainSettings {
                seed,
                chain,
                warmup,
                draws,
                ..ChainSettings::default()
            };
            Chain::new(Arc::clone(&program), settings)
                .unwrap()
                .run()
                .unwrap()
        })
        .collect();
    let fit = Fit::new(program.names(), &draws.iter().collect::<Vec<_>>()).unwrap();
    (draws, fit)
}

fn normal(x: f64, mean: f64, sd: f64) -> f64 {
    -0.5 * ((x - mean) / sd).powi(2) - sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
}

fn half_normal(x: f64, sd: f64) -> f64 {
    normal(x, 0.0, sd) + 2f64.ln()
}

fn half_cauchy(x: f64, scale: f64) -> f64 {
    (2.0 / (std::f64::consts::PI * scale * (1.0 + (x / scale).powi(2)))).ln()
}

fn regime_prior(p: &[f64]) -> f64 {
    normal(p[0], 0.0, 1.0)
        + half_normal(p[1], 1.0)
        + half_normal(p[2], 1.0)
        + half_normal(p[3], 2.0)
        + normal(p[4], 0.0, 1.0)
        + normal(p[5], 0.0, 0.5)
        + normal(p[6], 0.0, 1.0)
        + normal(p[7], 0.0, 1.0)
}

/// Density of the M5 mixture at `y`, constrained parameters `p`.
pub fn m5_density(p: &[f64], y: f64) -> f64 {
    let (e1, e2) = (p[6].exp(), p[7].exp());
    let total = e1 + e2 + 1.0;
    e1 / total * normal(y, p[0], p[1]).exp()
        + e2 / total * normal(y, p[4] * p[5], p[2]).exp()
        + 1.0 / total * normal(y, 0.0, p[3]).exp()
}

/// Log density of the *constrained* parameters `p`, straight from the models' description.
pub fn plain(name: &str, data: &Data, p: &[f64]) -> f64 {
    let y = &data["y"].values;
    match name {
        "M1" => regime_prior(p) + y.iter().map(|y| normal(*y, p[0], p[1])).sum::<f64>(),
        "M2" => {
            let sigma = &data["sigma"].values;
            let (mu, tau, z) = (p[0], p[1], &p[2..]);
            normal(mu, 0.0, 5.0)
                + half_cauchy(tau, 5.0)
                + (0..8)
                    .map(|i| normal(z[i], 0.0, 1.0) + normal(y[i], mu + tau * z[i], sigma[i]))
                    .sum::<f64>()
        }
        "M3" => {
            let x = &data["X"].values;
            let columns = data["X"].shape[1];
            let prior: f64 = p.iter().map(|b| normal(*b, 0.0, 2.5)).sum();
            prior
                + y.iter()
                    .enumerate()
                    .map(|(i, y)| {
                        let row = &x[i * columns..(i + 1) * columns];
                        let eta = p[0] + row.iter().zip(&p[1..]).map(|(x, b)| x * b).sum::<f64>();
                        // ln p and ln(1 − p) of p = 1/(1 + e^−η)
                        let away = if *y == 1.0 { -eta } else { eta };
                        -(1.0 + away.exp()).ln()
                    })
                    .sum::<f64>()
        }
        "M4" => {
            let (mu, phi, sigma, z) = (p[0], p[1], p[2], &p[3..]);
            let mut log = normal(mu, -1.0, 1.0) - 2f64.ln() + half_cauchy(sigma, 2.0);
            let mut h = 0.0;
            for t in 0..y.len() {
                h = if t == 0 {
                    mu + sigma * z[0] / (1.0 - phi * phi).sqrt()
                } else {
                    mu + phi * (h - mu) + sigma * z[t]
                };
                log += normal(z[t], 0.0, 1.0) + normal(y[t], 0.0, (h / 2.0).exp());
            }
            log
        }
        _ => regime_prior(p) + y.iter().map(|y| m5_density(p, *y).ln()).sum::<f64>(),
    }
}

/// Unconstrained position → constrained parameters and the logarithm of the Jacobian.
pub fn plain_transform(name: &str, u: &[f64]) -> (Vec<f64>, f64) {
    let mut p = u.to_vec();
    let mut log = 0.0;
    let positive: &[usize] = match name {
        "M1" | "M5" => &[1, 2, 3],
        "M2" => &[1],
        "M4" => &[2],
        _ => &[],
    };
    for &i in positive {
        p[i] = u[i].exp();
        log += u[i];
    }
    if name == "M4" {
        let s = 1.0 / (1.0 + (-u[1]).exp());
        p[1] = 2.0 * s - 1.0;
        log += (2.0 * s * (1.0 - s)).ln();
    }
    (p, log)
}
