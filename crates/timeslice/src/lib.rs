//! Yielding NIFs: write a long computation once as a sequence of steps, export it as a native
//! function that respects the schedulers.
//!
//! ```ignore
//! struct Sum { next: u64, last: u64, sum: u64 }
//!
//! impl plimsoll_timeslice::Resumable for Sum {
//!     type Output = u64;
//!     fn step(&mut self, operations: u64) -> std::task::Poll<u64> { … }
//!     fn finish<'a>(sum: u64, env: Env<'a>) -> NifResult<Term<'a>> { Ok(sum.encode(env)) }
//! }
//!
//! #[rustler::nif]
//! fn sum(env: Env, last: u64) -> NifResult<Term> {
//!     plimsoll_timeslice::run(env, Mode::Yielding, Sum { next: 0, last, sum: 0 })
//! }
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
