//! Yielding NIFs: write a long computation once as a sequence of steps, export it as a native
//! function that respects the schedulers.
//!
//! ```no_run
//! use std::task::Poll;
//! use plimsoll_timeslice::{Mode, Resumable, register, run};
//! use rustler::{Encoder, Env, NifResult, Term};
//!
//! struct Sum { next: u64, last: u64, sum: u64 }
//!
//! impl Resumable for Sum {
//!     type Output = u64;
//!
//!     fn step(&mut self, operations: u64) -> Poll<u64> {
//!         for _ in 0..operations {
//!             if self.next > self.last {
//!                 return Poll::Ready(self.sum);
//!             }
//!             self.sum = self.sum.wrapping_add(self.next);
//!             self.next += 1;
//!         }
//!         Poll::Pending
//!     }
//!
//!     fn finish(sum: u64, env: Env<'_>) -> NifResult<Term<'_>> {
//!         Ok(sum.encode(env))
//!     }
//! }
//!
//! #[rustler::nif]
//! fn sum(env: Env<'_>, last: u64) -> NifResult<Term<'_>> {
//!     run(env, Mode::Yielding, Sum { next: 0, last, sum: 0 })
//! }
//!
//! fn load(env: Env<'_>, _info: Term<'_>) -> bool {
//!     register::<Sum>(env).is_ok()
//! }
//! # fn main() {}
//! ```
//!
//! The state lives in a resource that only the call owns, so it is freed on every path: result,
//! error, panic, and death of the calling process. The clock is read every so many operations;
//! that number follows machine and input (see [`budget`]), so that a read costs nothing and no
//! slice on a normal scheduler passes a millisecond.
//!
//! `template/` is a whole project to start from; docs/nif/making-a-nif-yield.md is the guide.

pub mod budget;
mod held;
mod nif;
mod resumable;
pub mod statistics;

pub use held::HeldBinary;
pub use nif::{Mode, register, run};
pub use resumable::Resumable;
