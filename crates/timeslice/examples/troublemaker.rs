//! Computations that misbehave in every way that a state must survive or be freed on; loaded
//! into a VM by the tests.

use std::task::Poll;

use plimsoll_timeslice::{HeldBinary, Mode, Resumable, register, run, statistics};
use rustler::{Atom, Binary, Encoder, Env, Error, NifResult, Term};

mod atoms {
    rustler::atoms! { blocking, yielding, dirty, automatic, wrong }
}

/// Spins for so many operations, then does what it is told.
struct Spin {
    left: u64,
    end: End,
    /// Makes a leak visible in the VM's own memory, too.
    _ballast: Vec<u8>,
}

enum End {
    Panic,
    Raise,
    Checksum(HeldBinary),
}

impl Resumable for Spin {
    type Output = Result<u64, Atom>;

    fn step(&mut self, operations: u64) -> Poll<Self::Output> {
        let now = operations.min(self.left);
        for i in 0..now {
            std::hint::black_box(i);
        }
        self.left -= now;
        if self.left > 0 {
            return Poll::Pending;
        }
        Poll::Ready(match &self.end {
            End::Panic => panic!("told to"),
            End::Raise => Err(atoms::wrong()),
            End::Checksum(bytes) => Ok(bytes.as_ref().iter().map(|byte| u64::from(*byte)).sum()),
        })
    }

    fn finish<'a>(output: Self::Output, env: Env<'a>) -> NifResult<Term<'a>> {
        match output {
            Ok(sum) => Ok(sum.encode(env)),
            Err(reason) => Err(Error::RaiseTerm(Box::new(reason))),
        }
    }
}

/// Never registered.
struct Stranger;

impl Resumable for Stranger {
    type Output = ();
    fn step(&mut self, _operations: u64) -> Poll<()> {
        Poll::Pending
    }
    fn finish<'a>((): (), env: Env<'a>) -> NifResult<Term<'a>> {
        Ok(().encode(env))
    }
}

fn spin<'a>(env: Env<'a>, mode: Atom, operations: u64, end: End) -> NifResult<Term<'a>> {
    let mode = [
        (atoms::blocking(), Mode::Blocking),
        (atoms::yielding(), Mode::Yielding),
        (atoms::dirty(), Mode::Dirty),
        (atoms::automatic(), Mode::Automatic),
    ]
    .into_iter()
    .find_map(|(name, known)| (name == mode).then_some(known))
    .ok_or(Error::BadArg)?;
    run(
        env,
        mode,
        Spin {
            left: operations,
            end,
            _ballast: vec![1; 1 << 16],
        },
    )
}

#[rustler::nif]
fn panics(env: Env<'_>, mode: Atom, operations: u64) -> NifResult<Term<'_>> {
    spin(env, mode, operations, End::Panic)
}

#[rustler::nif]
fn raises(env: Env<'_>, mode: Atom, operations: u64) -> NifResult<Term<'_>> {
    spin(env, mode, operations, End::Raise)
}

#[rustler::nif]
fn checksum<'a>(
    env: Env<'a>,
    mode: Atom,
    operations: u64,
    bytes: Binary<'a>,
) -> NifResult<Term<'a>> {
    spin(env, mode, operations, End::Checksum(HeldBinary::new(bytes)))
}

#[rustler::nif]
fn stranger(env: Env<'_>) -> NifResult<Term<'_>> {
    run(env, Mode::Yielding, Stranger)
}

#[rustler::nif]
fn live() -> i64 {
    statistics::live()
}

#[rustler::nif]
fn record(on: bool) {
    statistics::record(on);
}

type Histogram = Vec<(u64, u64)>;

#[rustler::nif]
fn slices() -> (Histogram, Histogram) {
    let slices = statistics::take_slices();
    (slices.wall, slices.cpu)
}

fn load(env: Env<'_>, _info: Term<'_>) -> bool {
    // A panic here is part of the plan: its report would only disturb the test's output.
    std::panic::set_hook(Box::new(|_| ()));
    register::<Spin>(env).is_ok()
}

rustler::init!("troublemaker", load = load);
