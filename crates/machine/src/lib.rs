//! What the hardware, the kernel and the container are.
