//! One string against many: what depends on the one is computed once.

use std::sync::Arc;
use std::task::Poll;

use crate::engine::{Engine, Source};
use crate::points::{Numbering, decode};
use crate::short::{Column, Masks, WORD};
use crate::strip::{Strip, Symbol};
use crate::sweep::InstructionSet;
use crate::{Error, Found, Limit, MAX_BYTES, Unit};

/// Longest query in symbols: its profile is kept whole (two megabytes at most) and built at once
/// (a fraction of a millisecond).
const MAX_QUERY: usize = 1 << 16;

/// A string prepared for comparison with many.
pub struct Query {
    set: InstructionSet,
    height: usize,
    profile: Profile,
    /// For code points.
    numbering: Option<Numbering>,
}

enum Profile {
    Empty,
    Word(Box<Masks>),
    Strips(Vec<Strip>),
}

impl std::fmt::Debug for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Query of {} symbols", self.height)
    }
}

impl Query {
    /// Longest query in bytes.
    pub const MAX_BYTES: usize = MAX_QUERY;

    /// Prepares `pattern`.
    ///
    /// # Errors
    /// More than [`Self::MAX_BYTES`]; not UTF-8 where code points are counted; no memory.
    pub fn new(pattern: &[u8], unit: Unit) -> Result<Self, Error> {
        Self::with_instruction_set(pattern, unit, InstructionSet::best())
    }

    pub(crate) fn with_instruction_set(
        pattern: &[u8],
        unit: Unit,
        set: InstructionSet,
    ) -> Result<Self, Error> {
        if pattern.len() > MAX_QUERY {
            return Err(Error::QueryTooLong {
                bytes: pattern.len(),
            });
        }
        match unit {
            Unit::Bytes => Self::from_symbols(pattern, u32::from, 256, set, None),
            Unit::CodePoints => {
                let text = std::str::from_utf8(pattern).map_err(|error| Error::NotUtf8 {
                    which: "query",
                    at: error.valid_up_to(),
                })?;
                let mut numbering = Numbering::new()?;
                let mut points = Vec::new();
                for point in text.chars() {
                    points.push(numbering.number(point)?);
                }
                let alphabet = numbering.alphabet();
                Self::from_symbols(&points, |n| n, alphabet, set, Some(numbering))
            }
        }
    }

    fn from_symbols<S: Symbol>(
        pattern: &[S],
        number: impl Fn(S) -> u32,
        alphabet: usize,
        set: InstructionSet,
        numbering: Option<Numbering>,
    ) -> Result<Self, Error> {
        let profile = match pattern.len() {
            0 => Profile::Empty,
            1..=WORD => Profile::Word(Box::new(Masks::new(pattern.iter().map(|s| number(*s))))),
            _ => {
                let mut strips = Vec::new();
                for piece in pattern.chunks(64 * set.full_width()) {
                    let mut strip = Strip::new(alphabet)?;
                    strip.build(&[], piece, set.width_for(piece.len()))?;
                    strips.push(strip);
                }
                Profile::Strips(strips)
            }
        };
        Ok(Self {
            set,
            height: pattern.len(),
            profile,
            numbering,
        })
    }
}

/// A query against a list of candidates, as a computation that can be left and taken up again.
#[derive(Debug)]
pub struct Search<B = Vec<u8>> {
    query: Arc<Query>,
    candidates: Vec<B>,
    limit: Limit,
    found: Vec<Found>,
    current: Current,
}

#[derive(Debug)]
enum Current {
    None,
    Decode {
        points: Vec<u32>,
        at: usize,
    },
    Word {
        points: Option<Vec<u32>>,
        column: Column,
        at: usize,
    },
    Sweep {
        points: Option<Vec<u32>>,
        engine: Box<Engine>,
    },
}

/// Candidates that one word is run against at once: their columns do not depend on each other.
const TOGETHER: usize = 4;

impl<B: AsRef<[u8]>> Search<B> {
    /// Prepares the search; does no work yet.
    ///
    /// # Errors
    /// A candidate longer than [`MAX_BYTES`], a limit that is no number, no memory.
    pub fn new(query: Arc<Query>, candidates: Vec<B>, limit: Limit) -> Result<Self, Error> {
        limit.check()?;
        if let Some(long) = candidates.iter().find(|c| c.as_ref().len() > MAX_BYTES) {
            return Err(Error::TooLong {
                bytes: long.as_ref().len(),
            });
        }
        let mut found = Vec::new();
        found
            .try_reserve_exact(candidates.len())
            .map_err(|_| Error::OutOfMemory {
                bytes: candidates.len() * size_of::<Found>(),
            })?;
        Ok(Self {
            query,
            candidates,
            limit,
            found,
            current: Current::None,
        })
    }

    /// Does about so many operations; ready with one result per candidate, in order, once.
    ///
    /// # Errors
    /// A candidate that is not UTF-8 where code points are counted; no memory.
    pub fn step(&mut self, operations: u64) -> Result<Poll<Vec<Found>>, Error> {
        let mut budget = operations.max(1);
        while budget > 0 {
            if self.found.len() == self.candidates.len() {
                return Ok(Poll::Ready(std::mem::take(&mut self.found)));
            }
            budget = budget.saturating_sub(1);
            if matches!(self.current, Current::None) && self.together(&mut budget) {
                continue;
            }
            self.advance(&mut budget)?;
        }
        Ok(Poll::Pending)
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn finish(mut self) -> Result<Vec<Found>, Error> {
        loop {
            if let Poll::Ready(found) = self.step(u64::MAX)? {
                return Ok(found);
            }
        }
    }

    fn push(&mut self, distance: u64, longest: u64) {
        let within = self
            .limit
            .distance(longest)
            .is_none_or(|limit| distance <= limit);
        self.found.push(Found {
            distance: within.then_some(distance),
            longest,
        });
        self.current = Current::None;
    }

    /// Several short candidates at once, where there are so many.
    fn together(&mut self, budget: &mut u64) -> bool {
        let next = self.found.len();
        let Profile::Word(masks) = &self.query.profile else {
            return false;
        };
        if next + TOGETHER > self.candidates.len() {
            return false;
        }
        let height = self.query.height;
        let texts: [&[u8]; TOGETHER] = std::array::from_fn(|i| self.candidates[next + i].as_ref());
        let points = self.query.numbering.is_some();
        if texts
            .iter()
            .any(|t| t.len() > 1024 || (points && !t.is_ascii()))
        {
            return false;
        }
        // Below 256 the numbers of code points and the code points differ: translate.
        let mask = |symbol: u8| match &self.query.numbering {
            None => masks.byte(symbol),
            Some(numbering) => match numbering.find(char::from(symbol)) {
                0 => 0,
                number => masks.point(number),
            },
        };
        let mut columns = [Column::new(height); TOGETHER];
        let shared = texts.iter().map(|t| t.len()).min().unwrap_or(0);
        let heads: [&[u8]; TOGETHER] = std::array::from_fn(|i| &texts[i][..shared]);
        for at in 0..shared {
            for (column, head) in columns.iter_mut().zip(&heads) {
                column.advance(mask(head[at]));
            }
        }
        for (column, text) in columns.iter_mut().zip(&texts) {
            for symbol in &text[shared..] {
                column.advance(mask(*symbol));
            }
        }
        let all: usize = texts.iter().map(|t| t.len()).sum();
        *budget = budget.saturating_sub(all as u64);
        let lengths = texts.map(<[u8]>::len);
        for (column, length) in columns.iter().zip(lengths) {
            self.push(column.score(), height.max(length) as u64);
        }
        true
    }

    fn advance(&mut self, budget: &mut u64) -> Result<(), Error> {
        let query = Arc::clone(&self.query);
        let bytes = self.candidates[self.found.len()].as_ref();
        match &mut self.current {
            Current::None => {
                self.current = if query.numbering.is_some() {
                    Current::Decode {
                        points: Vec::new(),
                        at: 0,
                    }
                } else {
                    open(&query, bytes.len(), None, self.limit)?
                };
                if let Current::None = self.current {
                    let length = bytes.len().max(query.height) as u64;
                    self.push(length, length);
                }
            }
            Current::Decode { points, at } => {
                let Some(numbering) = &query.numbering else {
                    return Ok(());
                };
                if decode(
                    bytes,
                    at,
                    points,
                    |point| Ok(numbering.find(point)),
                    "candidate",
                    budget,
                )?
                .is_ready()
                {
                    let points = std::mem::take(points);
                    let length = points.len();
                    self.current = open(&query, length, Some(points), self.limit)?;
                    if let Current::None = self.current {
                        let length = length.max(query.height) as u64;
                        self.push(length, length);
                    }
                }
            }
            Current::Word { points, column, at } => {
                let Profile::Word(masks) = &query.profile else {
                    return Ok(());
                };
                let length = points.as_ref().map_or(bytes.len(), Vec::len);
                let end = length.min(at.saturating_add(usize::try_from(*budget).unwrap_or(length)));
                match points {
                    None => bytes[*at..end]
                        .iter()
                        .for_each(|s| column.advance(masks.byte(*s))),
                    Some(points) => points[*at..end].iter().for_each(|s| {
                        column.advance(if *s == 0 { 0 } else { masks.point(*s) });
                    }),
                }
                *budget = budget.saturating_sub((end - *at) as u64);
                *at = end;
                if end == length {
                    let score = column.score();
                    self.push(score, length.max(query.height) as u64);
                }
            }
            Current::Sweep { points, engine } => {
                let Profile::Strips(strips) = &query.profile else {
                    return Ok(());
                };
                let (length, poll) = match points {
                    None => (
                        bytes.len(),
                        engine.step(Source::Ready(strips), bytes, budget)?,
                    ),
                    Some(all) => (all.len(), engine.step(Source::Ready(strips), all, budget)?),
                };
                if let Poll::Ready(distance) = poll {
                    let longest = length.max(query.height) as u64;
                    self.found.push(Found { distance, longest });
                    self.current = Current::None;
                }
            }
        }
        Ok(())
    }
}

/// The way to compare with a text of this length; none where one of the two is empty.
fn open(
    query: &Query,
    length: usize,
    points: Option<Vec<u32>>,
    limit: Limit,
) -> Result<Current, Error> {
    if length == 0 {
        return Ok(Current::None);
    }
    Ok(match &query.profile {
        Profile::Empty => Current::None,
        Profile::Word(_) => Current::Word {
            points,
            column: Column::new(query.height),
            at: 0,
        },
        Profile::Strips(_) => {
            let limit = limit.distance(length.max(query.height) as u64);
            let engine = Box::new(Engine::new(query.set, query.height, length, limit)?);
            Current::Sweep { points, engine }
        }
    })
}
