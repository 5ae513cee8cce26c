//! Patterns that fit one word: no allocation, no vectors.

use crate::{Error, Found, Limit, Options, Unit};

/// Longest pattern.
pub(crate) const WORD: usize = 64;
/// Longest text: beyond it the vector loop the other way round is faster.
const LONGEST: usize = 2048;

/// Where each symbol stands in a pattern of at most 64.
pub(crate) struct Masks {
    low: [u64; 256],
    /// Code points from 256 on, by open addressing; symbol 0 is an empty place.
    high: [(u32, u64); 128],
}

impl Masks {
    /// Of at most 64 symbols.
    pub(crate) fn new(pattern: impl Iterator<Item = u32>) -> Self {
        let mut masks = Self {
            low: [0; 256],
            high: [(0, 0); 128],
        };
        for (place, symbol) in pattern.take(WORD).enumerate() {
            if let Some(mask) = masks.low.get_mut(symbol as usize) {
                *mask |= 1 << place;
            } else {
                let slot = masks.slot(symbol);
                masks.high[slot].0 = symbol;
                masks.high[slot].1 |= 1 << place;
            }
        }
        masks
    }

    /// The place of a symbol, or the empty one where it would be: at most 64 of 128 are taken.
    fn slot(&self, symbol: u32) -> usize {
        let mut slot = symbol as usize % 128;
        while self.high[slot].0 != symbol && self.high[slot].0 != 0 {
            slot = (slot + 1) % 128;
        }
        slot
    }

    #[inline(always)]
    pub(crate) fn byte(&self, symbol: u8) -> u64 {
        self.low[usize::from(symbol)]
    }

    #[inline(always)]
    pub(crate) fn point(&self, symbol: u32) -> u64 {
        match self.low.get(symbol as usize) {
            Some(mask) => *mask,
            None => self.high[self.slot(symbol)].1,
        }
    }
}

/// One column of a pattern that fits a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    vp: u64,
    vn: u64,
    score: u64,
    last: u32,
}

impl Column {
    /// Left of the text, for a pattern of `height` symbols, 1 to 64.
    #[inline(always)]
    pub(crate) fn new(height: usize) -> Self {
        Self {
            vp: u64::MAX,
            vn: 0,
            score: height as u64,
            last: height as u32 - 1,
        }
    }

    #[inline(always)]
    pub(crate) fn advance(&mut self, equal: u64) {
        let diagonal = ((equal & self.vp).wrapping_add(self.vp) ^ self.vp) | equal | self.vn;
        let plus = self.vn | !(diagonal | self.vp);
        let minus = diagonal & self.vp;
        self.score += (plus >> self.last) & 1;
        self.score -= (minus >> self.last) & 1;
        let plus = (plus << 1) | 1;
        self.vp = (minus << 1) | !(diagonal | plus);
        self.vn = plus & diagonal;
    }

    /// The cell at its foot.
    #[inline(always)]
    pub(crate) fn score(&self) -> u64 {
        self.score
    }
}

/// The result, where the shorter string fits a word and the longer is not too long.
pub(crate) fn find(a: &[u8], b: &[u8], options: Options) -> Result<Option<Found>, Error> {
    let (pattern, text) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if pattern.len() > WORD || text.len() > LONGEST {
        return Ok(None);
    }
    options.limit.check()?;
    if options.unit == Unit::Bytes || (a.is_ascii() && b.is_ascii()) {
        return Ok(Some(bytes(pattern, text, options.limit)));
    }
    let of = |bytes, which| match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => Err(Error::NotUtf8 {
            which,
            at: error.valid_up_to(),
        }),
    };
    // The first string is the first to be complained about.
    let (first, second) = (of(a, "first")?, of(b, "second")?);
    Ok(Some(points(first, second, options.limit)))
}

fn found(distance: u64, longest: usize, limit: Limit) -> Found {
    let longest = longest as u64;
    let within = limit
        .distance(longest)
        .is_none_or(|limit| distance <= limit);
    Found {
        distance: within.then_some(distance),
        longest,
    }
}

fn bytes(pattern: &[u8], text: &[u8], limit: Limit) -> Found {
    let longest = text.len();
    let prefix = pattern.iter().zip(text).take_while(|(a, b)| a == b).count();
    let (pattern, text) = (&pattern[prefix..], &text[prefix..]);
    if pattern.is_empty() {
        return found(text.len() as u64, longest, limit);
    }
    let mut masks = [0; 256];
    for (place, symbol) in pattern.iter().enumerate() {
        masks[usize::from(*symbol)] |= 1 << place;
    }
    let mut column = Column::new(pattern.len());
    for symbol in text {
        column.advance(masks[usize::from(*symbol)]);
    }
    found(column.score(), longest, limit)
}

fn points(a: &str, b: &str, limit: Limit) -> Found {
    let (m, n) = (a.chars().count(), b.chars().count());
    let (pattern, text) = if m <= n { (a, b) } else { (b, a) };
    let (height, longest) = (m.min(n), m.max(n));
    if height == 0 {
        return found(longest as u64, longest, limit);
    }
    // The shorter in code points may be the longer in bytes, but neither has more code points
    // than the shorter in bytes has bytes, or it is the text.
    let masks = Masks::new(pattern.chars().map(u32::from));
    let mut column = Column::new(height);
    for symbol in text.chars() {
        column.advance(masks.point(u32::from(symbol)));
    }
    found(column.score(), longest, limit)
}
