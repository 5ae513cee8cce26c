//! The one NIF library: a thin skin over the Rust rooms.
