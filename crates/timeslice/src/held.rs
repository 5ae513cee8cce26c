//! A binary that outlives the call that it came with.

use rustler::{Binary, OwnedEnv, Term};

/// Up to so many bytes a copy costs less than the means to hold on to the original.
const COPIED: usize = 16 << 10;

/// The bytes of a binary argument for as long as a computation wants them: copied where they are
/// few, else the VM's own binary, held by reference (nothing is copied, however long it is).
pub struct HeldBinary(Held);

enum Held {
    Copied(Box<[u8]>),
    Shared {
        /// Keeps the binary alive: freed, never cleared.
        _env: OwnedEnv,
        data: *const u8,
        length: usize,
    },
}

// SAFETY: the bytes are immutable, and the environment behind them is only ever freed, which the
// VM allows from any thread.
unsafe impl Send for HeldBinary {}

impl HeldBinary {
    /// Holds on to `binary`.
    #[must_use]
    pub fn new(binary: Binary<'_>) -> Self {
        if binary.len() <= COPIED {
            return Self(Held::Copied(binary.as_slice().into()));
        }
        let env = OwnedEnv::new();
        let saved = env.save(Term::from(binary));
        let inspected = env.run(|inner| {
            // A term that was a binary in one environment is one in the other.
            let shared: Option<Binary<'_>> = saved.load(inner).into_binary().ok();
            shared.map(|shared| (shared.as_slice().as_ptr(), shared.len()))
        });
        match inspected {
            Some((data, length)) => Self(Held::Shared {
                _env: env,
                data,
                length,
            }),
            None => Self(Held::Copied(binary.as_slice().into())),
        }
    }
}

impl AsRef<[u8]> for HeldBinary {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Held::Copied(bytes) => bytes,
            // SAFETY: a process-independent environment is not garbage-collected and holds the
            // term until it is freed, after `self`; binaries of this size do not live on a heap
            // and are not moved.
            Held::Shared { data, length, .. } => unsafe {
                std::slice::from_raw_parts(*data, *length)
            },
        }
    }
}

impl std::fmt::Debug for HeldBinary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HeldBinary of {} bytes", self.as_ref().len())
    }
}
