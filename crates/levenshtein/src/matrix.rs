//! The textbook dynamic program with its full matrix (Wagner and Fischer 1974): the oracle of the
//! tests, the baseline of the benchmark and the long-running function of the jitter lab. Four
//! bytes a cell; nothing else should use it.

use std::task::Poll;

use crate::Error;

/// Largest matrix, in bytes.
pub const MAX_MATRIX_BYTES: usize = 4 << 30;

/// A full-matrix computation; one operation is one cell.
#[derive(Debug)]
pub struct Matrix<A = Vec<u8>, B = A> {
    a: A,
    b: B,
    cells: Vec<u32>,
    /// Cells computed.
    done: usize,
}

impl<A: AsRef<[u8]>, B: AsRef<[u8]>> Matrix<A, B> {
    /// Reserves the matrix; computes nothing yet.
    ///
    /// # Errors
    /// More than [`MAX_MATRIX_BYTES`], or no memory.
    pub fn new(a: A, b: B) -> Result<Self, Error> {
        let wanted = (a.as_ref().len() + 1).saturating_mul(b.as_ref().len() + 1);
        let bytes = wanted.saturating_mul(size_of::<u32>());
        if bytes > MAX_MATRIX_BYTES {
            return Err(Error::OutOfMemory { bytes });
        }
        let mut cells = Vec::new();
        cells
            .try_reserve_exact(wanted)
            .map_err(|_| Error::OutOfMemory { bytes })?;
        Ok(Self {
            a,
            b,
            cells,
            done: 0,
        })
    }

    /// Computes so many more cells.
    pub fn step(&mut self, operations: u64) -> Poll<u64> {
        let (a, b) = (self.a.as_ref(), self.b.as_ref());
        let width = b.len() + 1;
        let all = (a.len() + 1) * width;
        let end = all.min(
            self.done
                .saturating_add(usize::try_from(operations).unwrap_or(all)),
        );
        while self.done < end {
            let (row, first) = (self.done / width, self.done % width);
            let last = width.min(first + end - self.done);
            for column in first..last {
                let cell = if row == 0 {
                    column as u32
                } else if column == 0 {
                    row as u32
                } else {
                    let above = self.cells[self.done - width];
                    let corner = self.cells[self.done - width - 1];
                    let left = self.cells[self.done - 1];
                    let differs = u32::from(a[row - 1] != b[column - 1]);
                    (above + 1).min(left + 1).min(corner + differs)
                };
                self.cells.push(cell);
                self.done += 1;
            }
        }
        if end == all {
            Poll::Ready(u64::from(self.cells[all - 1]))
        } else {
            Poll::Pending
        }
    }
}

/// The distance of two byte strings, in one go.
///
/// # Errors
/// As [`Matrix::new`].
pub fn distance(a: &[u8], b: &[u8]) -> Result<u64, Error> {
    let mut matrix = Matrix::new(a, b)?;
    loop {
        if let Poll::Ready(distance) = matrix.step(u64::MAX) {
            return Ok(distance);
        }
    }
}
