//! Convergence diagnostics after Vehtari, Gelman, Simpson, Carpenter, Bürkner: "Rank-
//! normalization, folding, and localization: an improved R̂" (Bayesian Analysis 16, 2021).
//!
//! Every function takes the chains of one quantity, all of one length n ≥ 4, and returns NaN
//! where the statistic is undefined (too short, constant, or not finite).

use crate::fourier::autocovariance;
use crate::special::normal_quantile;

/// Chains cut in halves; the middle draw of an odd length is left out.
fn split<'a>(chains: &[&'a [f64]]) -> Vec<&'a [f64]> {
    chains
        .iter()
        .flat_map(|c| {
            let half = c.len() / 2;
            [&c[..half], &c[c.len() - half..]]
        })
        .collect()
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn variance(x: &[f64]) -> f64 {
    let m = mean(x);
    x.iter().map(|x| (x - m).powi(2)).sum::<f64>() / (x.len() as f64 - 1.0)
}

fn usable(chains: &[&[f64]]) -> bool {
    let Some(first) = chains.first() else {
        return false;
    };
    first.len() >= 4
        && chains
            .iter()
            .all(|c| c.len() == first.len() && c.iter().all(|x| x.is_finite()))
        && chains.iter().any(|c| c.iter().any(|x| *x != first[0]))
}

fn map(chains: &[&[f64]], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains
        .iter()
        .map(|c| c.iter().map(|x| f(*x)).collect())
        .collect()
}

fn views(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

/// Every draw replaced by the normal quantile of its fractional rank (r − 3/8)/(S + 1/4); ties
/// share their average rank.
fn rank_normalised(chains: &[&[f64]]) -> Vec<Vec<f64>> {
    let mut order: Vec<(f64, usize, usize)> = chains
        .iter()
        .enumerate()
        .flat_map(|(i, c)| c.iter().enumerate().map(move |(j, x)| (*x, i, j)))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out: Vec<Vec<f64>> = chains.iter().map(|c| vec![0.0; c.len()]).collect();
    let total = order.len() as f64;
    let mut from = 0;
    while from < order.len() {
        let to = from
            + order[from..]
                .iter()
                .take_while(|o| o.0 == order[from].0)
                .count();
        let rank = (from + 1 + to) as f64 / 2.0;
        let z = normal_quantile((rank - 0.375) / (total + 0.25));
        for (_, i, j) in &order[from..to] {
            out[*i][*j] = z;
        }
        from = to;
    }
    out
}

/// √(pooled variance / mean within-chain variance) of chains as they are.
fn plain_rhat(chains: &[&[f64]]) -> f64 {
    let n = chains[0].len() as f64;
    let means: Vec<f64> = chains.iter().map(|c| mean(c)).collect();
    let between = n * variance(&means);
    let within = mean(&chains.iter().map(|c| variance(c)).collect::<Vec<_>>());
    ((between / within + n - 1.0) / n).sqrt()
}

/// Effective sample size of the mean of chains as they are: Geyer's initial monotone sequence
/// over the combined chains (as in Stan), at most S log₁₀ S.
fn plain_ess(chains: &[&[f64]]) -> f64 {
    let (m, n) = (chains.len() as f64, chains[0].len());
    let covariances: Vec<Vec<f64>> = chains.iter().map(|c| autocovariance(c)).collect();
    let nf = n as f64;
    let within = covariances.iter().map(|c| c[0]).sum::<f64>() / m * nf / (nf - 1.0);
    let means: Vec<f64> = chains.iter().map(|c| mean(c)).collect();
    let mut pooled = within * (nf - 1.0) / nf;
    if chains.len() > 1 {
        pooled += variance(&means);
    }
    if pooled <= 0.0 {
        return f64::NAN;
    }
    let rho = |lag: usize| {
        let average = covariances.iter().map(|c| c[lag]).sum::<f64>() / m;
        1.0 - (within - average) / pooled
    };
    // Sums of neighbouring pairs, as long as they are positive, made monotone.
    let mut even = 1.0;
    let mut odd = rho(1);
    let mut sum = 0.0;
    let mut last = f64::INFINITY;
    let mut lag = 1;
    while even + odd > 0.0 {
        last = last.min(even + odd);
        sum += last;
        if lag + 4 >= n {
            even = 0.0;
            break;
        }
        even = rho(lag + 1);
        odd = rho(lag + 2);
        lag += 2;
    }
    // The even term of the first negative pair improves antithetic chains.
    let tau = -1.0 + 2.0 * sum + even.max(0.0);
    let total = m * nf;
    total / tau.max(1.0 / total.log10())
}

/// Rank-normalised split R̂: the larger of bulk (the draws) and tail (distances from the median).
/// Above 1.01 the chains have not mixed.
pub fn rhat(chains: &[&[f64]]) -> f64 {
    if !usable(chains) {
        return f64::NAN;
    }
    let halves = split(chains);
    let bulk = plain_rhat(&views(&rank_normalised(&halves)));
    let mut all: Vec<f64> = halves.concat();
    all.sort_by(f64::total_cmp);
    let median = quantile_sorted(&all, 0.5);
    let folded = map(&halves, |x| (x - median).abs());
    let tail = plain_rhat(&views(&rank_normalised(&views(&folded))));
    bulk.max(tail)
}

/// Effective sample size in the bulk: of the rank-normalised split chains. Below 100 a chain the
/// summaries are not reliable.
pub fn ess_bulk(chains: &[&[f64]]) -> f64 {
    if !usable(chains) {
        return f64::NAN;
    }
    plain_ess(&views(&rank_normalised(&split(chains))))
}

/// Effective sample size in the tails: the smaller of those of the 5 % and 95 % quantiles.
pub fn ess_tail(chains: &[&[f64]]) -> f64 {
    if !usable(chains) {
        return f64::NAN;
    }
    let mut all: Vec<f64> = chains.concat();
    all.sort_by(f64::total_cmp);
    let of = |p: f64| {
        let q = quantile_sorted(&all, p);
        let below = map(&split(chains), |x| f64::from(u8::from(x <= q)));
        plain_ess(&views(&below))
    };
    of(0.05).min(of(0.95))
}

/// Effective sample size of the mean: of the split chains as they are.
pub fn ess_mean(chains: &[&[f64]]) -> f64 {
    if !usable(chains) {
        f64::NAN
    } else {
        plain_ess(&split(chains))
    }
}

/// Monte-Carlo standard error of the mean: sd/√ESS.
pub fn mcse_mean(chains: &[&[f64]]) -> f64 {
    variance(&chains.concat()).sqrt() / ess_mean(chains).sqrt()
}

/// Monte-Carlo standard error of the standard deviation, from the effective sample size of the
/// squared deviations (the delta method, as the R package posterior does).
pub fn mcse_sd(chains: &[&[f64]]) -> f64 {
    if !usable(chains) {
        return f64::NAN;
    }
    let all = chains.concat();
    let centre = mean(&all);
    let squared = map(chains, |x| (x - centre).powi(2));
    let ess = ess_mean(&views(&squared));
    let second = all.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / all.len() as f64;
    let fourth = all.iter().map(|x| (x - centre).powi(4)).sum::<f64>() / all.len() as f64;
    let variance_of_variance = (fourth - second * second) / ess;
    (variance_of_variance / second / 4.0).sqrt()
}

/// The quantile of sorted values, with linear interpolation (type 7).
pub(crate) fn quantile_sorted(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let at = p * last as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(last);
    sorted[low] + (at - low as f64) * (sorted[high] - sorted[low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn normal(rng: &mut impl Rng) -> f64 {
        normal_quantile(rng.random_range(1e-12..1.0))
    }

    /// An AR(1) series with unit variance.
    fn series(rng: &mut impl Rng, phi: f64, n: usize) -> Vec<f64> {
        let mut x = normal(rng);
        (0..n)
            .map(|_| {
                x = phi * x + (1.0 - phi * phi).sqrt() * normal(rng);
                x
            })
            .collect()
    }

    fn chains(phi: f64, n: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        (0..4).map(|_| series(&mut rng, phi, n)).collect()
    }

    #[test]
    fn independent_draws_count_fully() {
        let c = chains(0.0, 5000, 1);
        let v = views(&c);
        for ess in [ess_bulk(&v), ess_tail(&v), ess_mean(&v)] {
            assert!((ess / 20_000.0 - 1.0).abs() < 0.1, "{ess}");
        }
        assert!((rhat(&v) - 1.0).abs() < 0.002);
        assert!((mcse_mean(&v) - 1.0 / 20_000f64.sqrt()).abs() < 5e-4);
        // For a normal distribution the sd of the sd is σ/√(2n).
        assert!((mcse_sd(&v) - 1.0 / 40_000f64.sqrt()).abs() < 5e-4);
    }

    #[test]
    fn an_autoregression_counts_as_its_closed_form() {
        for phi in [0.5, 0.9, -0.4] {
            let c = chains(phi, 20_000, 7);
            let want = 80_000.0 * (1.0 - phi) / (1.0 + phi);
            let got = ess_mean(&views(&c));
            assert!((got / want - 1.0).abs() < 0.1, "{phi}: {got} {want}");
        }
    }

    #[test]
    fn rhat_of_shifted_chains_is_its_closed_form() {
        // Split chains of variance 1 with means ±a: R̂² → 1 + a²·(8/7) for 8 half chains; on
        // ranks it is close to that for small a, and clearly above 1.01.
        let a = 0.3;
        let mut c = chains(0.0, 20_000, 11);
        for (i, chain) in c.iter_mut().enumerate() {
            let shift = if i % 2 == 0 { a } else { -a };
            chain.iter_mut().for_each(|x| *x += shift);
        }
        let want = (1.0 + a * a * 8.0 / 7.0_f64).sqrt();
        assert!((rhat(&views(&c)) - want).abs() < 0.01);
    }

    #[test]
    fn chains_with_different_scales_are_found_by_folding() {
        let mut c = chains(0.0, 4000, 13);
        c[0].iter_mut().for_each(|x| *x *= 3.0);
        let halves = split(&views(&c))
            .iter()
            .map(|c| c.to_vec())
            .collect::<Vec<_>>();
        assert!(plain_rhat(&views(&rank_normalised(&views(&halves)))) < 1.01);
        assert!(rhat(&views(&c)) > 1.1);
    }

    #[test]
    fn ranks_do_not_care_about_the_scale_of_the_draws() {
        let c = chains(0.3, 1000, 17);
        let bent: Vec<Vec<f64>> = map(&views(&c), |x| x.exp());
        let (a, b) = (ess_bulk(&views(&c)), ess_bulk(&views(&bent)));
        assert!((a - b).abs() < 1e-9 * a);
    }

    #[test]
    fn constant_short_and_infinite_chains_have_no_diagnostics() {
        for c in [
            vec![1.0; 100],
            vec![1.0, 2.0],
            vec![f64::NAN; 50],
            Vec::new(),
        ] {
            for f in [rhat, ess_bulk, ess_tail, ess_mean, mcse_sd] {
                assert!(f(&[&c, &c]).is_nan());
            }
        }
        assert!(rhat(&[]).is_nan());
    }
}
