//! The workload protocol and the built-in workloads' names.
