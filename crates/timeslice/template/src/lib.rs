//! A yielding NIF to start from: counts the prime numbers below a limit.

use std::task::Poll;

use plimsoll_timeslice::{Mode, Resumable, register, run};
use rustler::{Encoder, Env, NifResult, Term};

/// The computation with all that it needs to go on where it stopped.
struct Primes {
    /// The number to look at next, and the divisor to try next.
    candidate: u64,
    divisor: u64,
    limit: u64,
    count: u64,
}

impl Primes {
    fn below(limit: u64) -> Self {
        Self {
            candidate: 2,
            divisor: 2,
            limit,
            count: 0,
        }
    }
}

impl Resumable for Primes {
    type Output = u64;

    /// One operation is one trial division.
    fn step(&mut self, operations: u64) -> Poll<u64> {
        for _ in 0..operations {
            if self.candidate >= self.limit {
                return Poll::Ready(self.count);
            }
            let prime = self.divisor * self.divisor > self.candidate;
            if prime || self.candidate.is_multiple_of(self.divisor) {
                self.count += u64::from(prime);
                self.candidate += 1;
                self.divisor = 2;
            } else {
                self.divisor += 1;
            }
        }
        Poll::Pending
    }

    fn finish(count: u64, env: Env<'_>) -> NifResult<Term<'_>> {
        Ok(count.encode(env))
    }
}

#[rustler::nif]
fn primes_blocking(env: Env<'_>, limit: u64) -> NifResult<Term<'_>> {
    run(env, Mode::Blocking, Primes::below(limit))
}

#[rustler::nif]
fn primes(env: Env<'_>, limit: u64) -> NifResult<Term<'_>> {
    run(env, Mode::Yielding, Primes::below(limit))
}

#[rustler::nif]
fn primes_dirty(env: Env<'_>, limit: u64) -> NifResult<Term<'_>> {
    run(env, Mode::Dirty, Primes::below(limit))
}

#[rustler::nif]
fn primes_automatic(env: Env<'_>, limit: u64) -> NifResult<Term<'_>> {
    run(env, Mode::Automatic, Primes::below(limit))
}

/// How many computations are under way: zero when nothing is called, whoever was killed.
#[rustler::nif]
fn live() -> i64 {
    plimsoll_timeslice::statistics::live()
}

fn load(env: Env<'_>, _info: Term<'_>) -> bool {
    register::<Primes>(env).is_ok()
}

rustler::init!("my_nif", load = load);
