//! The inner loop: one strip of the pattern against the text, 64 cells a word and several words
//! at once.
//!
//! Vertical differences of a column are kept as two bit vectors, horizontal ones leave a word at
//! its top bit (Myers 1999 in the form of Hyyrö 2003). Words of one column depend on each other
//! through those horizontal differences, words of one *anti-diagonal* do not: word g works on
//! column t − g at time t. So a vector holds consecutive words, each one column behind its
//! neighbour, and the difference that leaves word g at time t − 1 is what word g + 1 needs at t.
//! The masks of the text symbols are loaded row by row and delayed lane by lane to match.
//!
//! A word before its first column is inert (no match and no difference coming in leave it as it
//! is); one behind its last column is frozen.

use crate::lanes::Lanes;
use crate::strip::{Strip, Symbol};

/// Most words in a strip.
pub(crate) const MAX_WIDTH: usize = 16;

/// The loop is unrolled by this many columns; time moves in multiples of it.
const GROUP: usize = 4;

/// The horizontal difference +1 in a boundary; −1 is `MINUS`, 0 is 0.
pub(crate) const PLUS: u8 = 1;
/// The horizontal difference −1.
pub(crate) const MINUS: u8 = 2;

/// The instruction sets with a loop of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// Plain 64-bit words.
    Portable,
    /// Four words at once.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Eight words at once; AVX-512 with DQ and VBMI2 (Ice Lake, Zen 4 and later).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// The widest that this machine has.
    #[must_use]
    pub fn best() -> Self {
        *Self::available().last().unwrap_or(&Self::Portable)
    }

    /// All that this machine has, narrowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)] // stays as it is on other architectures
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                all.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vbmi2")
            {
                all.push(Self::Avx512);
            }
        }
        all
    }

    /// Words in a full strip: as many as keep the processor busy and the registers few.
    pub(crate) fn full_width(self) -> usize {
        match self {
            Self::Portable => 4,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 8,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 16,
        }
    }

    /// Words in the narrowest strip that holds `height` symbols, at most a full one.
    pub(crate) fn width_for(self, height: usize) -> usize {
        let lanes = match self {
            Self::Portable => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 4,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 8,
        };
        let width = height
            .div_ceil(64)
            .next_multiple_of(lanes)
            .min(self.full_width());
        // The portable loop exists for 1, 2 and 4 words.
        if width == 3 { 4 } else { width }
    }
}

/// What a strip carries from column to column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    /// Vertical +1.
    vp: [u64; MAX_WIDTH],
    /// Vertical −1.
    vn: [u64; MAX_WIDTH],
    /// Horizontal +1 of the time before, unshifted.
    hp: [u64; MAX_WIDTH],
    /// Horizontal −1 of the time before, unshifted.
    hn: [u64; MAX_WIDTH],
}

impl Registers {
    /// The left edge: every cell is one more than the one above.
    pub(crate) fn left_edge() -> Self {
        Self {
            vp: [u64::MAX; MAX_WIDTH],
            vn: [0; MAX_WIDTH],
            hp: [0; MAX_WIDTH],
            hn: [0; MAX_WIDTH],
        }
    }

    /// The cell at the foot of the first `height` symbols less the cell above them.
    pub(crate) fn rise(&self, height: usize) -> i64 {
        let mut rise = 0;
        for (word, (vp, vn)) in self.vp.iter().zip(&self.vn).enumerate() {
            let bits = height.saturating_sub(64 * word).min(64);
            let mask = if bits == 64 {
                u64::MAX
            } else {
                (1 << bits) - 1
            };
            rise += i64::from((vp & mask).count_ones()) - i64::from((vn & mask).count_ones());
        }
        rise
    }
}

/// The time at which the strip is through a text of `columns` symbols.
pub(crate) fn end_of_time(width: usize, columns: usize) -> usize {
    (columns + width - 1).next_multiple_of(GROUP)
}

/// Moves the strip from time `from` to time `to` over `text`. `boundary` has one horizontal
/// difference for each symbol of the text: read as the row above the strip, overwritten with its
/// last row. Both times are multiples of four, `to` at most `end_of_time`.
pub(crate) fn sweep<S: Symbol>(
    set: InstructionSet,
    strip: &Strip,
    text: &[S],
    boundary: &mut [u8],
    registers: &mut Registers,
    from: usize,
    to: usize,
) {
    assert_eq!(text.len(), boundary.len());
    debug_assert!(from.is_multiple_of(GROUP) && to.is_multiple_of(GROUP));
    let width = strip.width();
    // SAFETY: an `InstructionSet` other than `Portable` comes from `available`, and the strip
    // was built with a width that `width_for` gave for this set.
    unsafe {
        match (set, width) {
            (InstructionSet::Portable, 1) => {
                run::<u64, 1, S>(strip, text, boundary, registers, from, to);
            }
            (InstructionSet::Portable, 2) => {
                run::<u64, 2, S>(strip, text, boundary, registers, from, to);
            }
            (InstructionSet::Portable, 4) => {
                run::<u64, 4, S>(strip, text, boundary, registers, from, to);
            }
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx2, 4) => {
                x86::avx2::<1, S>(strip, text, boundary, registers, from, to)
            }
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx2, 8) => {
                x86::avx2::<2, S>(strip, text, boundary, registers, from, to)
            }
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx512, 8) => {
                x86::avx512::<1, S>(strip, text, boundary, registers, from, to);
            }
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx512, 16) => {
                x86::avx512::<2, S>(strip, text, boundary, registers, from, to);
            }
            _ => unreachable!("strips have the widths of width_for"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Registers, Strip, Symbol, run};
    use crate::lanes::x86::{Avx2, Avx512};

    // SAFETY of both: called on a machine that has the features only.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2<const V: usize, S: Symbol>(
        strip: &Strip,
        text: &[S],
        boundary: &mut [u8],
        registers: &mut Registers,
        from: usize,
        to: usize,
    ) {
        unsafe { run::<Avx2, V, S>(strip, text, boundary, registers, from, to) }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vbmi2")]
    pub(super) unsafe fn avx512<const V: usize, S: Symbol>(
        strip: &Strip,
        text: &[S],
        boundary: &mut [u8],
        registers: &mut Registers,
        from: usize,
        to: usize,
    ) {
        unsafe { run::<Avx512, V, S>(strip, text, boundary, registers, from, to) }
    }
}

/// Delays lane k of a stream of vectors by k, by ones, twos and fours.
#[derive(Clone, Copy)]
struct Delay<L> {
    one: L,
    two: [L; 2],
    four: [L; 4],
}

impl<L: Lanes> Delay<L> {
    /// # Safety
    /// As for [`Lanes`].
    #[inline(always)]
    unsafe fn next(&mut self, rows: [L; GROUP]) -> [L; GROUP] {
        if L::COUNT == 1 {
            return rows;
        }
        // SAFETY: the caller has the instruction set of L.
        unsafe {
            let by_one = [
                L::pick::<0>(self.one, rows[0]),
                L::pick::<0>(rows[0], rows[1]),
                L::pick::<0>(rows[1], rows[2]),
                L::pick::<0>(rows[2], rows[3]),
            ];
            self.one = rows[3];
            let by_two = [
                L::pick::<1>(self.two[0], by_one[0]),
                L::pick::<1>(self.two[1], by_one[1]),
                L::pick::<1>(by_one[0], by_one[2]),
                L::pick::<1>(by_one[1], by_one[3]),
            ];
            self.two = [by_one[2], by_one[3]];
            if L::COUNT <= 4 {
                return by_two;
            }
            let by_four = [
                L::pick::<2>(self.four[0], by_two[0]),
                L::pick::<2>(self.four[1], by_two[1]),
                L::pick::<2>(self.four[2], by_two[2]),
                L::pick::<2>(self.four[3], by_two[3]),
            ];
            self.four = by_two;
            by_four
        }
    }
}

/// # Safety
/// As for [`Lanes`]; the strip's width is `V · L::COUNT`, at most `MAX_WIDTH`.
#[inline(always)]
unsafe fn run<L: Lanes, const V: usize, S: Symbol>(
    strip: &Strip,
    text: &[S],
    boundary: &mut [u8],
    registers: &mut Registers,
    from: usize,
    to: usize,
) {
    let width = V * L::COUNT;
    let columns = text.len();
    assert!(strip.width() == width && width <= MAX_WIDTH);
    // SAFETY: registers have MAX_WIDTH words and strips `width` words a row, so that vector v of
    // L::COUNT words, v < V, lies inside; the instruction set is the caller's promise.
    unsafe {
        let row = |v: usize, time: usize| {
            let column = time.wrapping_sub(v * L::COUNT);
            let start = text.get(column).map_or(strip.no_row(), |s| strip.row(*s));
            L::load(start.add(v * L::COUNT))
        };
        let zero = L::splat(0);
        let mut delay = [Delay {
            one: zero,
            two: [zero; 2],
            four: [zero; 4],
        }; V];
        for time in (from.saturating_sub(2 * GROUP)..from).step_by(GROUP) {
            for (v, delay) in delay.iter_mut().enumerate() {
                delay.next([
                    row(v, time),
                    row(v, time + 1),
                    row(v, time + 2),
                    row(v, time + 3),
                ]);
            }
        }
        let at = |words: &[u64; MAX_WIDTH], v: usize| L::load(words.as_ptr().add(v * L::COUNT));
        let mut vp: [L; V] = std::array::from_fn(|v| at(&registers.vp, v));
        let mut vn: [L; V] = std::array::from_fn(|v| at(&registers.vn, v));
        let mut hp: [L; V] = std::array::from_fn(|v| at(&registers.hp, v));
        let mut hn: [L; V] = std::array::from_fn(|v| at(&registers.hn, v));

        let mut time = from;
        while time < to {
            let inside = time + 1 >= width && time + GROUP <= columns;
            let mut equal = [[zero; GROUP]; V];
            for v in 0..V {
                let rows = if inside {
                    let start = time - v * L::COUNT;
                    let symbols = &text[start..start + GROUP];
                    std::array::from_fn(|u| L::load(strip.row(symbols[u]).add(v * L::COUNT)))
                } else {
                    std::array::from_fn(|u| row(v, time + u))
                };
                equal[v] = delay[v].next(rows);
            }
            if inside {
                // Constant lengths, so that no column is checked on its own.
                let out = time + 1 - width;
                let above: [u8; GROUP] = std::array::from_fn(|u| boundary[time..time + GROUP][u]);
                let mut below = [0; GROUP];
                for (u, below) in below.iter_mut().enumerate() {
                    let equal = std::array::from_fn(|v| equal[v][u]);
                    *below = column::<L, V>(equal, above[u], &mut vp, &mut vn, &mut hp, &mut hn);
                }
                boundary[out..out + GROUP].copy_from_slice(&below);
            } else {
                for now in time..time + GROUP {
                    let (old_vp, old_vn) = (vp, vn);
                    let above = boundary.get(now).copied().unwrap_or(0);
                    let below = column::<L, V>(
                        std::array::from_fn(|v| equal[v][now - time]),
                        above,
                        &mut vp,
                        &mut vn,
                        &mut hp,
                        &mut hn,
                    );
                    if let Some(slot) = boundary.get_mut((now + 1).wrapping_sub(width)) {
                        *slot = below;
                    }
                    if now < columns {
                        continue;
                    }
                    for v in 0..V {
                        let mut active = [0; MAX_WIDTH];
                        for (lane, active) in active[..L::COUNT].iter_mut().enumerate() {
                            let word = v * L::COUNT + lane;
                            *active = if now < columns + word { u64::MAX } else { 0 };
                        }
                        let active = L::load(active.as_ptr());
                        let frozen = active.not();
                        vp[v] = vp[v].and(active).or(old_vp[v].and(frozen));
                        vn[v] = vn[v].and(active).or(old_vn[v].and(frozen));
                    }
                }
            }
            time += GROUP;
        }
        for v in 0..V {
            let to = |words: &mut [u64; MAX_WIDTH]| words.as_mut_ptr().add(v * L::COUNT);
            vp[v].store(to(&mut registers.vp));
            vn[v].store(to(&mut registers.vn));
            hp[v].store(to(&mut registers.hp));
            hn[v].store(to(&mut registers.hn));
        }
    }
}

/// One unit of time for all words; takes the difference above the first word, gives the one
/// below the last.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
unsafe fn column<L: Lanes, const V: usize>(
    equal: [L; V],
    above: u8,
    vp: &mut [L; V],
    vn: &mut [L; V],
    hp: &mut [L; V],
    hn: &mut [L; V],
) -> u8 {
    // SAFETY: the caller has the instruction set of L.
    unsafe {
        let above_plus = L::splat(u64::from(above) << 63);
        let above_minus = L::splat(u64::from(above >> 1) << 63);
        // From the last vector to the first: each needs what its neighbour said the time before.
        for v in (0..V).rev() {
            let plus = hp[v].behind(if v == 0 { above_plus } else { hp[v - 1] });
            let minus = hn[v].behind(if v == 0 { above_minus } else { hn[v - 1] });
            let equal = equal[v].or(minus.top_bits());
            let diagonal = equal.and(vp[v]).add(vp[v]).xor(vp[v]).or(equal.or(vn[v]));
            hp[v] = vn[v].or(diagonal.or(vp[v]).not());
            hn[v] = diagonal.and(vp[v]);
            let plus = hp[v].shift_in(plus);
            let minus = hn[v].shift_in(minus);
            vp[v] = minus.or(diagonal.or(plus).not());
            vn[v] = plus.and(diagonal);
        }
        hp[V - 1].last_top_bit() | (hn[V - 1].last_top_bit() << 1)
    }
}
