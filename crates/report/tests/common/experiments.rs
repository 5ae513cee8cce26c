use std::collections::BTreeMap;

use plimsoll_schema::*;

use super::{map_of, two_cores, two_sockets};

/// A small generator with a known sequence (Lehmer, MINSTD), for figures that look measured.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    /// Roughly normal: sum of twelve uniforms.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// What to build an experiment from.
pub struct Plan {
    pub machine: Machine,
    /// Name, same as, true ratio.
    pub arms: Vec<(&'static str, Vec<&'static str>, f64)>,
    pub levels: Vec<u32>,
    pub blocks: usize,
    pub unit: &'static str,
    pub workload: &'static str,
}

/// The experiment that samples show: two placements, three levels, ten blocks; made by formula.
pub fn experiment() -> Experiment {
    build(&Plan {
        machine: two_sockets(),
        arms: vec![
            ("u", vec!["u"], 1.0),
            ("ts", vec!["ts", "tnnps", "db"], 1.062),
        ],
        levels: vec![1, 10, 44],
        blocks: 10,
        unit: "jobs",
        workload: "spin (fixture)",
    })
}

/// Throughput at a level by Amdahl's law with a serial part of 3 %.
fn amdahl(level: u32) -> f64 {
    let n = f64::from(level);
    n / (1.0 + 0.03 * (n - 1.0))
}

pub fn build(plan: &Plan) -> Experiment {
    let map = map_of(plan.machine.clone());
    let mut noise = Noise(20_261_121);
    let baseline = plan.arms[0].0.to_owned();
    let arms: Vec<Arm> = plan
        .arms
        .iter()
        .map(|(name, same_as, _)| {
            let bind: Option<BindType> = name.parse().ok();
            Arm {
                name: (*name).to_owned(),
                same_as: same_as.iter().map(|s| (*s).to_owned()).collect(),
                bind,
                vm_flags: vec!["+sbt".to_owned(), (*name).to_owned()],
                env: BTreeMap::new(),
                against: None,
                ceiling: None,
                predicted: bind.map(|b| map.bindings[&b].clone()).unwrap_or_default(),
            }
        })
        .collect();
    let mut runs: Vec<Run> = Vec::new();
    for block in 0..plan.blocks {
        let block_effect = 0.01 * noise.normal();
        for &level in &plan.levels {
            for i in 0..arms.len() {
                let index = if block % 2 == 0 {
                    i
                } else {
                    arms.len() - 1 - i
                };
                let truth = if level == 1 { 1.0 } else { plan.arms[index].2 };
                let ops =
                    21.7 * amdahl(level) * truth * (block_effect + 0.008 * noise.normal()).exp();
                runs.push(run(
                    &arms[index],
                    level,
                    block,
                    runs.len(),
                    ops,
                    &plan.machine,
                    &mut noise,
                ));
            }
        }
    }
    let ops = |arm: &str, level: u32| -> Vec<f64> {
        let chosen = runs.iter().filter(|r| r.arm == arm && r.level == level);
        chosen.filter_map(|r| r.ops_per_second).collect()
    };
    let mut effects = Vec::new();
    for (_, arm) in arms.iter().enumerate().skip(1) {
        for &level in &plan.levels {
            let logs: Vec<f64> = ops(&arm.name, level)
                .iter()
                .zip(ops(&baseline, level))
                .map(|(a, b)| (a / b).ln())
                .collect();
            let (mean, half) = mean_and_half(&logs, 2.8);
            let (low, high) = ((mean - half).exp(), (mean + half).exp());
            effects.push(Effect {
                arm: arm.name.clone(),
                baseline: baseline.clone(),
                level,
                ratio: mean.exp(),
                interval: Some(Interval {
                    low,
                    high,
                    confidence: 0.983,
                }),
                p_adjusted: if low > 1.0 || high < 1.0 {
                    0.0059
                } else {
                    0.71
                },
                blocks: plan.blocks,
                smallest_detectable: Some(half * 1.4),
                conclusion: if low > 1.0 {
                    Conclusion::Faster
                } else if high < 1.0 {
                    Conclusion::Slower
                } else {
                    Conclusion::NoDifferenceSeen
                },
                mechanisms: vec![
                    Mechanism {
                        counter: "migrations of normal schedulers".to_owned(),
                        unit: "per second".to_owned(),
                        arm: 0.0,
                        baseline: 3.1 * f64::from(level),
                        explains: low > 1.0,
                    },
                    Mechanism {
                        counter: "involuntary context switches".to_owned(),
                        unit: "per second".to_owned(),
                        arm: 11.8,
                        baseline: 12.4,
                        explains: false,
                    },
                ],
            });
        }
    }
    let mut efficiency = Vec::new();
    for arm in &arms {
        let one = ops(&arm.name, plan.levels[0]);
        for &level in &plan.levels {
            let here = ops(&arm.name, level);
            let logs: Vec<f64> = here.iter().map(|x| x.ln()).collect();
            let ratios: Vec<f64> = here.iter().zip(&one).map(|(a, b)| (a / b).ln()).collect();
            let spread = |logs: &[f64]| {
                let (mean, half) = mean_and_half(logs, 2.26);
                let ends = Interval {
                    low: (mean - half).exp(),
                    high: (mean + half).exp(),
                    confidence: 0.95,
                };
                (mean.exp(), ends)
            };
            let (ops_per_second, ops_interval) = spread(&logs);
            let (speedup, speedup_interval) = spread(&ratios);
            efficiency.push(Efficiency {
                job_median_ms: None,
                job_p95_ms: None,
                of_ceiling: None,
                of_ceiling_interval: None,
                arm: arm.name.clone(),
                level,
                ops_per_second,
                ops_interval: Some(ops_interval),
                speedup: Some(speedup),
                speedup_interval: (level > plan.levels[0]).then_some(speedup_interval),
                usable_cpus: level.min(plan.machine.counts.allowed as u32),
                runs: here.len(),
            });
        }
    }
    Experiment {
        schema: Experiment::SCHEMA.to_owned(),
        id: 12,
        plimsoll_version: "0.1.0".to_owned(),
        started_at_ms: 1_795_246_200_000,
        status: ExperimentStatus::Complete,
        design: Design {
            workload: plan.workload.to_owned(),
            command: vec![],
            env: BTreeMap::new(),
            metric: None,
            unit: plan.unit.to_owned(),
            blocks: Some(plan.blocks),
            budget_seconds: None,
            window_seconds: 1.5,
            error_rate: 0.05,
            seed: 7,
            baseline,
        },
        arms,
        levels: plan.levels.clone(),
        runs,
        effects,
        efficiency,
        verdict: Some(Verdict {
            sentence: "Binding the schedulers with +sbt ts does 6 % more work at 10 and at 44 \
                       concurrent jobs, and makes no difference to a job alone."
                .to_owned(),
            notes: vec![
                "44 jobs run only 19× as fast as one: the serial part costs more than placement \
                 can give back."
                    .to_owned(),
                "Work in long NIFs is not reached by +sbt; this workload has none.".to_owned(),
            ],
            launch: LaunchLine {
                command: "ERL_FLAGS=\"+sbt ts\" mix run --no-halt".to_owned(),
                verify: "erlang:system_info(scheduler_bind_type). says thread_spread".to_owned(),
            },
        }),
        findings: vec![
            Finding {
                id: "bind.same-placement".to_owned(),
                cause: "ts, tnnps and db are one placement on this machine.".to_owned(),
                evidence: vec![
                    "Each puts scheduler 1, 2, 3 … on CPU 0, 1, 2 …, CPU for CPU.".to_owned(),
                ],
                fix: None,
                expected_gain: None,
                confidence: Confidence::Certain,
            },
            Finding {
                id: "scale.serial".to_owned(),
                cause:
                    "Something serialises the jobs: 44 of them reach 44 % of what 44 CPUs could \
                        do."
                    .to_owned(),
                evidence: vec![
                    "Speedup at 44 is 19×.".to_owned(),
                    "A serial part of 3 % explains the curve at 10 and at 44.".to_owned(),
                ],
                fix: Some("Count locks with plimsoll lcnt under the same workload.".to_owned()),
                expected_gain: Some("up to 2.3× at 44 jobs".to_owned()),
                confidence: Confidence::Likely,
            },
        ],
        settings: BTreeMap::from([
            ("OTP".to_owned(), "25 (erts 13.1.5, jit)".to_owned()),
            ("Elixir".to_owned(), "1.14.0".to_owned()),
            ("governor".to_owned(), "performance".to_owned()),
            ("transparent huge pages".to_owned(), "madvise".to_owned()),
        ]),
        reproduce: "plimsoll bench spin --arms u,ts --levels 1,10,44 --blocks 10 --seed 7"
            .to_owned(),
        machine: plan.machine.clone(),
    }
}

fn mean_and_half(logs: &[f64], t: f64) -> (f64, f64) {
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, t * (variance / n).sqrt())
}

fn run(
    arm: &Arm,
    level: u32,
    block: usize,
    order: usize,
    ops: f64,
    machine: &Machine,
    noise: &mut Noise,
) -> Run {
    let warm = 2 + order % 3;
    let samples: Vec<Sample> = (0..15)
        .map(|i| {
            let cold = if i < warm { 0.62 + 0.1 * i as f64 } else { 1.0 };
            Sample {
                ops: ops * 0.1 * cold * (1.0 + 0.012 * noise.normal()),
                seconds: 0.1,
            }
        })
        .collect();
    let n = machine.counts.allowed;
    let mut threads = BTreeMap::new();
    threads.insert(
        ThreadType::Scheduler,
        ThreadTypeEvidence {
            threads: n,
            user_seconds: 1.2 * f64::from(level),
            system_seconds: 0.02,
            migrations: Some(if arm.name == "u" {
                u64::from(level) * 5
            } else {
                0
            }),
            ..ThreadTypeEvidence::default()
        },
    );
    Run {
        block,
        order,
        arm: arm.name.clone(),
        level,
        seed: 7 + block as u64,
        status: RunStatus::Ok,
        started_at_ms: 1_795_246_200_000 + order as u64 * 1_800,
        ops_per_second: Some(ops),
        warmup_seconds: 0.1 * warm as f64,
        measured_seconds: 1.5 - 0.1 * warm as f64,
        steady: order != 17,
        job_median_ms: None,
        job_p95_ms: None,
        samples,
        evidence: Evidence {
            threads,
            host: HostEvidence {
                steal_share: Some(0.002),
                ..HostEvidence::default()
            },
        },
        vm: Some(VmFacts {
            otp_release: "25".to_owned(),
            erts: "13.1.5".to_owned(),
            emulator_flavour: "jit".to_owned(),
            schedulers: n,
            schedulers_online: n,
            dirty_cpu: n,
            dirty_cpu_online: n,
            dirty_io: 10,
            bind_type: arm.bind,
            bindings: arm.predicted.clone(),
            ..VmFacts::default()
        }),
    }
}

/// The fixture with every user-made text replaced by one that tries to break out.
pub fn hostile() -> Experiment {
    let evil = "</title></text><script src=\"http://evil.example/x.js\">alert(1)</script>\
                <img src=x onerror='alert(2)'> & \"q\" 'a' \u{1b}[31m {level}";
    let mut e = experiment();
    e.design.workload = evil.to_owned();
    e.design.command = vec![evil.to_owned()];
    e.design.env.insert(evil.to_owned(), evil.to_owned());
    e.design.unit = evil.to_owned();
    e.design.metric = Some(evil.to_owned());
    e.reproduce = evil.to_owned();
    e.settings.insert(evil.to_owned(), evil.to_owned());
    e.machine.cpu_model = Some(evil.to_owned());
    e.machine.source = MachineSource::Xml {
        file: evil.to_owned(),
    };
    let name = e.arms[1].name.clone();
    e.arms[1].name = evil.to_owned();
    e.arms[1].same_as = vec![evil.to_owned(), evil.to_owned()];
    e.arms[1].vm_flags = vec![evil.to_owned()];
    for run in &mut e.runs {
        if run.arm == name {
            run.arm = evil.to_owned();
        }
    }
    e.runs[3].status = RunStatus::Failed {
        why: evil.to_owned(),
    };
    e.runs[3].ops_per_second = None;
    for effect in &mut e.effects {
        effect.arm = evil.to_owned();
        effect.mechanisms[0].counter = evil.to_owned();
        effect.mechanisms[0].unit = evil.to_owned();
    }
    for x in &mut e.efficiency {
        if x.arm == name {
            x.arm = evil.to_owned();
        }
    }
    for f in &mut e.findings {
        f.id = evil.to_owned();
        f.cause = evil.to_owned();
        f.evidence = vec![evil.to_owned()];
        f.fix = Some(evil.to_owned());
        f.expected_gain = Some(evil.to_owned());
    }
    let verdict = e.verdict.as_mut().unwrap();
    verdict.sentence = evil.to_owned();
    verdict.notes = vec![evil.to_owned()];
    verdict.launch.command = evil.to_owned();
    verdict.launch.verify = evil.to_owned();
    e
}

pub fn calibration() -> Calibration {
    let by = |a: f64, b: f64, c: f64| {
        BTreeMap::from([
            ("autocorrelated".to_owned(), a),
            ("drift".to_owned(), b),
            ("heavy tails".to_owned(), c),
        ])
    };
    Calibration {
        schema: Calibration::SCHEMA.to_owned(),
        experiments: 2000,
        blocks: 12,
        effects: 3,
        error_rate: 0.05,
        false_claims: by(0.031, 0.0345, 0.042),
        power: by(0.987, 0.991, 0.934),
        coverage: by(0.984, 0.986, 0.981),
        stated_coverage: 0.983,
        noise_floor: Some(NoiseFloor {
            run_cv: 0.0134,
            pair_sd: 0.0151,
            effect: Effect {
                mechanisms: vec![],
                conclusion: Conclusion::NoDifferenceSeen,
                ratio: 1.0031,
                ..experiment().effects[0].clone()
            },
        }),
    }
}

/// Four arms on two cores, in which nothing differs: what most small machines will show.
pub fn small() -> Experiment {
    let mut e = build(&Plan {
        machine: two_cores(),
        arms: vec![
            ("u", vec!["u"], 1.0),
            (
                "ts",
                vec!["ns", "ts", "ps", "s", "nnts", "nnps", "tnnps", "db"],
                1.001,
            ),
        ],
        levels: vec![1, 2, 4],
        blocks: 10,
        unit: "loops",
        workload: "nif-spin (fixture)",
    });
    let verdict = e.verdict.as_mut().unwrap();
    verdict.sentence =
        "Binding makes no difference here that 10 blocks could see: anything of 1.5 % \
                        or more would have shown."
            .to_owned();
    verdict.notes = vec!["Keep the default: no flag is needed.".to_owned()];
    verdict.launch.command = "mix run --no-halt".to_owned();
    verdict.launch.verify = "erlang:system_info(scheduler_bind_type). says unbound".to_owned();
    e.findings.clear();
    e
}
