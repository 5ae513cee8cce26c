//! The agent in real VMs of the Erlang/OTP and Elixir on `PATH`.

mod facts;
mod launch;
mod support;
