//! Strip after strip down the pattern, inside the band that a limit leaves.
//!
//! A path of cost at most k from corner to corner keeps |j − i| + |(n − m) − (j − i)| ≤ k in
//! every cell (i, j) (Ukkonen 1985), so each strip is swept only over the columns of that band.
//! Outside it cells are taken for the worst that they can be (one more than their neighbour),
//! which leaves every result ≤ k exact and every other one > k.

use std::task::Poll;

use crate::Error;
use crate::strip::{Strip, Symbol};
use crate::sweep::{InstructionSet, MINUS, PLUS, Registers, end_of_time, sweep};

/// Where the strips come from.
pub(crate) enum Source<'a, S> {
    /// Built one after the other in the same memory, from this pattern.
    Build(&'a mut Strip, &'a [S]),
    /// Built before, in order, of full width but the last.
    Ready(&'a [Strip]),
}

/// The computation for one pattern (rows) and one text (columns), both not empty.
#[derive(Debug)]
pub(crate) struct Engine {
    set: InstructionSet,
    rows: usize,
    columns: usize,
    limit: Option<u64>,
    /// First and last diagonal (column − row) of the band.
    diagonals: (i64, i64),
    /// Horizontal differences of the row above the current strip, +1 where never computed.
    boundary: Vec<u8>,
    /// First row of the current strip.
    row: usize,
    /// The cell above and left of the current strip's band.
    corner: i64,
    /// Time inside the strip; none before it is built.
    time: Option<usize>,
    registers: Registers,
    /// Sum of the differences above the last strip.
    last_above: i64,
}

fn sum(differences: &[u8]) -> i64 {
    // In pieces, so that the counts fit bytes and the loop becomes vector code.
    differences
        .chunks(255)
        .map(|piece| {
            let plus: u8 = piece.iter().map(|d| u8::from(*d == PLUS)).sum();
            let minus: u8 = piece.iter().map(|d| u8::from(*d == MINUS)).sum();
            i64::from(plus) - i64::from(minus)
        })
        .sum()
}

impl Engine {
    /// `limit`: results above it need not be told apart.
    pub(crate) fn new(
        set: InstructionSet,
        rows: usize,
        columns: usize,
        limit: Option<u64>,
    ) -> Result<Self, Error> {
        let (m, n) = (rows as i64, columns as i64);
        // No distance is longer than the longer side.
        let limit = limit.filter(|limit| *limit < rows.max(columns) as u64);
        let diagonals = match limit {
            Some(limit) => {
                let slack = (limit as i64 - (n - m).abs()).max(0) / 2;
                ((n - m).min(0) - slack, (n - m).max(0) + slack)
            }
            None => (-m, n),
        };
        let mut boundary = Vec::new();
        boundary
            .try_reserve_exact(columns)
            .map_err(|_| Error::OutOfMemory { bytes: columns })?;
        Ok(Self {
            set,
            rows,
            columns,
            limit,
            diagonals,
            boundary,
            row: 0,
            corner: 0,
            time: None,
            registers: Registers::left_edge(),
            last_above: 0,
        })
    }

    fn strip_rows(&self) -> usize {
        64 * self.set.full_width()
    }

    /// Columns of the strip that starts in `row` and has `height` rows.
    fn span(&self, row: usize, height: usize) -> (usize, usize) {
        let low = (row as i64 + self.diagonals.0).max(0);
        let high = ((row + height) as i64 + self.diagonals.1).min(self.columns as i64);
        (low as usize, high as usize)
    }

    /// Does about `budget` operations (one is a word of 64 cells) and takes them from it. Gives
    /// the distance, or none if it is above the limit.
    pub(crate) fn step<S: Symbol>(
        &mut self,
        mut source: Source<'_, S>,
        text: &[S],
        budget: &mut u64,
    ) -> Result<Poll<Option<u64>>, Error> {
        if let Some(limit) = self.limit
            && self.rows.abs_diff(self.columns) as u64 > limit
        {
            return Ok(Poll::Ready(None));
        }
        while *budget > 0 {
            let height = self.strip_rows().min(self.rows - self.row);
            let (low, high) = self.span(self.row, height);
            if self.boundary.len() < high {
                let more = (high - self.boundary.len()).min(64 * (*budget).min(1 << 20) as usize);
                self.boundary.resize(self.boundary.len() + more, PLUS);
                *budget = budget.saturating_sub(more as u64 / 64 + 1);
                continue;
            }
            if self.time.is_none() {
                self.open_strip(&mut source, height, (low, high))?;
                *budget = budget.saturating_sub(height as u64);
                continue;
            }
            let strip = match &source {
                Source::Build(strip, _) => &**strip,
                Source::Ready(strips) => &strips[self.row / self.strip_rows()],
            };
            let from = self.time.unwrap_or(0);
            let end = end_of_time(strip.width(), high - low);
            let groups = (*budget / (4 * strip.width() as u64)).clamp(1, 1 << 40) as usize;
            let to = end.min(from + 4 * groups);
            sweep(
                self.set,
                strip,
                &text[low..high],
                &mut self.boundary[low..high],
                &mut self.registers,
                from,
                to,
            );
            *budget = budget.saturating_sub(((to - from) * strip.width()) as u64);
            self.time = Some(to);
            if to == end {
                if let Some(result) = self.close_strip(height, (low, high)) {
                    return Ok(Poll::Ready(result));
                }
                *budget = budget.saturating_sub((high - low) as u64 / 8);
            }
        }
        Ok(Poll::Pending)
    }

    fn open_strip<S: Symbol>(
        &mut self,
        source: &mut Source<'_, S>,
        height: usize,
        (low, high): (usize, usize),
    ) -> Result<(), Error> {
        if let Source::Build(strip, pattern) = source {
            let width = self.set.width_for(height);
            let previous = &pattern[self.row.saturating_sub(self.strip_rows())..self.row];
            strip.build(previous, &pattern[self.row..self.row + height], width)?;
        }
        if self.row + height == self.rows {
            // The sweep overwrites it.
            self.last_above = sum(&self.boundary[low..high]);
        }
        self.registers = Registers::left_edge();
        self.time = Some(0);
        Ok(())
    }

    /// The result, if this was the last strip or nothing below the limit is left.
    fn close_strip(&mut self, height: usize, (low, high): (usize, usize)) -> Option<Option<u64>> {
        let next = self.row + height;
        if next == self.rows {
            let distance = (self.corner + self.last_above + self.registers.rise(height)) as u64;
            return Some(Some(distance).filter(|d| self.limit.is_none_or(|limit| *d <= limit)));
        }
        let foot = self.corner + height as i64;
        if let Some(limit) = self.limit
            && self.hopeless(foot, next, (low, high), limit as i64)
        {
            return Some(None);
        }
        let (next_low, _) = self.span(next, self.strip_rows().min(self.rows - next));
        self.corner = foot + sum(&self.boundary[low..next_low.max(low)]);
        self.row = next;
        self.time = None;
        None
    }

    /// Whether every cell of this row leads to more than `limit`.
    fn hopeless(&self, foot: i64, row: usize, (low, high): (usize, usize), limit: i64) -> bool {
        let beyond = |cell: i64, column: usize| {
            let (down, right) = ((self.rows - row) as i64, (self.columns - column) as i64);
            cell + (right - down).abs() > limit
        };
        let mut cell = foot;
        if !beyond(cell, low) {
            return false;
        }
        for (number, piece) in self.boundary[low..high].chunks(64).enumerate() {
            // One column changes cell and way to go by one each: no cell of the piece can be in
            // reach unless its start is nearly so.
            if cell - 64 <= limit {
                let mut inner = cell;
                for (offset, difference) in piece.iter().enumerate() {
                    inner += i64::from(difference & PLUS) - i64::from(difference >> 1);
                    if !beyond(inner, low + 64 * number + offset + 1) {
                        return false;
                    }
                }
            }
            cell += sum(piece);
        }
        true
    }
}
