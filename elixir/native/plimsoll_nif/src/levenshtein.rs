//! Edit distance on the schedulers; `Plimsoll.Levenshtein` is its face.
//!
//! Arguments of all: the mode, the unit, the limit (nil, the largest distance or the least
//! similarity), then the strings. A result beyond the limit is nil; what cannot be computed is
//! `{error, Sentence}`.

use std::sync::Arc;
use std::task::Poll;

use plimsoll_levenshtein::matrix::Matrix;
use plimsoll_levenshtein::{
    Distance, Error, Found, Limit, Options, Query, Search, Unit, find, operations,
};
use plimsoll_timeslice::{HeldBinary, Mode, Resumable, run, statistics};
use rustler::{Atom, Binary, Encoder, Env, NifResult, Term};

mod atoms {
    rustler::atoms! { nil, error, bytes, code_points, blocking, yielding, dirty, automatic }
}

/// Up to so many operations, some 50 µs on the slowest machine, a call is done on the spot: less
/// than it costs to keep a state.
const AT_ONCE: u64 = 20_000;

/// Most candidates in one call: their list is read in one go.
const MOST_CANDIDATES: usize = 2000;

pub(crate) fn register(env: Env<'_>) -> bool {
    plimsoll_timeslice::register::<Pair>(env).is_ok()
        && plimsoll_timeslice::register::<Many>(env).is_ok()
        && plimsoll_timeslice::register::<Full>(env).is_ok()
}

fn mode(atom: Atom) -> NifResult<Mode> {
    match atom {
        atom if atom == atoms::yielding() => Ok(Mode::Yielding),
        atom if atom == atoms::automatic() => Ok(Mode::Automatic),
        atom if atom == atoms::dirty() => Ok(Mode::Dirty),
        atom if atom == atoms::blocking() => Ok(Mode::Blocking),
        _ => Err(rustler::Error::BadArg),
    }
}

fn options(unit: Atom, limit: Term<'_>) -> NifResult<Options> {
    let unit = match unit {
        unit if unit == atoms::bytes() => Unit::Bytes,
        unit if unit == atoms::code_points() => Unit::CodePoints,
        _ => return Err(rustler::Error::BadArg),
    };
    // The usual one first: on short strings this is a good part of the call.
    let limit = if atoms::nil() == limit {
        Limit::None
    } else if let Ok(distance) = limit.decode() {
        Limit::Distance(distance)
    } else {
        Limit::Similarity(limit.decode()?)
    };
    Ok(Options { unit, limit })
}

#[derive(Clone, Copy)]
enum Answer {
    Distance,
    Similarity,
}

impl Answer {
    fn encode<'a>(self, found: Result<Found, Error>, env: Env<'a>) -> Term<'a> {
        match (found, self) {
            (Err(error), _) => failed(&error, env),
            (Ok(found), Self::Distance) => number(found.distance, env),
            (Ok(found), Self::Similarity) => number(found.similarity(), env),
        }
    }
}

fn number<'a>(number: Option<impl Encoder>, env: Env<'a>) -> Term<'a> {
    number.map_or_else(|| atoms::nil().encode(env), |number| number.encode(env))
}

fn failed<'a>(error: &Error, env: Env<'a>) -> Term<'a> {
    (atoms::error(), error.to_string()).encode(env)
}

struct Pair {
    distance: Distance<HeldBinary>,
    answer: Answer,
}

impl Resumable for Pair {
    type Output = (Result<Found, Error>, Answer);

    fn step(&mut self, operations: u64) -> Poll<Self::Output> {
        match self.distance.step(operations) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(found)) => Poll::Ready((Ok(found), self.answer)),
            Err(error) => Poll::Ready((Err(error), self.answer)),
        }
    }

    fn finish<'a>((found, answer): Self::Output, env: Env<'a>) -> NifResult<Term<'a>> {
        Ok(answer.encode(found, env))
    }
}

fn pair<'a>(
    env: Env<'a>,
    mode: Mode,
    options: Options,
    (a, b): (Binary<'a>, Binary<'a>),
    answer: Answer,
) -> NifResult<Term<'a>> {
    if operations(a.len(), b.len()) <= AT_ONCE {
        return Ok(answer.encode(find(&a, &b, options), env));
    }
    match Distance::new(HeldBinary::new(a), HeldBinary::new(b), options) {
        Ok(distance) => run(env, mode, Pair { distance, answer }),
        Err(error) => Ok(failed(&error, env)),
    }
}

#[rustler::nif]
fn levenshtein_distance<'a>(
    env: Env<'a>,
    how: Atom,
    unit: Atom,
    limit: Term<'a>,
    a: Binary<'a>,
    b: Binary<'a>,
) -> NifResult<Term<'a>> {
    pair(
        env,
        mode(how)?,
        options(unit, limit)?,
        (a, b),
        Answer::Distance,
    )
}

#[rustler::nif]
fn levenshtein_similarity<'a>(
    env: Env<'a>,
    how: Atom,
    unit: Atom,
    limit: Term<'a>,
    a: Binary<'a>,
    b: Binary<'a>,
) -> NifResult<Term<'a>> {
    pair(
        env,
        mode(how)?,
        options(unit, limit)?,
        (a, b),
        Answer::Similarity,
    )
}

struct Many(Search<HeldBinary>);

impl Resumable for Many {
    type Output = Result<Vec<Found>, Error>;

    fn step(&mut self, operations: u64) -> Poll<Self::Output> {
        match self.0.step(operations) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(found)) => Poll::Ready(Ok(found)),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn finish<'a>(found: Self::Output, env: Env<'a>) -> NifResult<Term<'a>> {
        Ok(match found {
            Ok(found) => {
                let all: Vec<_> = found.iter().map(|one| number(one.distance, env)).collect();
                all.encode(env)
            }
            Err(error) => failed(&error, env),
        })
    }
}

#[rustler::nif]
fn levenshtein_many<'a>(
    env: Env<'a>,
    how: Atom,
    unit: Atom,
    limit: Term<'a>,
    query: Binary<'a>,
    candidates: Term<'a>,
) -> NifResult<Term<'a>> {
    let (mode, Options { unit, limit }) = (mode(how)?, options(unit, limit)?);
    if candidates.list_length()? > MOST_CANDIDATES {
        return Err(rustler::Error::BadArg);
    }
    let candidates = HeldBinary::list(candidates)?;
    let search =
        Query::new(&query, unit).and_then(|query| Search::new(Arc::new(query), candidates, limit));
    match search {
        Ok(search) => run(env, mode, Many(search)),
        Err(error) => Ok(failed(&error, env)),
    }
}

/// The textbook algorithm with its full matrix, for the jitter lab and the benchmark.
struct Full(Matrix<HeldBinary>);

impl Resumable for Full {
    type Output = u64;

    fn step(&mut self, operations: u64) -> Poll<u64> {
        self.0.step(operations)
    }

    fn finish<'a>(distance: u64, env: Env<'a>) -> NifResult<Term<'a>> {
        Ok(distance.encode(env))
    }
}

#[rustler::nif]
fn levenshtein_matrix<'a>(
    env: Env<'a>,
    how: Atom,
    a: Binary<'a>,
    b: Binary<'a>,
) -> NifResult<Term<'a>> {
    match Matrix::new(HeldBinary::new(a), HeldBinary::new(b)) {
        Ok(matrix) => run(env, mode(how)?, Full(matrix)),
        Err(error) => Ok(failed(&error, env)),
    }
}

#[rustler::nif]
fn timeslice_live() -> i64 {
    statistics::live()
}

#[rustler::nif]
fn timeslice_record(on: bool) {
    statistics::record(on);
}

/// Pairs of (upper edge in microseconds, count).
type Histogram = Vec<(u64, u64)>;

#[rustler::nif]
fn timeslice_slices() -> (Histogram, Histogram) {
    let slices = statistics::take_slices();
    (slices.wall, slices.cpu)
}

#[rustler::nif]
fn timeslice_process_cpu() -> u64 {
    statistics::process_cpu()
}
