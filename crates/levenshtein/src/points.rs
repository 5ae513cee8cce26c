//! Code points as small numbers, decoded in steps.

use std::task::Poll;

use crate::Error;
use crate::strip::zeroed;

/// Bytes looked at between two looks at the budget.
const PIECE: usize = 256;

/// Numbers code points 1, 2, 3, … in order of first sight, through a two-level table.
#[derive(Debug)]
pub(crate) struct Numbering {
    /// Page of each block of 256 code points; page 0 is none.
    page_of: Vec<u16>,
    pages: Vec<[u32; 256]>,
    next: u32,
}

impl Numbering {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self {
            page_of: zeroed(0x11_0000 / 256)?,
            pages: Vec::new(),
            next: 1,
        })
    }

    /// Numbers given so far, and 0.
    pub(crate) fn alphabet(&self) -> usize {
        self.next as usize
    }

    /// The number of a code point if it has one, else 0.
    pub(crate) fn find(&self, point: char) -> u32 {
        match self.page_of[point as usize >> 8] {
            0 => 0,
            page => self.pages[usize::from(page) - 1][point as usize & 255],
        }
    }

    /// The number of a code point, a new one if it has none.
    pub(crate) fn number(&mut self, point: char) -> Result<u32, Error> {
        let page = &mut self.page_of[point as usize >> 8];
        if *page == 0 {
            self.pages
                .try_reserve(1)
                .map_err(|_| Error::OutOfMemory { bytes: 1024 })?;
            self.pages.push([0; 256]);
            *page = self.pages.len() as u16;
        }
        let entry = &mut self.pages[usize::from(*page) - 1][point as usize & 255];
        if *entry == 0 {
            *entry = self.next;
            self.next += 1;
        }
        Ok(*entry)
    }
}

/// Decodes UTF-8 from byte `at` on into numbers at the end of `points`. `which` names the
/// argument in errors.
pub(crate) fn decode(
    bytes: &[u8],
    at: &mut usize,
    points: &mut Vec<u32>,
    mut number: impl FnMut(char) -> Result<u32, Error>,
    which: &'static str,
    budget: &mut u64,
) -> Result<Poll<()>, Error> {
    if *at == 0 {
        let needed = bytes.len() * size_of::<u32>();
        // Room for the worst case at once: to grow would copy all that is there.
        points
            .try_reserve_exact(bytes.len())
            .map_err(|_| Error::OutOfMemory { bytes: needed })?;
    }
    while *at < bytes.len() {
        if *budget == 0 {
            return Ok(Poll::Pending);
        }
        let end = bytes.len().min(*at + PIECE);
        let piece = &bytes[*at..end];
        let valid = match std::str::from_utf8(piece) {
            Ok(valid) => valid,
            // A code point cut by the end of the piece is not an error.
            Err(error) if error.error_len().is_none() && end < bytes.len() => {
                std::str::from_utf8(&piece[..error.valid_up_to()]).unwrap_or("")
            }
            Err(error) => {
                return Err(Error::NotUtf8 {
                    which,
                    at: *at + error.valid_up_to(),
                });
            }
        };
        for point in valid.chars() {
            points.push(number(point)?);
        }
        *at += valid.len();
        *budget = budget.saturating_sub(valid.len() as u64);
    }
    Ok(Poll::Ready(()))
}
