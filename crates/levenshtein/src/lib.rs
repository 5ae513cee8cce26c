//! Edit distance (Levenshtein): bit-parallel, several words at once where the machine has vector
//! registers, in bounded memory, and resumable in the middle, so that it can run inside a virtual
//! machine's timeslices.
//!
//! - [`distance`] and [`similarity`]: one call, one result.
//! - [`Distance`]: the same as a state machine that does so many operations a step.
//! - [`Query`] and [`Search`]: one string against many.
//! - [`matrix`]: the textbook algorithm with its full matrix, as oracle and as baseline.
//!
//! The algorithm is that of Myers (J. ACM 46, 1999) in the block form of Hyyrö (Nordic J.
//! Computing 10, 2003), with Ukkonen's band (Information and Control 64, 1985) when there is a
//! limit; words are processed along anti-diagonals.

mod distance;
mod engine;
mod lanes;
mod limit;
mod many;
pub mod matrix;
mod points;
mod short;
mod strip;
mod sweep;

pub use distance::{Distance, Found, Options};
pub use limit::Limit;
pub use many::{Query, Search};
pub use sweep::InstructionSet;

/// Longest string in bytes: beyond it even to free the memory takes longer than a timeslice may.
pub const MAX_BYTES: usize = 1 << 26;

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    #[default]
    Bytes,
    /// Unicode code points of UTF-8 (not graphemes: "é" may be one or two).
    CodePoints,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A string is longer than [`MAX_BYTES`].
    #[error(
        "a string of {bytes} bytes is longer than {MAX_BYTES}: cut it, or compare it in pieces"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A query is longer than [`Query::MAX_BYTES`].
    #[error(
        "a query of {bytes} bytes is longer than {}: compare it with one string at a time",
        Query::MAX_BYTES
    )]
    QueryTooLong {
        /// Its length.
        bytes: usize,
    },
    /// Code points were asked for.
    #[error("the {which} string is not UTF-8 at byte {at}: compare bytes, or convert it first")]
    NotUtf8 {
        /// "first", "second", "query" or "candidate".
        which: &'static str,
        /// Offset of the first bad byte.
        at: usize,
    },
    /// The allocator refused.
    #[error("no memory for {bytes} bytes: use shorter strings or a limit")]
    OutOfMemory {
        /// What was asked for.
        bytes: usize,
    },
    /// A similarity outside 0 to 1.
    #[error("a least similarity must be between 0 and 1")]
    BadSimilarity,
}

/// The distance of two strings, or none if it is above the limit.
///
/// ```
/// use plimsoll_levenshtein::{Limit, Options, Unit, distance};
///
/// assert_eq!(distance(b"kitten", b"sitting", Options::default())?, Some(3));
/// let points = Options { unit: Unit::CodePoints, ..Options::default() };
/// assert_eq!(distance("Bär".as_bytes(), "Bar".as_bytes(), points)?, Some(1));
/// let near = Options { limit: Limit::Distance(2), ..Options::default() };
/// assert_eq!(distance(b"kitten", b"sitting", near)?, None);
/// # Ok::<(), plimsoll_levenshtein::Error>(())
/// ```
///
/// # Errors
/// As [`Distance::new`] and [`Distance::step`].
pub fn distance(a: &[u8], b: &[u8], options: Options) -> Result<Option<u64>, Error> {
    Ok(find(a, b, options)?.distance)
}

/// The similarity of two strings, 1 − distance / length of the longer, or none if it is beyond
/// the limit.
///
/// # Errors
/// As [`distance`].
pub fn similarity(a: &[u8], b: &[u8], options: Options) -> Result<Option<f64>, Error> {
    Ok(find(a, b, options)?.similarity())
}

/// The distance of two strings and what it is measured against, in one go.
///
/// # Errors
/// As [`distance`].
pub fn find(a: &[u8], b: &[u8], options: Options) -> Result<Found, Error> {
    if let Some(found) = short::find(a, b, options)? {
        return Ok(found);
    }
    Distance::new(a, b, options)?.finish()
}

/// Operations that a [`Distance`] of strings of these lengths may need, roughly: for the choice
/// between doing it at once and in steps.
#[must_use]
pub fn operations(a: usize, b: usize) -> u64 {
    (a.div_ceil(64) as u64) * (b as u64) + (a + b) as u64
}
