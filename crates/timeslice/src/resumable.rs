//! What a computation must be able to do to be left in the middle.

use std::task::Poll;

use rustler::{Env, NifResult, Term};

/// A computation that works in steps and owns all that it needs.
///
/// Terms and binaries of the call do not survive it: copy them into the state, or hold large
/// binaries with [`HeldBinary`](crate::HeldBinary).
pub trait Resumable: Send + Sized + 'static {
    /// What it comes to; a `Result`, if it can fail on the way.
    type Output;

    /// Operations for the first step, before anything is known about machine and input: so few
    /// that they surely take less than a tenth of a millisecond.
    const FIRST_STEP: u64 = 1000;

    /// Does about so many operations. What an operation is, is its own business, as long as
    /// they cost about the same: the time of one is measured and followed. A single call must
    /// do *some* work, and no more than asked for by a small factor.
    fn step(&mut self, operations: u64) -> Poll<Self::Output>;

    /// The result as a term; runs in the slice in which the computation ends. An error is
    /// raised in the caller.
    ///
    /// # Errors
    /// Whatever is to be raised.
    fn finish(output: Self::Output, env: Env<'_>) -> NifResult<Term<'_>>;
}
