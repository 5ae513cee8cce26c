//! VMs from outside: launch with flags, read back, the injected agent.
