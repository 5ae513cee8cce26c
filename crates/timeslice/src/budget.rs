//! When to look at the clock and when to give the scheduler back: no NIF calls in here, so that
//! the decisions are tested with a clock that is told what to say.

/// Nanoseconds between two looks at the clock that the budget steers for. A look and the step
/// around it cost some 0.2 µs. A step that turns out nine times as slow as foreseen still ends
/// within a millisecond.
pub const BETWEEN_LOOKS: u64 = 100_000;

/// Nanoseconds after which a slice on a normal scheduler ends. To give the scheduler back and get
/// it again costs 0.5 to 1 µs, so much shorter slices would cost more than 1 % of the work; longer
/// ones would make others wait longer, to whom the VM promises a turn after 4000 reductions, which
/// compiled Erlang uses up in some 12 µs.
pub const SLICE: u64 = 200_000;

/// Nanoseconds in which a dead caller is to be noticed on a dirty scheduler.
pub const DIRTY_LOOKS: u64 = 500_000;

/// A step may have at most so many times the operations of the one before: a cheap phase of the
/// computation must not promise too much for the next one.
const MOST_GROWTH: u64 = 4;

/// Tells the time.
pub trait Clock {
    /// Nanoseconds since some fixed moment.
    fn now(&mut self) -> u64;
}

/// The monotonic clock of the machine.
#[derive(Debug)]
pub struct Monotonic(std::time::Instant);

impl Default for Monotonic {
    fn default() -> Self {
        Self(std::time::Instant::now())
    }
}

impl Clock for Monotonic {
    fn now(&mut self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// How many operations fit in how much time, learnt from the steps so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Nanoseconds an operation in the last two steps; zero before the first.
    costs: [f64; 2],
    /// Operations of the last step.
    last: u64,
    first: u64,
}

impl Rate {
    /// Nothing known; the first step will have `first` operations.
    #[must_use]
    pub fn unknown(first: u64) -> Self {
        Self {
            costs: [0.0; 2],
            last: 0,
            first: first.max(1),
        }
    }

    /// Operations that are likely to take no longer than `nanoseconds`, at least one: at the
    /// slower of the last two rates, because to be late is what hurts, and because a step during
    /// which the operating system took the core away is then forgotten after one more.
    #[must_use]
    pub fn operations(&self, nanoseconds: u64) -> u64 {
        if self.last == 0 {
            return self.first;
        }
        let cost = self.costs[0].max(self.costs[1]).max(1e-3);
        ((nanoseconds as f64 / cost) as u64).clamp(1, self.last.saturating_mul(MOST_GROWTH))
    }

    /// Learns from a step.
    pub fn learn(&mut self, operations: u64, nanoseconds: u64) {
        let operations = operations.max(1);
        self.costs = [self.costs[1], nanoseconds.max(1) as f64 / operations as f64];
        self.last = operations;
    }
}

/// What to do after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another step.
    GoOn,
    /// Give the scheduler back.
    Yield,
}

/// One stay on a scheduler.
#[derive(Debug)]
pub struct Slice<'a, C> {
    clock: &'a mut C,
    rate: &'a mut Rate,
    start: u64,
    now: u64,
    /// Nanoseconds that it may last.
    length: u64,
    /// Nanoseconds already told to the scheduler.
    told: u64,
    looks: u64,
}

impl<'a, C: Clock> Slice<'a, C> {
    /// A slice of at most `length` nanoseconds from now on.
    pub fn begin(clock: &'a mut C, rate: &'a mut Rate, length: u64, looks: u64) -> Self {
        let now = clock.now();
        Self {
            clock,
            rate,
            start: now,
            now,
            length,
            told: 0,
            looks,
        }
    }

    /// Operations for the next step.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.rate
            .operations(self.looks.min(self.length.saturating_sub(self.elapsed())))
    }

    /// Looks at the clock after a step of so many operations. Yields when another step would
    /// probably end too late.
    pub fn after(&mut self, operations: u64) -> Next {
        let before = self.now;
        self.now = self.clock.now();
        self.rate.learn(operations, self.now.saturating_sub(before));
        // Less than half a look is left: not worth a step of its own.
        let left = self.length.saturating_sub(self.elapsed());
        if left < self.looks / 2 {
            Next::Yield
        } else {
            Next::GoOn
        }
    }

    /// Nanoseconds since it began, as of the last look.
    #[must_use]
    pub fn elapsed(&self) -> u64 {
        self.now.saturating_sub(self.start)
    }

    /// Whole per cents of its length that have passed and not been told yet, 0 to 100: what
    /// `enif_consume_timeslice` takes.
    pub fn untold_percent(&mut self) -> u8 {
        let one = (self.length / 100).max(1);
        let percent = (self.elapsed().saturating_sub(self.told) / one).min(100);
        self.told += percent * one;
        percent as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A machine on which an operation takes a time that the test sets.
    #[derive(Default)]
    struct Machine {
        now: f64,
        looks: u64,
    }

    impl Clock for Machine {
        fn now(&mut self) -> u64 {
            self.looks += 1;
            self.now as u64
        }
    }

    /// Runs slices until `total` operations are done; gives the slices' nanoseconds and the
    /// looks at the clock.
    fn run(total: u64, cost: impl Fn(u64) -> f64) -> (Vec<u64>, u64) {
        let (mut machine, mut rate) = (Machine::default(), Rate::unknown(1000));
        let (mut slices, mut done) = (Vec::new(), 0);
        while done < total {
            // The clock is shared between the slice and the work, which is all that moves it.
            let mut slice = Slice::begin(&mut machine, &mut rate, SLICE, BETWEEN_LOOKS);
            loop {
                let operations = slice.operations().min(total - done);
                slice.clock.now += operations as f64 * cost(done);
                done += operations;
                if slice.after(operations) == Next::Yield || done == total {
                    break;
                }
            }
            slices.push(slice.elapsed());
        }
        (slices, machine.looks)
    }

    #[test]
    fn slices_are_nearly_full_and_never_long_at_a_steady_rate() {
        for cost in [0.1, 1.0, 10.0, 50.0] {
            let (slices, looks) = run((100_000_000.0 / cost) as u64, |_| cost);
            let (_, whole) = slices.split_last().unwrap();
            let full = SLICE * 7 / 10..=SLICE;
            assert!(whole.iter().all(|s| full.contains(s)), "{cost}: {slices:?}");
            // One look to begin with and one after each of two steps.
            assert!(looks < 4 * (100_000_000 / SLICE), "{cost}: {looks}");
        }
    }

    #[test]
    fn a_phase_that_is_suddenly_nine_times_as_slow_stays_within_a_millisecond() {
        for change in (1..100).map(|i| i * 10_000) {
            let (slices, _) = run(3_000_000, |done| if done < change { 1.0 } else { 9.0 });
            assert!(
                slices.iter().all(|s| *s <= 1_000_000),
                "{change}: {slices:?}"
            );
            // Only the one step that met the change can have been longer than foreseen.
            assert!(slices.iter().filter(|s| **s > SLICE).count() <= 1);
        }
    }

    #[test]
    fn one_interruption_is_forgotten_after_one_more_step() {
        let mut rate = Rate::unknown(50_000);
        for _ in 0..3 {
            rate.learn(50_000, 50_000);
        }
        rate.learn(50_000, 10_000_000);
        assert_eq!(rate.operations(50_000), 250);
        rate.learn(250, 250);
        assert_eq!(rate.operations(50_000), 250);
        rate.learn(250, 250);
        assert_eq!(rate.operations(50_000), 1000);
    }

    #[test]
    fn the_first_step_is_small_and_growth_is_bounded() {
        let mut rate = Rate::unknown(1000);
        assert_eq!(rate.operations(u64::MAX), 1000);
        rate.learn(1000, 1);
        assert_eq!(rate.operations(u64::MAX), 4000);
    }

    #[test]
    fn an_operation_longer_than_a_slice_is_done_one_at_a_time() {
        let (slices, _) = run(5, |_| 3_000_000.0);
        assert_eq!(slices.len(), 1, "the first step could not know");
        let mut rate = Rate::unknown(1);
        rate.learn(1, 3_000_000);
        assert_eq!(rate.operations(BETWEEN_LOOKS), 1);
    }

    #[test]
    fn every_per_cent_is_told_to_the_scheduler_once() {
        let (mut machine, mut rate) = (Machine::default(), Rate::unknown(1));
        let mut slice = Slice::begin(&mut machine, &mut rate, 1_000_000, BETWEEN_LOOKS);
        let mut told = 0;
        for step in [3_000.0, 9_000.0, 55_000.0, 1_000.0, 400_000.0] {
            slice.clock.now += step;
            slice.after(1);
            told += u64::from(slice.untold_percent());
        }
        assert_eq!(told, 46);
        assert_eq!(slice.untold_percent(), 0);
    }

    proptest! {
        #[test]
        fn no_slice_exceeds_its_length_by_more_than_the_step_that_surprised(
            costs in proptest::collection::vec(0.01f64..100.0, 1..30),
        ) {
            let per_phase = 40_000;
            let total = per_phase * costs.len() as u64;
            let cost = |done: u64| costs[((done / per_phase) as usize).min(costs.len() - 1)];
            let (slices, _) = run(total, cost);
            // A step is foreseen to take at most BETWEEN_LOOKS; the surprise is the ratio of two
            // phases, or the first step.
            let dearest = costs.iter().copied().fold(0.0, f64::max);
            let cheapest = costs.iter().copied().fold(f64::MAX, f64::min);
            let surprise = BETWEEN_LOOKS as f64 * dearest / cheapest + 1000.0 * dearest;
            prop_assert!(slices.iter().all(|s| *s as f64 <= SLICE as f64 + surprise));
        }
    }
}
