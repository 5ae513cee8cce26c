//! The bayes room for BEAM processes; `Plimsoll.Nuts` is its face.
//!
//! A program and a chain are resources: what no process refers to is freed. A whole run is made
//! on a dirty scheduler, in pieces, so that a killed process does not occupy one for long; a single
//! draw is made on a normal one. What cannot be done is `{error, Sentence}`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_bayes::{
    Array, Chain, ChainSettings, Data, Draws, Fit, Model, Program, Step, Summary, Warning,
};
use rustler::schedule::consume_timeslice;
use rustler::{Atom, Binary, Env, NifMap, NifResult, OwnedBinary, Resource, ResourceArc};

mod atoms {
    rustler::atoms! {
        more, done, long, not_mixed, few_effective_draws, divergences, depth_exhausted
    }
}

/// Longest model, in bytes of JSON.
const MOST_JSON: usize = 1 << 20;
/// Most numbers of kept draws in one chain: 512 MB.
const MOST_DRAWN: usize = 1 << 26;
/// A piece of a whole run: how long a killed process or a VM that halts waits for it, give or take
/// one draw.
const PIECE: Duration = Duration::from_millis(20);
/// Longest draw on a normal scheduler.
const LONG: Duration = Duration::from_millis(1);
/// After a draw of this length the next one is measured in CPU time. The wall clock is nearly free
/// but also counts what other threads did meanwhile; the CPU clock costs a system call.
const SUSPICIOUS: Duration = Duration::from_micros(250);
/// A hundredth of a timeslice, the least that a VM can be told of.
const PERCENT: Duration = Duration::from_micros(10);

/// Chains in memory, for the test that none is left behind.
static LIVE: AtomicUsize = AtomicUsize::new(0);

type Result<T> = std::result::Result<T, String>;

struct Compiled(Arc<Program>);

#[rustler::resource_impl]
impl Resource for Compiled {}

/// A chain on its way, or its draws.
struct Held {
    program: Arc<Program>,
    stage: Mutex<Option<Stage>>,
}

enum Stage {
    Under(Box<Under>),
    Drawn(Draws),
}

struct Under {
    chain: Chain,
    /// Whether the next single draw is measured in CPU time.
    measure: bool,
    /// Time on a normal scheduler of which the VM has not been told.
    untold: Duration,
}

#[rustler::resource_impl]
impl Resource for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(NifMap)]
struct Settings {
    seed: u64,
    chain: u64,
    warmup: usize,
    draws: usize,
    target_accept: f64,
    max_depth: u32,
}

#[derive(NifMap)]
struct FitTerm {
    chains: usize,
    draws: usize,
    gradients: u64,
    parameters: Vec<SummaryTerm>,
    warnings: Vec<(Atom, String)>,
}

#[derive(Default, NifMap)]
struct SummaryTerm {
    name: String,
    mean: Option<f64>,
    sd: Option<f64>,
    q5: Option<f64>,
    q50: Option<f64>,
    q95: Option<f64>,
    mcse_mean: Option<f64>,
    mcse_sd: Option<f64>,
    ess_bulk: Option<f64>,
    ess_tail: Option<f64>,
    rhat: Option<f64>,
}

/// A panic of the engine becomes a sentence: the caller goes on, and so does the VM.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err("the engine failed, which is a fault in Plimsoll: report the model and the message above".into())
    })
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn read_model(json: &[u8]) -> Result<Model> {
    if json.len() > MOST_JSON {
        return Err(format!(
            "the model is {} bytes of JSON, the limit is {MOST_JSON}: use vectors instead of many scalars",
            json.len()
        ));
    }
    serde_json::from_slice(json).map_err(|e| format!("this is not a model: {e}"))
}

/// The model as the engine understands it, in JSON with all defaults written out.
#[rustler::nif(schedule = "DirtyCpu")]
fn nuts_model(json: Binary<'_>) -> Result<String> {
    guarded(|| serde_json::to_string(&read_model(&json)?).map_err(words))
}

/// Arrays are `{Name, Shape, Values}`, the values 64-bit floats in native order, row by row.
#[rustler::nif(schedule = "DirtyCpu")]
fn nuts_compile(json: Binary<'_>, arrays: Arrays<'_>) -> Result<ResourceArc<Compiled>> {
    compile(&json, arrays)
}

/// [`nuts_compile`] for little data, on a normal scheduler: some thirty microseconds, where going to
/// a dirty scheduler and back costs as much again.
#[rustler::nif]
fn nuts_compile_small(json: Binary<'_>, arrays: Arrays<'_>) -> Result<ResourceArc<Compiled>> {
    if json.len()
        + arrays
            .iter()
            .map(|(_, _, bytes)| bytes.len())
            .sum::<usize>()
        > SMALL_BYTES
    {
        return Err("the data are not small".into());
    }
    compile(&json, arrays)
}

/// Model and data of this size together are compiled in well under a millisecond.
const SMALL_BYTES: usize = 32 * 1024;

/// Name, shape and numbers of each of the data.
type Arrays<'a> = Vec<(String, Vec<usize>, Binary<'a>)>;

fn compile(json: &Binary<'_>, arrays: Arrays<'_>) -> Result<ResourceArc<Compiled>> {
    guarded(|| {
        let model = read_model(json)?;
        let mut data = Data::new();
        for (name, shape, bytes) in arrays {
            let (numbers, rest) = bytes.as_slice().as_chunks::<8>();
            if !rest.is_empty() {
                return Err(format!("the data `{name}` are not whole 64-bit floats"));
            }
            let values = numbers.iter().map(|n| f64::from_ne_bytes(*n)).collect();
            data.insert(name, Array { shape, values });
        }
        let program = Program::compile(&model, &data).map_err(words)?;
        Ok(ResourceArc::new(Compiled(Arc::new(program))))
    })
}

/// The names of the numbers of a draw, and how many unconstrained parameters there are.
#[rustler::nif]
fn nuts_names(program: ResourceArc<Compiled>) -> (Vec<String>, usize) {
    (program.0.names().to_vec(), program.0.dimension())
}

/// Log density and gradient at an unconstrained position.
#[rustler::nif(schedule = "DirtyCpu")]
fn nuts_density(program: ResourceArc<Compiled>, position: Vec<f64>) -> Result<(f64, Vec<f64>)> {
    guarded(|| {
        let program = &program.0;
        if position.len() != program.dimension() {
            return Err(format!(
                "the position has {} numbers, the model has {} unconstrained parameters",
                position.len(),
                program.dimension()
            ));
        }
        let mut workspace = program
            .workspace()
            .ok_or("no memory for the model's values")?;
        let mut gradient = vec![0.0; position.len()];
        let log = program.log_density_gradient(&mut workspace, &position, &mut gradient);
        if log.is_finite() && gradient.iter().all(|g| g.is_finite()) {
            Ok((log, gradient))
        } else {
            Err("the log density or its gradient is not finite here: move the position".into())
        }
    })
}

/// A chain at its starting point, or with `sample` after a first piece of a whole run; and `done` or
/// `more`. (To go to a dirty scheduler takes as long as ten draws of a small model: once is enough.)
#[rustler::nif(schedule = "DirtyCpu")]
fn nuts_chain(
    program: ResourceArc<Compiled>,
    settings: Settings,
    sample: bool,
) -> Result<(ResourceArc<Held>, Atom)> {
    let held = guarded(|| {
        let program = Arc::clone(&program.0);
        if program.names().len().saturating_mul(settings.draws) > MOST_DRAWN {
            return Err(format!(
                "{} draws of {} numbers are more than {MOST_DRAWN} numbers: ask for fewer draws",
                settings.draws,
                program.names().len()
            ));
        }
        let settings = ChainSettings {
            seed: settings.seed,
            chain: settings.chain,
            warmup: settings.warmup,
            draws: settings.draws,
            target_accept: settings.target_accept,
            max_depth: settings.max_depth,
            ..ChainSettings::default()
        };
        let chain = Chain::new(Arc::clone(&program), settings).map_err(words)?;
        let stage = Stage::Under(Box::new(Under {
            chain,
            measure: true,
            untold: Duration::ZERO,
        }));
        LIVE.fetch_add(1, Ordering::Relaxed);
        Ok(ResourceArc::new(Held {
            program,
            stage: Mutex::new(Some(stage)),
        }))
    })?;
    let state = if sample {
        advance(&held, piece)?
    } else {
        atoms::more()
    };
    Ok((held, state))
}

/// Works on a chain that has draws to make. After an error or a panic it is gone.
fn advance<T>(held: &Held, work: impl FnOnce(&mut Under) -> Result<(T, bool)>) -> Result<T> {
    // Two processes may share a chain; the second is told so rather than made to wait.
    let mut stage = held
        .stage
        .try_lock()
        .map_err(|_| "another process is at work on this chain".to_owned())?;
    match stage.take() {
        Some(Stage::Under(mut under)) => {
            let (value, last) = guarded(|| work(&mut under))?;
            *stage = Some(if last {
                Stage::Drawn(under.chain.into_draws())
            } else {
                Stage::Under(under)
            });
            Ok(value)
        }
        Some(drawn) => {
            *stage = Some(drawn);
            Err("the chain is complete: start a new one for more draws".into())
        }
        None => Err("the chain has failed or was summarised: start a new one".into()),
    }
}

/// Draws for one piece of a whole run; `done` or `more`.
#[rustler::nif(schedule = "DirtyCpu")]
fn nuts_sample(held: ResourceArc<Held>) -> Result<Atom> {
    advance(&held, piece)
}

fn piece(under: &mut Under) -> Result<(Atom, bool)> {
    let begin = Instant::now();
    loop {
        let step = under.chain.step().map_err(words)?;
        if step.last {
            return Ok((atoms::done(), true));
        }
        if begin.elapsed() > PIECE {
            return Ok((atoms::more(), false));
        }
    }
}

/// One draw, on a normal scheduler: `done`, `more`, or `long` when it was measured to take more
/// than a millisecond of CPU time; with its nanoseconds.
#[rustler::nif]
fn nuts_step(env: Env<'_>, held: ResourceArc<Held>) -> Result<(Atom, u64)> {
    advance(&held, |under| {
        let cpu = under.measure.then(thread_cpu);
        let begin = Instant::now();
        let Step { last, .. } = under.chain.step().map_err(words)?;
        let wall = begin.elapsed();
        let took = cpu.map_or(wall, |before| thread_cpu().saturating_sub(before));
        let long = cpu.is_some() && took > LONG;
        under.measure = wall > SUSPICIOUS;
        under.untold += took;
        if under.untold >= PERCENT {
            let percent = under.untold.as_nanos() / PERCENT.as_nanos();
            consume_timeslice(env, percent.min(100) as i32);
            under.untold = Duration::ZERO;
        }
        let state = match (last, long) {
            (true, _) => atoms::done(),
            (false, true) => atoms::long(),
            (false, false) => atoms::more(),
        };
        Ok(((state, took.as_nanos() as u64), last))
    })
}

/// The CPU time of the calling thread so far.
fn thread_cpu() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec, and this clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The kept draws of a complete chain: 64-bit floats in native order, draw by draw.
#[rustler::nif(schedule = "DirtyCpu")]
fn nuts_draws(env: Env<'_>, held: ResourceArc<Held>) -> Result<Binary<'_>> {
    let stage = held.stage.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(Stage::Drawn(draws)) = &*stage else {
        return Err("the chain is not complete, or was summarised".into());
    };
    let mut bytes = OwnedBinary::new(draws.values.len() * 8);
    let numbers = bytes.as_mut_slice().as_chunks_mut::<8>().0;
    for (to, from) in numbers.iter_mut().zip(&draws.values) {
        *to = from.to_ne_bytes();
    }
    Ok(Binary::from_owned(bytes, env))
}

/// Summarises complete chains, and takes their draws: what the VM's memory accounting does not see
/// does not wait for its garbage collector. Without diagnostics there are means, standard
/// deviations and the number of divergences.
#[rustler::nif(schedule = "DirtyCpu")]
fn nuts_fit(chains: Vec<ResourceArc<Held>>, diagnostics: bool) -> Result<FitTerm> {
    fit(&chains, diagnostics)
}

/// [`nuts_fit`] without diagnostics for few numbers drawn, on a normal scheduler: some tens of
/// microseconds.
#[rustler::nif]
fn nuts_fit_small(chains: Vec<ResourceArc<Held>>) -> Result<FitTerm> {
    fit(&chains, false)
}

fn fit(chains: &[ResourceArc<Held>], diagnostics: bool) -> Result<FitTerm> {
    guarded(|| {
        let mut draws = Vec::with_capacity(chains.len());
        for held in chains {
            let mut stage = held.stage.lock().unwrap_or_else(PoisonError::into_inner);
            match stage.take() {
                Some(Stage::Drawn(drawn)) => draws.push(drawn),
                other => {
                    *stage = other;
                    return Err("a chain is not complete, or was summarised before".into());
                }
            }
        }
        let names = chains.first().map_or(&[][..], |held| held.program.names());
        if !diagnostics {
            return Ok(moments(names, &draws));
        }
        let fit = Fit::new(names, &draws.iter().collect::<Vec<_>>()).map_err(words)?;
        Ok(FitTerm {
            chains: fit.chains,
            draws: fit.draws,
            gradients: fit.gradients,
            parameters: fit.parameters.into_iter().map(summary).collect(),
            warnings: fit.warnings.iter().map(warning).collect(),
        })
    })
}

/// What one pass over the draws tells.
fn moments(names: &[String], chains: &[Draws]) -> FitTerm {
    let count: usize = chains.iter().map(Draws::len).sum();
    let parameter = |(column, name): (usize, &String)| {
        let all = || chains.iter().flat_map(|c| c.column(column));
        let mean = all().sum::<f64>() / count as f64;
        let squares = all().map(|x| (x - mean).powi(2)).sum::<f64>();
        SummaryTerm {
            name: name.clone(),
            mean: finite(mean),
            sd: finite((squares / (count as f64 - 1.0)).sqrt()),
            ..SummaryTerm::default()
        }
    };
    let count = chains.iter().map(Draws::divergences).sum();
    FitTerm {
        chains: chains.len(),
        draws: chains.first().map_or(0, Draws::len),
        gradients: chains.iter().map(Draws::total_gradients).sum(),
        parameters: names.iter().enumerate().map(parameter).collect(),
        warnings: (count > 0)
            .then(|| warning(&Warning::Divergences { count }))
            .into_iter()
            .collect(),
    }
}

/// The VM has no infinite floats: `nil` then.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn summary(s: Summary) -> SummaryTerm {
    SummaryTerm {
        name: s.name,
        mean: finite(s.mean),
        sd: finite(s.sd),
        q5: finite(s.q5),
        q50: finite(s.q50),
        q95: finite(s.q95),
        mcse_mean: s.mcse_mean.and_then(finite),
        mcse_sd: s.mcse_sd.and_then(finite),
        ess_bulk: s.ess_bulk.and_then(finite),
        ess_tail: s.ess_tail.and_then(finite),
        rhat: s.rhat.and_then(finite),
    }
}

fn warning(warning: &Warning) -> (Atom, String) {
    let kind = match warning {
        Warning::NotMixed { .. } => atoms::not_mixed(),
        Warning::FewEffectiveDraws { .. } => atoms::few_effective_draws(),
        Warning::Divergences { .. } => atoms::divergences(),
        Warning::DepthExhausted { .. } => atoms::depth_exhausted(),
    };
    (kind, warning.words())
}

/// Chains in memory.
#[rustler::nif]
fn nuts_live() -> NifResult<usize> {
    Ok(LIVE.load(Ordering::Relaxed))
}
