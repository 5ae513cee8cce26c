//! M5: several modes. Chains rarely cross between them, so single parameters are not compared.
//! What does not depend on the labels is: the predictive density at fixed points and the sorted
//! scales, against importance sampling done here with the plain formula of the density. The
//! importance sampler itself is checked against the shared reference, parameter by parameter.

mod common;

use common::{data, m5_density, plain, program, run, shared};
use plimsoll_bayes::{Data, Draws, Warning, special::normal_quantile};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const D: usize = 8;
const CHAINS: u64 = 24;
/// Groups of draws, each with its own proposal.
const GROUPS: usize = 48;
const POINTS: [f64; 7] = [-1.5, -0.8, -0.3, 0.0, 0.3, 0.8, 1.5];
/// Degrees of freedom of the proposals: heavier tails than the posterior's.
const NU: f64 = 6.0;

/// Unconstrained, as the proposals are.
fn free(p: &[f64]) -> [f64; D] {
    std::array::from_fn(|i| if (1..4).contains(&i) { p[i].ln() } else { p[i] })
}

/// A multivariate t distribution fitted to draws.
struct Proposal {
    mean: [f64; D],
    /// Lower Cholesky factor of the scale matrix.
    factor: [[f64; D]; D],
    log_constant: f64,
    weight: f64,
}

/// The draws in groups of neighbours (k-means on standardised coordinates): the modes are bent,
/// so one proposal a mode fits badly.
fn groups(draws: &[[f64; D]], k: usize) -> Vec<Vec<[f64; D]>> {
    let n = draws.len() as f64;
    let scale: [f64; D] = std::array::from_fn(|i| {
        let mean = draws.iter().map(|d| d[i]).sum::<f64>() / n;
        (draws.iter().map(|d| (d[i] - mean).powi(2)).sum::<f64>() / n).sqrt()
    });
    let distance = |a: &[f64; D], b: &[f64; D]| -> f64 {
        (0..D).map(|i| ((a[i] - b[i]) / scale[i]).powi(2)).sum()
    };
    let mut centres: Vec<[f64; D]> = (0..k).map(|j| draws[j * draws.len() / k]).collect();
    let mut groups = Vec::new();
    for _ in 0..15 {
        groups = vec![Vec::new(); k];
        for d in draws {
            let nearest = (0..k)
                .min_by(|a, b| distance(d, &centres[*a]).total_cmp(&distance(d, &centres[*b])))
                .unwrap();
            groups[nearest].push(*d);
        }
        for (centre, group) in centres.iter_mut().zip(&groups) {
            if !group.is_empty() {
                let m = group.len() as f64;
                *centre = std::array::from_fn(|i| group.iter().map(|d| d[i]).sum::<f64>() / m);
            }
        }
    }
    groups.retain(|g| g.len() >= 8 * D);
    groups
}

impl Proposal {
    /// `weight` is the share of the samples that come from this one.
    fn fit(draws: &[[f64; D]], weight: f64) -> Self {
        let n = draws.len() as f64;
        let mean = std::array::from_fn(|i| draws.iter().map(|d| d[i]).sum::<f64>() / n);
        let mut factor = [[0.0; D]; D];
        for i in 0..D {
            for j in 0..=i {
                let mut c: f64 = draws
                    .iter()
                    .map(|d| (d[i] - mean[i]) * (d[j] - mean[j]))
                    .sum::<f64>()
                    / n;
                c *= 1.6; // wider than the draws
                let partial: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
                factor[i][j] = if i == j {
                    (c - partial).sqrt()
                } else {
                    (c - partial) / factor[j][j]
                };
            }
        }
        // The constant that all proposals share is left out.
        let log_constant = weight.ln() - (0..D).map(|i| factor[i][i].ln()).sum::<f64>();
        Proposal {
            mean,
            factor,
            log_constant,
            weight,
        }
    }

    fn draw(&self, rng: &mut Pcg64) -> [f64; D] {
        let mut normal = || normal_quantile(rng.random_range(1e-15..1.0));
        let z: [f64; D] = std::array::from_fn(|_| normal());
        let chi: f64 = (0..NU as usize).map(|_| normal().powi(2)).sum();
        let stretch = (NU / chi).sqrt();
        std::array::from_fn(|i| {
            self.mean[i] + stretch * (0..=i).map(|k| self.factor[i][k] * z[k]).sum::<f64>()
        })
    }

    fn log_density(&self, u: &[f64; D]) -> f64 {
        let mut z = [0.0; D];
        for i in 0..D {
            let partial: f64 = (0..i).map(|k| self.factor[i][k] * z[k]).sum();
            z[i] = (u[i] - self.mean[i] - partial) / self.factor[i][i];
        }
        let q: f64 = z.iter().map(|z| z * z).sum();
        self.log_constant - 0.5 * (NU + D as f64) * (1.0 + q / NU).ln()
    }
}

/// Label-invariant quantities, then the parameters.
fn quantities(p: &[f64]) -> Vec<f64> {
    let mut scales = [p[1], p[2], p[3]];
    scales.sort_by(f64::total_cmp);
    let mut all: Vec<f64> = POINTS.iter().map(|y| m5_density(p, *y)).collect();
    all.extend(scales);
    all.extend(p);
    all
}

struct Reference {
    mean: Vec<f64>,
    error: Vec<f64>,
    sd: Vec<f64>,
    ess: f64,
}

fn importance(data: &Data, draws: &[Draws]) -> Reference {
    let all: Vec<[f64; D]> = draws
        .iter()
        .flat_map(|c| c.values.chunks_exact(D).map(free))
        .collect();
    let groups = groups(&all, GROUPS);
    let total: usize = groups.iter().map(Vec::len).sum();
    let proposals: Vec<Proposal> = groups
        .iter()
        .map(|g| Proposal::fit(g, g.len() as f64 / total as f64))
        .collect();
    let mut cumulative = Vec::new();
    for p in &proposals {
        cumulative.push(cumulative.last().unwrap_or(&0.0) + p.weight);
    }
    let mut rng = Pcg64::seed_from_u64(99);
    let n = 100_000;
    let mut logs = Vec::with_capacity(n);
    let mut values = Vec::with_capacity(n);
    for i in 0..n {
        let at = (i as f64 + 0.5) / n as f64;
        let which = cumulative
            .iter()
            .position(|c| at < *c)
            .unwrap_or(proposals.len() - 1);
        let u = proposals[which].draw(&mut rng);
        let p: Vec<f64> = (0..D)
            .map(|k| {
                if (1..4).contains(&k) {
                    u[k].exp()
                } else {
                    u[k]
                }
            })
            .collect();
        let target = plain("M5", data, &p) + u[1] + u[2] + u[3];
        let each: Vec<f64> = proposals.iter().map(|q| q.log_density(&u)).collect();
        let max = each.iter().copied().fold(f64::MIN, f64::max);
        let proposal = max + each.iter().map(|l| (l - max).exp()).sum::<f64>().ln();
        logs.push(if target.is_finite() {
            target - proposal
        } else {
            f64::NEG_INFINITY
        });
        values.push(quantities(&p));
    }
    let max = logs.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = logs.iter().map(|l| (l - max).exp()).collect();
    let total: f64 = weights.iter().sum();
    let ess = total * total / weights.iter().map(|w| w * w).sum::<f64>();
    let width = values[0].len();
    let average = |f: &dyn Fn(usize) -> f64| (0..n).map(|i| weights[i] * f(i)).sum::<f64>() / total;
    let mean: Vec<f64> = (0..width).map(|k| average(&|i| values[i][k])).collect();
    let sd = (0..width)
        .map(|k| average(&|i| (values[i][k] - mean[k]).powi(2)).sqrt())
        .collect();
    // Delta method for the ratio of two sums.
    let error = (0..width)
        .map(|k| {
            let s: f64 = (0..n)
                .map(|i| (weights[i] * (values[i][k] - mean[k])).powi(2))
                .sum();
            s.sqrt() / total
        })
        .collect();
    Reference {
        mean,
        error,
        sd,
        ess,
    }
}

#[test]
fn the_mixture_agrees_where_labels_do_not_matter_and_reports_that_it_did_not_mix() {
    let data = data("M5");
    let (draws, fit) = run(program("M5"), CHAINS, 600, 600, 4);
    assert!(
        !fit.mixed(),
        "M5 must not pass as mixed: {:?}",
        fit.warnings
    );
    assert!(fit.warnings.iter().any(|w| match w {
        Warning::NotMixed { worst, names } =>
            *worst > 1.05 && !names.is_empty() && w.words().contains("did not mix"),
        _ => false,
    }));

    let reference = importance(&data, &draws);
    println!("effective sample size of the weights: {:.0}", reference.ess);
    // It varies with the draws the proposals were fitted to; the errors below allow for it.
    assert!(reference.ess > 1_000.0);
    let shared = shared("m5-importance.json");
    for (k, p) in fit.parameters.iter().enumerate() {
        let k = POINTS.len() + 3 + k;
        let want = shared[&p.name]["mean"].as_f64().unwrap();
        let error = reference.error[k].hypot(shared[&p.name]["se_mean"].as_f64().unwrap());
        let z = (reference.mean[k] - want) / error;
        println!(
            "{}: {:.4} against {want:.4}, {z:.2} standard errors",
            p.name, reference.mean[k]
        );
        assert!(
            z.abs() < 4.5,
            "{}: {} against {want}",
            p.name,
            reference.mean[k]
        );
    }

    // The chains weight the modes by where they started, so the comparison allows for the spread
    // of the chains' own means, as independent replicates, beside the reference's error.
    let per_chain: Vec<Vec<f64>> = draws
        .iter()
        .map(|c| {
            let n = c.len() as f64;
            let mut sum = vec![0.0; POINTS.len() + 3];
            for draw in c.values.chunks_exact(D) {
                sum.iter_mut()
                    .zip(quantities(draw))
                    .for_each(|(s, q)| *s += q / n);
            }
            sum
        })
        .collect();
    for k in 0..POINTS.len() + 3 {
        let m = per_chain.len() as f64;
        let mean = per_chain.iter().map(|c| c[k]).sum::<f64>() / m;
        let spread = per_chain.iter().map(|c| (c[k] - mean).powi(2)).sum::<f64>() / (m - 1.0);
        let error = (spread / m).sqrt().hypot(reference.error[k]);
        let z = (mean - reference.mean[k]) / error;
        println!(
            "quantity {k}: chains {mean:.5}, reference {:.5} (posterior sd {:.5}), {z:.2} standard errors",
            reference.mean[k], reference.sd[k]
        );
        assert!(z.abs() < 4.5);
        // And closeness in absolute terms: a wide spread must not excuse everything.
        assert!((mean - reference.mean[k]).abs() < 0.5 * reference.sd[k]);
    }
}
