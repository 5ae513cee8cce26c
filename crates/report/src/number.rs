//! Numbers as people read them: no more digits than the interval supports, units, thin spacing.
