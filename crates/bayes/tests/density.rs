//! Log density against plain formulas, gradient against finite differences.

mod common;

use common::{MODELS, data, plain, plain_transform, program};
use plimsoll_bayes::{InstructionSet, Program};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

fn position(rng: &mut Pcg64, n: usize, radius: f64) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(-radius..radius)).collect()
}

/// Largest error of the gradient against central differences with Richardson extrapolation,
/// relative to the gradient's size and the rounding of the density.
fn gradient_error(program: &Program, u: &[f64]) -> f64 {
    let mut workspace = program.workspace().unwrap();
    let mut gradient = vec![0.0; u.len()];
    let mut unused = vec![0.0; u.len()];
    let log = program.log_density_gradient(&mut workspace, u, &mut gradient);
    let mut worst: f64 = 0.0;
    for i in 0..u.len() {
        let mut slope = |h: f64| {
            let mut moved = u.to_vec();
            moved[i] = u[i] + h;
            let above = program.log_density_gradient(&mut workspace, &moved, &mut unused);
            moved[i] = u[i] - h;
            (above - program.log_density_gradient(&mut workspace, &moved, &mut unused)) / (2.0 * h)
        };
        let h = 1e-3;
        let want = (4.0 * slope(h / 2.0) - slope(h)) / 3.0;
        let size = 1.0 + want.abs() + log.abs() * 1e-5;
        worst = worst.max((gradient[i] - want).abs() / size);
    }
    worst
}

#[test]
fn the_log_density_of_every_model_is_its_plain_formula() {
    let mut rng = Pcg64::seed_from_u64(5);
    for name in MODELS {
        let (program, data) = (program(name), data(name));
        for set in InstructionSet::available() {
            let program = program.clone().with_instruction_set(set);
            let mut workspace = program.workspace().unwrap();
            let n = program.dimension();
            for _ in 0..200 {
                let u = position(&mut rng, n, 2.0);
                let (p, jacobian) = plain_transform(name, &u);
                let want = plain(name, &data, &p) + jacobian;
                let got = program.log_density_gradient(&mut workspace, &u, &mut vec![0.0; n]);
                assert!(
                    (got - want).abs() <= 1e-11 * want.abs().max(100.0),
                    "{name} {}: {got} {want}",
                    set.name()
                );
                let mut draw = vec![0.0; n];
                program.constrain(&mut workspace, &u, &mut draw);
                for (a, b) in draw.iter().zip(&p) {
                    assert!((a - b).abs() <= 1e-14 * b.abs().max(1.0));
                }
            }
        }
    }
}

#[test]
fn the_gradient_of_every_model_equals_finite_differences() {
    let mut rng = Pcg64::seed_from_u64(6);
    for name in MODELS {
        for set in InstructionSet::available() {
            let program = program(name).with_instruction_set(set);
            for _ in 0..20 {
                let u = position(&mut rng, program.dimension(), 1.5);
                let error = gradient_error(&program, &u);
                assert!(error < 1e-7, "{name} {}: {error:e} at {u:?}", set.name());
            }
        }
    }
}
