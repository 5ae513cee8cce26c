//! A strip of the pattern and the bit masks that say where each symbol stands in it.

use crate::Error;

/// Something that a distance is counted in: a byte, or the number given to a code point.
pub(crate) trait Symbol: Copy + Eq {
    /// Place in a table that is indexed by symbol.
    fn index(self) -> usize;
}

impl Symbol for u8 {
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Symbol for u32 {
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

/// Zeroed memory, or the refusal that names what it was for.
pub(crate) fn zeroed<T: Clone + Default>(length: usize) -> Result<Vec<T>, Error> {
    filled(length, T::default())
}

/// Memory filled with one value, or the refusal.
pub(crate) fn filled<T: Clone>(length: usize, value: T) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    all.try_reserve_exact(length)
        .map_err(|_| Error::OutOfMemory {
            bytes: length.saturating_mul(size_of::<T>()),
        })?;
    all.resize(length, value);
    Ok(all)
}

/// Up to `64 · width` consecutive pattern symbols. Row r of `masks` has `width` words; bit i of
/// word w is one where the symbol of that row is pattern symbol 64 w + i. Row 0 belongs to the
/// symbols that do not occur.
#[derive(Debug)]
pub(crate) struct Strip {
    row_of: Vec<u16>,
    masks: Vec<u64>,
    width: usize,
}

impl Strip {
    /// An empty strip for symbols below `alphabet`.
    pub(crate) fn new(alphabet: usize) -> Result<Self, Error> {
        Ok(Self {
            row_of: zeroed(alphabet)?,
            masks: Vec::new(),
            width: 0,
        })
    }

    /// Makes this the strip of `pattern` (at most `64 · width` symbols); `previous` is what it
    /// was built from before, whose entries are taken back.
    pub(crate) fn build<S: Symbol>(
        &mut self,
        previous: &[S],
        pattern: &[S],
        width: usize,
    ) -> Result<(), Error> {
        debug_assert!(pattern.len() <= 64 * width && width <= crate::sweep::MAX_WIDTH);
        for symbol in previous {
            self.row_of[symbol.index()] = 0;
        }
        self.masks.clear();
        self.width = width;
        let rows = pattern.len().min(self.row_of.len()) + 1;
        self.masks
            .try_reserve(rows * width)
            .map_err(|_| Error::OutOfMemory {
                bytes: rows * width * size_of::<u64>(),
            })?;
        self.add_row();
        for (place, symbol) in pattern.iter().enumerate() {
            let mut row = usize::from(self.row_of[symbol.index()]);
            if row == 0 {
                row = self.masks.len() / width;
                self.add_row();
                self.row_of[symbol.index()] = row as u16;
            }
            self.masks[row * width + place / 64] |= 1 << (place % 64);
        }
        Ok(())
    }

    fn add_row(&mut self) {
        self.masks.resize(self.masks.len() + self.width, 0);
    }

    /// Words per row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The `width` words of a symbol.
    #[inline(always)]
    pub(crate) fn row<S: Symbol>(&self, symbol: S) -> *const u64 {
        let row = usize::from(self.row_of[symbol.index()]);
        debug_assert!((row + 1) * self.width <= self.masks.len());
        // SAFETY: `row_of` holds only rows that `build` has added to `masks`.
        unsafe { self.masks.as_ptr().add(row * self.width) }
    }

    /// The `width` zero words of a symbol that does not occur.
    #[inline(always)]
    pub(crate) fn no_row(&self) -> *const u64 {
        debug_assert!(self.width <= self.masks.len());
        self.masks.as_ptr()
    }
}
