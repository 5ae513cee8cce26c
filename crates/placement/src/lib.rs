//! Who sits where: the VM's own scheduler orders, classes of equal placements, advice.
