//! A laboratory without processes: an executor whose figures follow a formula.

use std::collections::BTreeMap;

use plimsoll_lab::{Executor, Planned, RunError};
use plimsoll_schema::{
    Arm, BindType, Counts, Design, Evidence, Experiment, ExperimentStatus, Machine, MachineSource,
    Run, RunStatus,
};

pub fn arm(name: &str) -> Arm {
    Arm {
        name: name.to_owned(),
        same_as: vec![name.to_owned()],
        bind: name.parse::<BindType>().ok(),
        vm_flags: vec!["+sbt".to_owned(), name.to_owned()],
        env: BTreeMap::new(),
        against: None,
        ceiling: None,
        predicted: Vec::new(),
    }
}

pub fn experiment(arms: &[&str], levels: &[u32], blocks: Option<usize>) -> Experiment {
    Experiment {
        schema: Experiment::SCHEMA.to_owned(),
        id: 0,
        plimsoll_version: "0".to_owned(),
        started_at_ms: 0,
        status: ExperimentStatus::Running,
        design: Design {
            workload: "fake".to_owned(),
            command: Vec::new(),
            env: BTreeMap::new(),
            metric: None,
            unit: "jobs".to_owned(),
            blocks,
            budget_seconds: None,
            window_seconds: 1.0,
            error_rate: 0.05,
            seed: 42,
            baseline: arms[0].to_owned(),
        },
        machine: Machine {
            source: MachineSource::Live,
            cpu_model: None,
            counts: Counts {
                allowed: 2,
                ..Counts::default()
            },
            packages: Vec::new(),
            numa_nodes: Vec::new(),
            l3_domains: Vec::new(),
            cores: Vec::new(),
            pus: Vec::new(),
            kernel: None,
            limits: None,
        },
        arms: arms.iter().map(|name| arm(name)).collect(),
        levels: levels.to_vec(),
        runs: Vec::new(),
        effects: Vec::new(),
        efficiency: Vec::new(),
        verdict: None,
        findings: Vec::new(),
        settings: BTreeMap::new(),
        reproduce: String::new(),
    }
}

pub fn run_record(arm: &Arm, planned: &Planned, figure: Result<f64, String>) -> Run {
    let (status, ops) = match figure {
        Ok(ops) => (RunStatus::Ok, Some(ops)),
        Err(why) => (RunStatus::Failed { why }, None),
    };
    Run {
        block: planned.block,
        order: planned.order,
        arm: arm.name.clone(),
        level: planned.level,
        seed: planned.seed,
        status,
        started_at_ms: 0,
        ops_per_second: ops,
        warmup_seconds: 0.0,
        measured_seconds: 1.0,
        steady: true,
        job_median_ms: None,
        job_p95_ms: None,
        samples: Vec::new(),
        evidence: Evidence::default(),
        vm: None,
    }
}

/// Gives `figure(arm, level, order)` for every run.
pub struct Fake<F>(pub F);

impl<F: FnMut(&Arm, &Planned) -> Result<f64, String>> Executor for Fake<F> {
    fn execute(&mut self, _: &Design, arm: &Arm, planned: &Planned) -> Result<Run, RunError> {
        let figure = (self.0)(arm, planned);
        Ok(run_record(arm, planned, figure))
    }
}

/// Between 0.99 and 1.01, from the run's place in the order: noise that every test run sees alike.
pub fn wobble(planned: &Planned) -> f64 {
    let mixed = (planned.order as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    1.0 + 0.01 * (mixed as f64 / f64::from(1 << 23) - 1.0)
}
