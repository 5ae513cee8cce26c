//! The distance of two strings as a computation that can be left and taken up again.

use std::task::Poll;

use crate::engine::{Engine, Source};
use crate::points::{Numbering, decode};
use crate::strip::{Strip, Symbol};
use crate::sweep::InstructionSet;
use crate::{Error, Limit, MAX_BYTES, Unit};

/// What is computed and how far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// What is counted.
    pub unit: Unit,
    /// How large a result is of interest.
    pub limit: Limit,
}

/// A finished computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The distance; none if it is above the limit.
    pub distance: Option<u64>,
    /// Length of the longer string, in the unit.
    pub longest: u64,
}

impl Found {
    /// 1 − distance / longest; 1 for two empty strings; none if above the limit.
    #[must_use]
    pub fn similarity(&self) -> Option<f64> {
        self.distance
            .map(|distance| crate::limit::similarity(distance, self.longest))
    }
}

/// The edit distance (insertion, deletion and substitution cost one) of `a` and `b`.
///
/// Memory beyond the inputs: one byte per symbol of the longer string plus a few kilobytes; for
/// code points also four bytes per code point of both. Time: one operation is 64 cells of the
/// matrix or about as much other work.
///
/// ```
/// use plimsoll_levenshtein::{Distance, Options};
/// use std::task::Poll;
///
/// let mut distance = Distance::new(b"kitten", b"sitting", Options::default())?;
/// let found = loop {
///     if let Poll::Ready(found) = distance.step(1)? {
///         break found;
///     }
/// };
/// assert_eq!(found.distance, Some(3));
/// # Ok::<(), plimsoll_levenshtein::Error>(())
/// ```
#[derive(Debug)]
pub struct Distance<A = Vec<u8>, B = A> {
    a: A,
    b: B,
    limit: Limit,
    set: InstructionSet,
    points: Option<Points>,
    stage: Stage,
}

/// Both strings as numbers of code points.
#[derive(Debug)]
struct Points {
    a: Vec<u32>,
    b: Vec<u32>,
    numbering: Numbering,
    /// Next byte of each.
    at: (usize, usize),
}

#[derive(Debug)]
enum Stage {
    Decode,
    /// Symbols known to be common at the start, and at the end once the start is through.
    Trim {
        prefix: usize,
        suffix: Option<usize>,
    },
    Sweep(Box<Sweep>),
    Done(Found),
}

#[derive(Debug)]
struct Sweep {
    engine: Engine,
    strip: Strip,
    prefix: usize,
    suffix: usize,
    /// Whether `b` is the pattern.
    swapped: bool,
}

impl<A: AsRef<[u8]>, B: AsRef<[u8]>> Distance<A, B> {
    /// Prepares the computation; does no work yet.
    ///
    /// # Errors
    /// A string longer than [`MAX_BYTES`], a limit that is no number, no memory.
    pub fn new(a: A, b: B, options: Options) -> Result<Self, Error> {
        options.limit.check()?;
        for bytes in [a.as_ref(), b.as_ref()] {
            if bytes.len() > MAX_BYTES {
                return Err(Error::TooLong { bytes: bytes.len() });
            }
        }
        let trim = Stage::Trim {
            prefix: 0,
            suffix: None,
        };
        let (points, stage) = match options.unit {
            Unit::Bytes => (None, trim),
            Unit::CodePoints => {
                let numbering = Numbering::new()?;
                let points = Points {
                    a: Vec::new(),
                    b: Vec::new(),
                    numbering,
                    at: (0, 0),
                };
                (Some(points), Stage::Decode)
            }
        };
        Ok(Self {
            a,
            b,
            limit: options.limit,
            set: InstructionSet::best(),
            points,
            stage,
        })
    }

    /// With the inner loop of another instruction set, one of [`InstructionSet::available`].
    #[must_use]
    pub fn with_instruction_set(mut self, set: InstructionSet) -> Self {
        if InstructionSet::available().contains(&set) {
            self.set = set;
        }
        self
    }

    /// Does about so many operations; ready when the result is known, and from then on.
    ///
    /// # Errors
    /// Bytes that are not UTF-8 where code points are wanted; no memory. The computation is over
    /// then.
    pub fn step(&mut self, operations: u64) -> Result<Poll<Found>, Error> {
        let mut budget = operations.max(1);
        if let (Stage::Decode, Some(points)) = (&self.stage, &mut self.points) {
            let (a, b) = (self.a.as_ref(), self.b.as_ref());
            let Points {
                a: to_a,
                b: to_b,
                numbering,
                at,
            } = points;
            let mut number = |point| numbering.number(point);
            if decode(a, &mut at.0, to_a, &mut number, "first", &mut budget)?.is_pending()
                || decode(b, &mut at.1, to_b, &mut number, "second", &mut budget)?.is_pending()
            {
                return Ok(Poll::Pending);
            }
            self.stage = Stage::Trim {
                prefix: 0,
                suffix: None,
            };
        }
        match &self.points {
            None => {
                let (a, b) = (self.a.as_ref(), self.b.as_ref());
                work(
                    &mut self.stage,
                    self.set,
                    self.limit,
                    256,
                    a,
                    b,
                    &mut budget,
                )
            }
            Some(points) => {
                let alphabet = points.numbering.alphabet();
                let (a, b) = (&points.a, &points.b);
                work(
                    &mut self.stage,
                    self.set,
                    self.limit,
                    alphabet,
                    a,
                    b,
                    &mut budget,
                )
            }
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn finish(mut self) -> Result<Found, Error> {
        loop {
            if let Poll::Ready(found) = self.step(u64::MAX)? {
                return Ok(found);
            }
        }
    }
}

fn work<S: Symbol>(
    stage: &mut Stage,
    set: InstructionSet,
    limit: Limit,
    alphabet: usize,
    a: &[S],
    b: &[S],
    budget: &mut u64,
) -> Result<Poll<Found>, Error> {
    let longest = a.len().max(b.len()) as u64;
    let limit = limit.distance(longest);
    while *budget > 0 {
        match stage {
            Stage::Decode => unreachable!("decoded before"),
            Stage::Trim {
                prefix,
                suffix: None,
            } => {
                let (shared, end) = common(a[*prefix..].iter().zip(&b[*prefix..]), budget);
                *prefix += shared;
                if end {
                    *stage = Stage::Trim {
                        prefix: *prefix,
                        suffix: Some(0),
                    };
                }
            }
            Stage::Trim {
                prefix,
                suffix: Some(suffix),
            } => {
                let rest = |all: &'_ [S]| (*prefix, all.len() - *suffix);
                let (of_a, of_b) = (rest(a), rest(b));
                let (left, right) = (&a[of_a.0..of_a.1], &b[of_b.0..of_b.1]);
                let (shared, end) = common(left.iter().rev().zip(right.iter().rev()), budget);
                *suffix += shared;
                if end {
                    *stage = open(set, limit, alphabet, a, b, *prefix, *suffix)?;
                }
            }
            Stage::Sweep(sweep) => {
                let Sweep {
                    engine,
                    strip,
                    prefix,
                    suffix,
                    swapped,
                } = &mut **sweep;
                let a = &a[*prefix..a.len() - *suffix];
                let b = &b[*prefix..b.len() - *suffix];
                let (pattern, text) = if *swapped { (b, a) } else { (a, b) };
                match engine.step(Source::Build(strip, pattern), text, budget)? {
                    Poll::Pending => return Ok(Poll::Pending),
                    Poll::Ready(distance) => *stage = Stage::Done(Found { distance, longest }),
                }
            }
            Stage::Done(found) => return Ok(Poll::Ready(*found)),
        }
    }
    Ok(match stage {
        Stage::Done(found) => Poll::Ready(*found),
        _ => Poll::Pending,
    })
}

/// How many pairs are equal before one is not, and whether the search has come to its end.
fn common<'a, S: Symbol + 'a>(
    pairs: impl ExactSizeIterator<Item = (&'a S, &'a S)>,
    budget: &mut u64,
) -> (usize, bool) {
    let all = pairs.len();
    let most = all.min(16 * (*budget).min(1 << 32) as usize);
    let shared = pairs.take(most).take_while(|(a, b)| a == b).count();
    *budget = budget.saturating_sub(shared as u64 / 16 + 1);
    (shared, shared < most || most == all)
}

fn open<S: Symbol>(
    set: InstructionSet,
    limit: Option<u64>,
    alphabet: usize,
    a: &[S],
    b: &[S],
    prefix: usize,
    suffix: usize,
) -> Result<Stage, Error> {
    let longest = a.len().max(b.len()) as u64;
    let (m, n) = (a.len() - prefix - suffix, b.len() - prefix - suffix);
    if m == 0 || n == 0 {
        let distance = Some(m.max(n) as u64).filter(|d| limit.is_none_or(|limit| *d <= limit));
        return Ok(Stage::Done(Found { distance, longest }));
    }
    // Whole strips of the pattern against the text, plus what a strip costs to set up (about as
    // much as 300 columns): the cheaper way round.
    let cost = |rows: usize, columns: usize| {
        rows.div_ceil(64 * set.full_width()) as u64 * (columns as u64 + 300)
    };
    let swapped = cost(n, m) < cost(m, n);
    let (rows, columns) = if swapped { (n, m) } else { (m, n) };
    let engine = Engine::new(set, rows, columns, limit)?;
    let strip = Strip::new(alphabet)?;
    Ok(Stage::Sweep(Box::new(Sweep {
        engine,
        strip,
        prefix,
        suffix,
        swapped,
    })))
}
