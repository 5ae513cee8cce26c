//! Fixtures: machines and an experiment made by formula. None of it was measured.
#![allow(dead_code)] // Each test binary uses its part of it.

use std::collections::BTreeMap;

use plimsoll_schema::*;

/// A regular machine, CPUs numbered as Linux does on most: first threads of all cores first.
pub struct Builder {
    pub packages: u32,
    pub nodes: u32,
    pub l3s: u32,
    pub cores: u32,
    pub threads: u32,
    pub memory_gib: u64,
    pub l3_mib: u64,
    pub model: &'static str,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            packages: 1,
            nodes: 1,
            l3s: 1,
            cores: 1,
            threads: 1,
            memory_gib: 8,
            l3_mib: 32,
            model: "Fixture CPU",
        }
    }
}

impl Builder {
    /// `nodes` per package, `l3s` per node, `cores` per L3, `threads` per core.
    pub fn build(&self) -> Machine {
        let total = self.packages * self.nodes * self.l3s * self.cores;
        let set = |first: u32, n: u32| -> CpuSet {
            (0..self.threads)
                .flat_map(|t| (first..first + n).map(move |c| t * total + c))
                .collect()
        };
        let per_l3 = self.cores;
        let per_node = per_l3 * self.l3s;
        let per_package = per_node * self.nodes;
        let node_count = self.packages * self.nodes;
        let mut pus: Vec<Pu> = Vec::new();
        for core in 0..total {
            for thread in 0..self.threads {
                pus.push(Pu {
                    os_index: thread * total + core,
                    core: Some(core as usize),
                    package: Some((core / per_package) as usize),
                    numa_node: Some((core / per_node) as usize),
                    l3_domain: Some((core / per_l3) as usize),
                    thread: thread as usize,
                    online: true,
                    allowed: true,
                });
            }
        }
        let mut machine = Machine {
            source: MachineSource::Synthetic {
                spec: format!("fixture of {} packages", self.packages),
            },
            cpu_model: Some(self.model.to_owned()),
            counts: Counts::default(),
            packages: (0..self.packages)
                .map(|p| Package {
                    os_index: p,
                    cpus: set(p * per_package, per_package),
                })
                .collect(),
            numa_nodes: (0..node_count)
                .map(|n| NumaNode {
                    os_index: n,
                    memory_bytes: self.memory_gib << 30,
                    cpus: set(n * per_node, per_node),
                    distances: (0..node_count)
                        .map(|other| {
                            if other == n {
                                10
                            } else if other / self.nodes == n / self.nodes {
                                12
                            } else {
                                21
                            }
                        })
                        .collect(),
                })
                .collect(),
            l3_domains: (0..node_count * self.l3s)
                .map(|l| L3Domain {
                    size_bytes: self.l3_mib << 20,
                    cpus: set(l * per_l3, per_l3),
                })
                .collect(),
            cores: (0..total)
                .map(|c| Core {
                    os_index: c % per_package,
                    package: Some((c / per_package) as usize),
                    kind: CoreKind::Uniform,
                    cpus: set(c, 1),
                })
                .collect(),
            pus,
            kernel: None,
            limits: None,
        };
        recount(&mut machine);
        machine
    }
}

pub fn recount(m: &mut Machine) {
    m.counts = Counts {
        packages: m.packages.len(),
        numa_nodes: m.numa_nodes.len(),
        l3_domains: m.l3_domains.len(),
        cores: m.cores.len(),
        pus: m.pus.len(),
        online: m.pus.iter().filter(|p| p.online).count(),
        allowed: m.pus.iter().filter(|p| p.online && p.allowed).count(),
        threads_per_core: m.cores.iter().map(|c| c.cpus.len()).max().unwrap_or(0),
    };
}

pub fn one_cpu() -> Machine {
    Builder::default().build()
}

pub fn two_cores() -> Machine {
    let mut m = Builder {
        cores: 2,
        ..Builder::default()
    }
    .build();
    m.source = MachineSource::Live;
    m.numa_nodes[0].distances.clear();
    m.kernel = Some(KernelSettings {
        release: Some("6.1.0-fixture".to_owned()),
        governors: None,
        transparent_huge_pages: Some("madvise".to_owned()),
        numa_balancing: Some(0),
        smt_control: Some("notsupported".to_owned()),
        steal: Some(StealShare { since_boot: 0.0123 }),
    });
    m.limits = Some(Limits {
        affinity: "0-1".parse().unwrap(),
        quota_cpus: Some(1.5),
        cpuset: Some("0-1".parse().unwrap()),
        groups: vec![CgroupLimit {
            path: "/kubepods/pod-fixture/container".to_owned(),
            version: CgroupVersion::V2,
            quota_cpus: Some(1.5),
            cpuset: Some("0-1".parse().unwrap()),
        }],
        quota_seen_by_old_vm: None,
    });
    m
}

/// The shape of a 2 × E5-2699 v4 machine.
pub fn two_sockets() -> Machine {
    Builder {
        packages: 2,
        cores: 22,
        threads: 2,
        memory_gib: 128,
        l3_mib: 55,
        model: "Fixture of 2 × 22 cores × 2 threads",
        ..Builder::default()
    }
    .build()
}

/// 2 packages × 4 nodes × 3 chiplets × 4 cores × 2 threads = 192 CPUs.
pub fn chiplets() -> Machine {
    Builder {
        packages: 2,
        nodes: 4,
        l3s: 3,
        cores: 4,
        threads: 2,
        memory_gib: 96,
        l3_mib: 32,
        model: "Fixture of 24 chiplets",
    }
    .build()
}

pub fn thousand_cpus() -> Machine {
    Builder {
        packages: 8,
        nodes: 1,
        l3s: 8,
        cores: 8,
        threads: 2,
        memory_gib: 1536,
        l3_mib: 32,
        model: "Fixture of 1 024 CPUs",
    }
    .build()
}

/// A hybrid machine with a memory-only node, an offline CPU whose core is unknown, an offline
/// thread, and a CPU that is not allowed.
pub fn odd() -> Machine {
    let mut m = Builder {
        cores: 6,
        threads: 2,
        memory_gib: 32,
        ..Builder::default()
    }
    .build();
    for core in &mut m.cores[..2] {
        core.kind = CoreKind::Performance;
    }
    for core in &mut m.cores[2..] {
        core.kind = CoreKind::Efficiency;
    }
    m.numa_nodes[0].distances = vec![10, 17];
    m.numa_nodes.push(NumaNode {
        os_index: 2,
        memory_bytes: 512 << 30,
        cpus: CpuSet::new(),
        distances: vec![17, 10],
    });
    m.pus[1].online = false;
    m.pus[1].allowed = false;
    m.pus[4].allowed = false;
    m.pus.push(Pu {
        os_index: 12,
        core: None,
        package: None,
        numa_node: None,
        l3_domain: None,
        thread: 0,
        online: false,
        allowed: false,
    });
    recount(&mut m);
    m
}

/// Nothing is known but a core.
pub fn bare() -> Machine {
    let mut m = two_cores();
    m.packages.clear();
    m.numa_nodes.clear();
    m.l3_domains.clear();
    m.cpu_model = None;
    m.kernel = Some(KernelSettings::default());
    m.limits = None;
    for core in &mut m.cores {
        core.package = None;
    }
    for pu in &mut m.pus {
        (pu.package, pu.numa_node, pu.l3_domain) = (None, None, None);
    }
    recount(&mut m);
    m
}

/// A map with bindings that are right for regular machines whose nodes are whole packages.
pub fn map_of(machine: Machine) -> MapReport {
    let usable: Vec<&Pu> = machine
        .pus
        .iter()
        .filter(|p| p.online && p.allowed)
        .collect();
    let by = |key: fn(&Pu) -> (usize, usize, usize)| -> Vec<Option<u32>> {
        let mut order: Vec<&&Pu> = usable.iter().collect();
        order.sort_by_key(|p| key(p));
        order.iter().map(|p| Some(p.os_index)).collect()
    };
    let ns = by(|p| (p.core.unwrap_or(usize::MAX), p.thread, 0));
    let ts = by(|p| (p.thread, p.core.unwrap_or(usize::MAX), 0));
    let nnts = by(|p| {
        (
            p.numa_node.unwrap_or(0),
            p.thread,
            p.core.unwrap_or(usize::MAX),
        )
    });
    let cores = machine.cores.len() / machine.packages.len().max(1);
    let mut ps = ts.clone();
    ps.sort_by_key(|cpu| {
        let pu = usable.iter().find(|p| Some(p.os_index) == *cpu).unwrap();
        (pu.thread, pu.core.unwrap_or(0) % cores.max(1), pu.package)
    });
    let n = usable.len();
    use BindType::*;
    let bindings: BTreeMap<BindType, Vec<Option<u32>>> = [
        (U, vec![None; n]),
        (Ns, ns),
        (Ts, ts.clone()),
        (Tnnps, ts.clone()),
        (Db, ts),
        (Ps, ps.clone()),
        (S, ps),
        (Nnts, nnts.clone()),
        (Nnps, nnts),
    ]
    .into();
    let mut classes: Vec<Vec<BindType>> = Vec::new();
    for (bind, cpus) in &bindings {
        match classes.iter_mut().find(|c| &bindings[&c[0]] == cpus) {
            Some(class) => class.push(*bind),
            None => classes.push(vec![*bind]),
        }
    }
    let reach = |threads, count, bound| Reach {
        threads,
        count,
        bound,
    };
    MapReport {
        schema: MapReport::SCHEMA.to_owned(),
        schedulers: n,
        cpuset: usable.iter().map(|p| p.os_index).collect(),
        bindings,
        classes,
        reach: vec![
            reach(ThreadType::Scheduler, Some(n), true),
            reach(ThreadType::DirtyCpu, Some(n), false),
            reach(ThreadType::DirtyIo, Some(10), false),
            reach(ThreadType::Aux, Some(1), false),
            reach(ThreadType::Other, None, false),
        ],
        sct: None,
        advice: vec![Finding {
            id: "bind.dirty-unbound".to_owned(),
            cause:
                "Native functions that run long are on dirty CPU schedulers, and no +sbt places \
                    those."
                    .to_owned(),
            evidence: vec![format!(
                "{n} dirty CPU schedulers stay unbound under every bind type."
            )],
            fix: Some("If the work is in NIFs, place the threads with plimsoll pin.".to_owned()),
            expected_gain: None,
            confidence: Confidence::Certain,
        }],
        machine,
    }
}

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
                    "Something serialises the jobs: 44 of them reach 43 % of what 44 CPUs could \
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
