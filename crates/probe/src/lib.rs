//! Sampling of threads, machine and cgroup; no opinion.
