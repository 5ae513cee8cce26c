//! Random small models: every operation, family, support and kernel against finite differences,
//! and the refusals.

mod common;

use common::{data, model};
use plimsoll_bayes::{
    Argument, Array, Chain, ChainSettings, Component, Data, Definition, Dimension, Family,
    InstructionSet, Model, ModelError, Operation, Parameter, Program, SampleError, Statement,
    Support,
};
use proptest::prelude::*;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

fn name(s: &str) -> Argument {
    Argument::Name(s.into())
}

fn parameter(name: &str, n: Option<usize>, support: Support) -> Parameter {
    let shape = n.map(Dimension::Size).into_iter().collect();
    Parameter {
        name: name.into(),
        shape,
        support,
    }
}

fn definition(name: &str, op: Operation, args: &[&str]) -> Definition {
    let args = args.iter().map(|a| Argument::Name((*a).into())).collect();
    Definition {
        name: name.into(),
        op,
        args,
        keep: false,
    }
}

fn statement(value: &str, family: Family, args: &[&str]) -> Statement {
    let args = args.iter().map(|a| Argument::Name((*a).into())).collect();
    Statement::Distribution {
        value: name(value),
        family,
        args,
    }
}

/// A random model over scalars `s…` and vectors `v…` of one length, and its data. Values stay
/// tame, so that finite differences are a fair oracle.
fn random_model(rng: &mut Pcg64) -> (Model, Data) {
    use Operation::*;
    let n = rng.random_range(2..12);
    let columns = rng.random_range(1..4);
    let mut numbers = |k: usize, low: f64, high: f64| -> Vec<f64> {
        (0..k).map(|_| rng.random_range(low..high)).collect()
    };
    let mut data = Data::new();
    data.insert("y".into(), Array::vector(numbers(n, -2.0, 2.0)));
    data.insert("positive".into(), Array::vector(numbers(n, 0.2, 3.0)));
    data.insert("unit".into(), Array::vector(numbers(n, 0.1, 0.9)));
    data.insert(
        "m".into(),
        Array::matrix(columns, numbers(n * columns, -1.0, 1.0)),
    );
    data.insert(
        "binary".into(),
        Array::vector(numbers(n, 0.0, 2.0).iter().map(|x| x.floor()).collect()),
    );
    data.insert(
        "group".into(),
        Array::vector(numbers(n, 0.0, 4.0).iter().map(|x| x.floor()).collect()),
    );

    let parameters = vec![
        parameter("s0", None, Support::Real),
        parameter("s1", None, Support::Real),
        parameter("pos", None, Support::Positive),
        parameter("pos_v", Some(n), Support::Positive),
        parameter("v0", Some(n), Support::Real),
        parameter("phi", None, Support::Interval(-0.9, 0.9)),
        parameter("above", None, Support::Above(0.5)),
        parameter("below", Some(2), Support::Below(-0.5)),
        parameter("ordered", Some(4), Support::Ordered),
        parameter("b", Some(columns), Support::Real),
        parameter("prob", None, Support::Interval(0.0, 1.0)),
        parameter("logits", Some(3), Support::Real),
    ];
    let mut definitions = vec![
        definition("v1", Matvec, &["m", "b"]),
        definition("v2", Index, &["ordered", "group"]),
        definition(
            "v3",
            if rng.random() { Ar1 } else { StationaryAr1 },
            &["phi", "v0"],
        ),
        definition("lw", LogSoftmax, &["logits"]),
        definition("w", Softmax, &["logits"]),
        definition("v4", CumulativeSum, &["v1"]),
        definition("joined", Concat, &["s0", "below", "above"]),
        definition("s2", Sum, &["joined"]),
        definition("s3", Dot, &["w", "logits"]),
    ];
    let (mut scalars, mut vectors) = (
        vec!["s0", "s1", "s2", "s3"],
        vec!["v0", "v1", "v2", "v3", "v4"],
    );
    let fresh: [&'static str; 8] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"];
    for new in fresh {
        let any = |rng: &mut Pcg64| {
            *[*scalars.choose(rng).unwrap(), *vectors.choose(rng).unwrap()]
                .choose(rng)
                .unwrap()
        };
        let (a, b) = (any(rng), any(rng));
        let bounded = *[Tanh, InvLogit, Log1pExp, Neg, Add, Sub, Mul]
            .choose(rng)
            .unwrap();
        let args = if matches!(bounded, Add | Sub | Mul) {
            vec![a, b]
        } else {
            vec![a]
        };
        let vector = args.iter().any(|x| vectors.contains(x));
        // Kept near the origin by a tanh, so that chains of products do not explode.
        let raw: &'static str = Box::leak(format!("raw_{new}").into_boxed_str());
        definitions.push(definition(raw, bounded, &args));
        definitions.push(definition(new, Tanh, &[raw]));
        if vector {
            vectors.push(new)
        } else {
            scalars.push(new)
        }
    }
    // Positive arguments, through every operation with a restricted domain.
    definitions.push(definition("e", Exp, &[*vectors.choose(rng).unwrap()]));
    definitions.push(definition("e_sqrt", Sqrt, &["e"]));
    definitions.push(definition("e_log1p", Log1p, &["e"]));
    definitions.push(definition("e_pow", Pow, &["pos", "s0"]));
    definitions.push(definition("back", Log, &["e_log1p"]));
    definitions.push(definition("ratio", Div, &["back", "above"]));
    definitions.push(definition("logit", Logit, &["prob"]));
    definitions.push(definition("square", Square, &["ratio"]));
    let positives = ["pos", "pos_v", "above", "e", "e_sqrt", "e_log1p", "e_pow"];

    let mut statements = vec![
        Statement::Term {
            value: name("square"),
        },
        Statement::Term {
            value: name("logit"),
        },
    ];
    for _ in 0..6 {
        let family = *[
            Family::Normal,
            Family::HalfNormal,
            Family::LogNormal,
            Family::Cauchy,
            Family::HalfCauchy,
            Family::StudentT,
            Family::Laplace,
            Family::Logistic,
            Family::Exponential,
            Family::Gamma,
            Family::InverseGamma,
            Family::Beta,
            Family::BernoulliLogit,
            Family::PoissonLog,
        ]
        .choose(rng)
        .unwrap();
        let real = *[*scalars.choose(rng).unwrap(), *vectors.choose(rng).unwrap()]
            .choose(rng)
            .unwrap();
        let (p, q) = (
            *positives.choose(rng).unwrap(),
            *positives.choose(rng).unwrap(),
        );
        let (value, args) = match family {
            Family::HalfNormal | Family::HalfCauchy | Family::Exponential => ("pos_v", vec![p]),
            Family::Gamma | Family::InverseGamma => ("positive", vec![p, q]),
            Family::LogNormal => ("pos_v", vec![real, p]),
            Family::Beta => ("unit", vec![p, q]),
            Family::BernoulliLogit | Family::PoissonLog => ("binary", vec![real]),
            Family::StudentT => ("y", vec![p, real, q]),
            _ => (*["y", "v0", "s0"].choose(rng).unwrap(), vec![real, p]),
        };
        statements.push(statement(value, family, &args));
    }
    let component = |family: Family, args: &[&str]| {
        let args = args.iter().map(|a| Argument::Name((*a).into())).collect();
        Component { family, args }
    };
    let scalar = |rng: &mut Pcg64| *scalars.choose(rng).unwrap();
    // The fused kernel, and the general one.
    statements.push(Statement::Mixture {
        value: name("y"),
        log_weights: name("lw"),
        components: vec![
            component(Family::Normal, &[scalar(rng), "pos"]),
            component(Family::Normal, &[scalar(rng), "above"]),
            component(Family::Normal, &[scalar(rng), "e_pow"]),
        ],
    });
    statements.push(Statement::Mixture {
        value: name("v0"),
        log_weights: name("lw"),
        components: vec![
            component(Family::Normal, &[scalar(rng), "pos_v"]),
            component(
                Family::StudentT,
                &["above", *vectors.choose(rng).unwrap(), "pos"],
            ),
            component(Family::Logistic, &["s0", "e"]),
        ],
    });
    let model = Model {
        name: String::new(),
        data: data.keys().cloned().collect(),
        parameters,
        definitions,
        statements,
    };
    (model, data)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gradients_of_random_models_equal_finite_differences(seed: u64) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (model, data) = random_model(&mut rng);
        let program = Program::compile(&model, &data).unwrap();
        let u: Vec<f64> = (0..program.dimension()).map(|_| rng.random_range(-0.8..0.8)).collect();
        let mut logs = Vec::new();
        for set in InstructionSet::available() {
            let program = program.clone().with_instruction_set(set);
            let mut workspace = program.workspace().unwrap();
            let mut gradient = vec![0.0; u.len()];
            let mut unused = vec![0.0; u.len()];
            let log = program.log_density_gradient(&mut workspace, &u, &mut gradient);
            logs.push(log);
            for i in 0..u.len() {
                let mut slope = |h: f64| {
                    let mut moved = u.clone();
                    moved[i] = u[i] + h;
                    let above = program.log_density_gradient(&mut workspace, &moved, &mut unused);
                    moved[i] = u[i] - h;
                    (above - program.log_density_gradient(&mut workspace, &moved, &mut unused)) / (2.0 * h)
                };
                // Two step sizes tell how far the differences themselves can be trusted.
                let (coarse, fine) = (slope(2e-4), slope(1e-4));
                let want = (4.0 * fine - coarse) / 3.0;
                let trust = 1e-6 * (1.0 + want.abs() + log.abs()) + (coarse - fine).abs();
                prop_assert!((gradient[i] - want).abs() < trust,
                    "{} of {:?} ({}): {} {}", i, u.len(), set.name(), gradient[i], want);
            }
        }
        for log in &logs {
            prop_assert!((log - logs[0]).abs() < 1e-10 * (1.0 + logs[0].abs()));
        }
    }

    #[test]
    fn any_text_is_a_model_or_an_error(text in "[\\[\\]{}\",:a-z0-9]{0,60}") {
        if let Ok(model) = serde_json::from_str::<Model>(&text) {
            let _ = Program::compile(&model, &Data::new());
        }
    }
}

fn compile_error(change: impl FnOnce(&mut Model, &mut Data)) -> String {
    let (mut model, mut data) = (model("M1"), data("M1"));
    change(&mut model, &mut data);
    Program::compile(&model, &data).unwrap_err().to_string()
}

#[test]
fn an_unknown_name_is_named_with_its_place() {
    let words = compile_error(|m, _| {
        m.statements
            .push(statement("y", Family::Normal, &["mu", "sigma_mr"]))
    });
    assert_eq!(
        words,
        "statement 10 (`y` ~ Normal): `mu` is not defined; declare it as data, a parameter or a definition above its first use"
    );
}

#[test]
fn vectors_of_different_lengths_are_named() {
    let words = compile_error(|m, _| {
        m.parameters.push(parameter("v", Some(7), Support::Real));
        m.definitions
            .push(definition("sum", Operation::Add, &["y", "v"]));
    });
    assert_eq!(
        words,
        "definition `sum`: a vector of 200 meets a vector of 7; make them as long as each other"
    );
}

#[test]
fn a_scale_that_may_be_negative_is_refused() {
    let words = compile_error(|m, _| {
        m.statements
            .push(statement("y", Family::Normal, &["mu_trend", "theta_mr"]))
    });
    assert!(
        words.contains("argument 2 of Normal must be above 0; give `theta_mr` a positive support"),
        "{words}"
    );
}

#[test]
fn a_prior_that_does_not_cover_its_parameter_is_refused() {
    let words = compile_error(|m, _| {
        m.statements
            .push(statement("theta_mr", Family::Exponential, &["sigma_mr"]))
    });
    assert!(
        words.contains("give the parameter the support positive"),
        "{words}"
    );
    let words = compile_error(|m, _| {
        m.statements.push(Statement::Distribution {
            value: name("theta_mr"),
            family: Family::Uniform,
            args: vec![Argument::Number(-1.0), Argument::Number(1.0)],
        });
    });
    assert!(
        words.contains("give the parameter the support interval(-1, 1)"),
        "{words}"
    );
}

#[test]
fn data_outside_of_the_support_are_named() {
    let words = compile_error(|m, _| {
        m.statements
            .push(statement("y", Family::BernoulliLogit, &["mu_mr"]))
    });
    assert!(
        words.contains("value 1 is 0.345584192064786, but BernoulliLogit needs 0 or 1"),
        "{words}"
    );
}

#[test]
fn a_discrete_parameter_is_refused_with_the_way_out() {
    let words = compile_error(|m, _| {
        m.statements
            .push(statement("mu_mr", Family::PoissonLog, &["mu_trend"]))
    });
    assert!(
        words.contains("sum the discrete one out, as a mixture does"),
        "{words}"
    );
}

#[test]
fn missing_and_broken_data_are_named() {
    let words = compile_error(|_, d| d.clear());
    assert_eq!(words, "the data `y` is missing; give it an array");
    let words = compile_error(|_, d| d.get_mut("y").unwrap().values[3] = f64::NAN);
    assert_eq!(
        words,
        "data `y`: value 4 is NaN; remove or replace what is missing"
    );
    let words = compile_error(|_, d| d.get_mut("y").unwrap().shape = vec![3]);
    assert!(
        words.contains("the shape [3] does not describe its 200 values"),
        "{words}"
    );
    let words = compile_error(|_, d| d.get_mut("y").unwrap().shape = vec![usize::MAX, usize::MAX]);
    assert!(words.contains("does not describe"), "{words}");
}

#[test]
fn a_name_used_twice_is_refused() {
    let words = compile_error(|m, _| m.parameters.push(parameter("y", None, Support::Real)));
    assert_eq!(words, "`y` is defined twice; rename one of the two");
}

#[test]
fn sizes_beyond_the_caps_are_refused_before_they_are_allocated() {
    for n in [usize::MAX, 1 << 40, (1 << 20) + 1] {
        let mut m = model("M1");
        m.parameters.push(parameter("huge", Some(n), Support::Real));
        let error = Program::compile(&m, &data("M1")).unwrap_err();
        assert!(matches!(error, ModelError::TooLarge { .. }), "{error}");
    }
    // Every concatenation doubles the last: 2³⁰ elements from thirty short lines.
    let mut m = model("M1");
    m.definitions
        .push(definition("c0", Operation::Concat, &["mu_mr", "theta_mr"]));
    for i in 1..40 {
        let last = format!("c{}", i - 1);
        m.definitions.push(definition(
            &format!("c{i}"),
            Operation::Concat,
            &[&last, &last],
        ));
    }
    let error = Program::compile(&m, &data("M1")).unwrap_err();
    assert!(matches!(error, ModelError::TooLarge { .. }), "{error}");
}

#[test]
fn settings_out_of_range_are_refused() {
    let program = std::sync::Arc::new(common::program("M1"));
    let base = ChainSettings::default();
    for settings in [
        ChainSettings { draws: 0, ..base },
        ChainSettings {
            draws: usize::MAX,
            ..base
        },
        ChainSettings {
            target_accept: 1.0,
            ..base
        },
        ChainSettings {
            target_accept: f64::NAN,
            ..base
        },
        ChainSettings {
            max_depth: 64,
            ..base
        },
        ChainSettings {
            start_radius: f64::INFINITY,
            ..base
        },
    ] {
        let error = Chain::new(program.clone(), settings).unwrap_err();
        assert!(matches!(error, SampleError::Setting(_)), "{error}");
    }
}

#[test]
fn a_model_without_a_finite_density_says_so() {
    let mut m = model("M1");
    // ln(−e^x) is not a number anywhere.
    m.definitions
        .push(definition("e", Operation::Exp, &["mu_mr"]));
    m.definitions.push(definition("n", Operation::Neg, &["e"]));
    m.definitions.push(definition("l", Operation::Log, &["n"]));
    m.statements.push(Statement::Term { value: name("l") });
    let program = Program::compile(&m, &data("M1")).unwrap();
    let error = Chain::new(program.into(), ChainSettings::default()).unwrap_err();
    assert_eq!(error, SampleError::NoStart(100));
}

#[test]
fn one_seed_gives_one_sequence_of_draws_and_two_chains_differ() {
    let run = |seed, chain| {
        let settings = ChainSettings {
            seed,
            chain,
            warmup: 100,
            draws: 50,
            ..ChainSettings::default()
        };
        Chain::new(common::program("M2").into(), settings)
            .unwrap()
            .run()
            .unwrap()
    };
    assert_eq!(run(1, 0), run(1, 0));
    assert_ne!(run(1, 0).values, run(1, 1).values);
    assert_ne!(run(1, 0).values, run(2, 0).values);
}

#[test]
fn a_chain_stepped_in_several_threads_makes_the_draws_of_one_run() {
    let settings = ChainSettings {
        warmup: 60,
        draws: 40,
        ..ChainSettings::default()
    };
    let program = std::sync::Arc::new(common::program("M2"));
    let whole = Chain::new(program.clone(), settings)
        .unwrap()
        .run()
        .unwrap();
    let mut chain = Chain::new(program, settings).unwrap();
    let mut steps = 0;
    while !chain.is_complete() {
        chain = std::thread::spawn(move || {
            for _ in 0..7 {
                if let Ok(step) = chain.step() {
                    assert_eq!(step.last, chain.is_complete());
                    assert!(step.gradients >= 1 && step.step_size > 0.0);
                }
            }
            chain
        })
        .join()
        .unwrap();
        steps += 7;
    }
    assert!(steps >= 100);
    assert_eq!(chain.step(), Err(SampleError::Complete));
    assert_eq!(chain.into_draws(), whole);
}

#[test]
fn kept_definitions_are_part_of_every_draw() {
    let mut m = model("M2");
    m.definitions[1].keep = true;
    let program = Program::compile(&m, &data("M2")).unwrap();
    assert_eq!(program.names()[10..12], ["theta.1", "theta.2"]);
    let settings = ChainSettings {
        warmup: 50,
        draws: 20,
        ..ChainSettings::default()
    };
    let draws = Chain::new(program.into(), settings).unwrap().run().unwrap();
    for draw in draws.values.chunks_exact(draws.width) {
        for i in 0..8 {
            assert!((draw[10 + i] - (draw[0] + draw[1] * draw[2 + i])).abs() < 1e-12);
        }
    }
}
