//! The one NIF library: a thin skin over the Rust rooms.
//!
//! Every function here is declared in the Elixir module `Plimsoll.Native`, which documents it.
//! rustler turns a panic into an Erlang exception; that holds only while the release profile
//! unwinds, so it is tested on the library that is shipped (`panic_for_test`).

mod levenshtein;
mod nuts;

use rustler::{Env, Error, NifResult, Term};

/// Most steps of one call: about a fifth of a second. A dirty NIF cannot be interrupted, and a VM
/// that halts waits for it.
const MOST_STEPS: u64 = 100_000_000;

/// `steps` steps of the spin arithmetic; `badarg` for state 0, a state of more than 32 bits, or too
/// many steps.
#[rustler::nif(schedule = "DirtyCpu")]
fn spin(state: u32, steps: u64) -> NifResult<u32> {
    if state == 0 || steps > MOST_STEPS {
        return Err(Error::BadArg);
    }
    Ok(plimsoll_workload::spin(state, steps))
}

/// Panics, so that a test can see that the VM survives it.
#[rustler::nif]
fn panic_for_test() -> bool {
    panic!("asked for by a test")
}

fn load(env: Env<'_>, _info: Term<'_>) -> bool {
    levenshtein::register(env)
}

rustler::init!("Elixir.Plimsoll.Native", load = load);
