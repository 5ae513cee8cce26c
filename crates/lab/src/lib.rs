//! Experiment design, runner and store.
