//! Binaries that outlive the call that they came with.

use std::sync::Arc;

use rustler::{Binary, NifResult, OwnedEnv, Term};

/// Up to so many bytes a copy costs less than the means to hold on to the original.
const COPIED: usize = 16 << 10;

/// The bytes of a binary argument for as long as a computation wants them: copied where they are
/// few, else the VM's own binary, held by reference (nothing is copied, however long it is).
pub struct HeldBinary(Held);

enum Held {
    Copied(Box<[u8]>),
    Shared {
        _kept: Arc<Kept>,
        data: *const u8,
        length: usize,
    },
}

/// Keeps terms alive by being there: freed, never cleared or looked into again.
struct Kept(
    #[allow(dead_code)] // it is held for its drop alone
    OwnedEnv,
);

// SAFETY: nobody uses the environment through a shared reference; it is only freed, which the VM
// allows from any thread.
unsafe impl Sync for Kept {}

// SAFETY: the bytes are immutable and live as long as `Kept`.
unsafe impl Send for HeldBinary {}
// SAFETY: as above.
unsafe impl Sync for HeldBinary {}

impl HeldBinary {
    /// Holds on to `binary`.
    #[must_use]
    pub fn new(binary: Binary<'_>) -> Self {
        if binary.len() > COPIED
            && let Ok(mut shared) = Self::keep(Term::from(binary), |term| Ok(vec![term]))
            && let Some(one) = shared.pop()
        {
            return one;
        }
        Self(Held::Copied(binary.as_slice().into()))
    }

    /// Holds on to every binary of a list; costs a few dozen nanoseconds each. Refuse lists of
    /// more than some thousands before: this is done in one go.
    ///
    /// # Errors
    /// `badarg` for anything but a proper list of binaries.
    pub fn list(list: Term<'_>) -> NifResult<Vec<Self>> {
        Self::keep(list, |term| term.decode())
    }

    fn keep(
        term: Term<'_>,
        binaries: impl for<'a> FnOnce(Term<'a>) -> NifResult<Vec<Term<'a>>>,
    ) -> NifResult<Vec<Self>> {
        let env = OwnedEnv::new();
        let saved = env.save(term);
        let found: NifResult<Vec<_>> = env.run(|inner| {
            let inspect = |term: Term<'_>| {
                let binary = term.into_binary()?;
                Ok((binary.as_slice().as_ptr(), binary.len()))
            };
            binaries(saved.load(inner))?
                .into_iter()
                .map(inspect)
                .collect()
        });
        let kept = Arc::new(Kept(env));
        let hold = |(data, length)| {
            Self(Held::Shared {
                _kept: Arc::clone(&kept),
                data,
                length,
            })
        };
        Ok(found?.into_iter().map(hold).collect())
    }
}

impl AsRef<[u8]> for HeldBinary {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Held::Copied(bytes) => bytes,
            // SAFETY: a process-independent environment is not garbage-collected and holds its
            // terms, where they are, until it is freed, which is after `self`.
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
