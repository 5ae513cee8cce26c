//! The computation on the schedulers: every call into the VM that the crate makes.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use rustler::codegen_runtime::NifReturnable;
use rustler::sys::{self, ERL_NIF_THR_NORMAL_SCHEDULER, ErlNifEnv, ErlNifTerm, c_int};
use rustler::{Encoder, Env, Error, NifResult, Resource, ResourceArc, SchedulerFlags, Term};

use crate::Resumable;
use crate::budget::{BETWEEN_LOOKS, DIRTY_LOOKS, Monotonic, Next, Rate, SLICE, Slice};
use crate::statistics::{Live, Stay};

mod atoms {
    rustler::atoms! { nif_panicked, not_registered, killed }
}

/// How a computation occupies the schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To the end, wherever it was called: for comparison, and for work under a millisecond.
    Blocking,
    /// On the normal scheduler in slices under a millisecond.
    Yielding,
    /// On a dirty CPU scheduler.
    Dirty,
    /// One slice on the normal scheduler, what is left after it on a dirty CPU scheduler.
    Automatic,
}

/// Slices on a normal scheduler before [`Mode::Automatic`] moves on.
const AUTOMATIC_SLICES: u32 = 1;

/// A computation between two slices.
struct State<C> {
    computation: C,
    mode: Mode,
    rate: Rate,
    slices: u32,
    _live: Live,
}

/// The resource that holds it. The term never leaves the call, so there is no second owner; the
/// lock is there because a resource must not rely on that.
struct Slot<C>(Mutex<Option<State<C>>>);

impl<C: Resumable> Resource for Slot<C> {}

/// Makes a computation known to the VM; to be called in `load` for each type.
///
/// # Errors
/// Where it is called outside `load`, or twice.
pub fn register<C: Resumable>(env: Env<'_>) -> Result<(), rustler::ResourceInitError> {
    env.register::<Slot<C>>()
}

/// Runs `computation` and gives the term to return from the NIF at once: the result, or the
/// VM's token for "to be continued".
///
/// # Errors
/// What [`Resumable::finish`] raises; `{nif_panicked, Message}` if the computation panics;
/// `{not_registered, Type}` without [`register`].
pub fn run<C: Resumable>(env: Env<'_>, mode: Mode, computation: C) -> NifResult<Term<'_>> {
    guarded(|| {
        let mut state = State {
            computation,
            mode,
            rate: Rate::unknown(C::FIRST_STEP),
            slices: 0,
            _live: Live::default(),
        };
        match stay(env, &mut state)? {
            ControlFlow::Break(term) => Ok(term),
            ControlFlow::Continue(scheduler) => {
                let slot = Slot(Mutex::new(Some(state)));
                let slot = catch_unwind(AssertUnwindSafe(|| ResourceArc::new(slot)));
                let slot = slot.map_err(|_| {
                    let name = std::any::type_name::<C>();
                    Error::RaiseTerm(Box::new((atoms::not_registered(), name)))
                })?;
                Ok(schedule::<C>(env, scheduler, slot.encode(env)))
            }
        }
    })
}

/// Panics become errors; what the closure owned is dropped on the way.
fn guarded<'a>(work: impl FnOnce() -> NifResult<Term<'a>>) -> NifResult<Term<'a>> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let reason = (atoms::nif_panicked(), message(&*panic));
        Err(Error::RaiseTerm(Box::new(reason)))
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "no message".to_owned()
    }
}

/// One stay on a scheduler: the finished term, or the kind of scheduler to go on with.
fn stay<'a, C: Resumable>(
    env: Env<'a>,
    state: &mut State<C>,
) -> NifResult<ControlFlow<Term<'a>, SchedulerFlags>> {
    // SAFETY: takes no arguments.
    let normal = unsafe { sys::enif_thread_type() } == ERL_NIF_THR_NORMAL_SCHEDULER;
    if normal && state.mode == Mode::Dirty {
        return Ok(ControlFlow::Continue(SchedulerFlags::DirtyCpu));
    }
    // The time of a dirty stay, and of one that blocks on purpose, is nobody's slice.
    let _stay = Stay::begin(normal && state.mode != Mode::Blocking);
    let output = match (state.mode, normal) {
        (Mode::Blocking, _) => loop {
            if let Poll::Ready(output) = state.computation.step(u64::MAX) {
                break output;
            }
        },
        (_, true) => match slice(env, state) {
            ControlFlow::Break(output) => output,
            ControlFlow::Continue(()) if !alive(env) => {
                return Ok(ControlFlow::Break(atoms::killed().encode(env)));
            }
            ControlFlow::Continue(()) => {
                state.slices += 1;
                let long = state.mode == Mode::Automatic && state.slices >= AUTOMATIC_SLICES;
                let next = if long {
                    SchedulerFlags::DirtyCpu
                } else {
                    SchedulerFlags::Normal
                };
                return Ok(ControlFlow::Continue(next));
            }
        },
        (_, false) => {
            let mut clock = Monotonic::default();
            let mut dirty = Slice::begin(&mut clock, &mut state.rate, u64::MAX, DIRTY_LOOKS);
            loop {
                let operations = dirty.operations();
                if let Poll::Ready(output) = state.computation.step(operations) {
                    break output;
                }
                dirty.after(operations);
                // Nothing else ends a dirty call: the VM marks the process dead and waits.
                if !alive(env) {
                    return Ok(ControlFlow::Break(atoms::killed().encode(env)));
                }
            }
        }
    };
    C::finish(output, env).map(ControlFlow::Break)
}

/// Steps until the computation is done or the scheduler is wanted back.
fn slice<C: Resumable>(env: Env<'_>, state: &mut State<C>) -> ControlFlow<C::Output> {
    let mut clock = Monotonic::default();
    let mut slice = Slice::begin(&mut clock, &mut state.rate, SLICE, BETWEEN_LOOKS);
    loop {
        let operations = slice.operations();
        let poll = state.computation.step(operations);
        let next = slice.after(operations);
        // Our slice is the VM's timeslice: at its end nothing is left of that, so that whoever
        // waits runs next. The VM may want the scheduler back before, if the process has used
        // some of its own before the call.
        let percent = if next == Next::Yield {
            100
        } else {
            slice.untold_percent()
        };
        let used_up = percent > 0 && rustler::schedule::consume_timeslice(env, percent.into());
        match poll {
            Poll::Ready(output) => return ControlFlow::Break(output),
            Poll::Pending if used_up => return ControlFlow::Continue(()),
            Poll::Pending => {}
        }
    }
}

fn alive(env: Env<'_>) -> bool {
    // SAFETY: called in a NIF with that NIF's environment, on a scheduler thread.
    unsafe { sys::enif_is_current_process_alive(env.as_c_arg()) != 0 }
}

/// Asks the VM to go on with `slot` later; the term must be returned from the NIF at once.
fn schedule<'a, C: Resumable>(env: Env<'a>, scheduler: SchedulerFlags, slot: Term<'a>) -> Term<'a> {
    let arguments = [slot.as_c_arg()];
    // SAFETY: the environment is that of the running NIF; the VM copies the name and the one
    // argument, which keeps the resource alive from here on; `resume` has the signature of a
    // NIF. The result is valid in this environment.
    unsafe {
        let term = sys::enif_schedule_nif(
            env.as_c_arg(),
            c"timeslice".as_ptr(),
            scheduler as c_int,
            resume::<C>,
            1,
            arguments.as_ptr(),
        );
        Term::new(env, term)
    }
}

/// The continuation, as a NIF of one argument: the slot.
///
/// # Safety
/// For the VM to call, with the arguments of `schedule`.
unsafe extern "C" fn resume<C: Resumable>(
    env: *mut ErlNifEnv,
    _argc: c_int,
    argv: *const ErlNifTerm,
) -> ErlNifTerm {
    let lifetime = ();
    // SAFETY: the VM gives a valid environment for this call and the one argument that
    // `schedule` passed; nothing below unwinds out of `guarded`.
    unsafe {
        let env = Env::new(&lifetime, env);
        let argument = Term::new(env, *argv);
        let result = guarded(|| {
            let slot: &Slot<C> = argument.decode()?;
            // Taken out while it runs, so that it is dropped here and now if it ends, and not
            // when the garbage collector finds the slot.
            let taken = slot.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            let mut state = taken.ok_or(Error::BadArg)?;
            match stay(env, &mut state)? {
                ControlFlow::Break(term) => Ok(term),
                ControlFlow::Continue(scheduler) => {
                    *slot.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
                    // The same term: a new one each time would be garbage on the caller's heap.
                    Ok(schedule::<C>(env, scheduler, argument))
                }
            }
        });
        NifReturnable::into_returned(result, env).apply(env)
    }
}
