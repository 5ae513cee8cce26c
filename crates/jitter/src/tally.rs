//! The wake-ups of one run.

use hdrhistogram::Histogram;
use plimsoll_schema::{Lateness, LatenessBin};

/// Time between two heartbeats: after so long without one the VM was already silent.
const BEAT_US: i64 = 100_000;
/// A probe reports as soon as it has so much of its schedule to report (`Plimsoll.Jitter.Probe`).
const BATCH_US: u64 = 100_000;

/// Counts the wake-ups of one run in an HDR histogram with three significant digits, and knows which
/// wake-ups of the schedule have not been reported.
#[derive(Debug)]
pub struct Tally {
    histogram: Histogram<u64>,
    period_us: u64,
    /// For each probe: first intended time in the window, number of wake-ups, next one to be reported.
    probes: Vec<(u64, u64, u64)>,
    last_beat_us: i64,
    lower_bounds: u64,
    unknown: u64,
}

impl Tally {
    /// A run of `probes` probes with one period, over a window; their first wake-ups are spread over a
    /// period on whole milliseconds, as `Plimsoll.Jitter.Schedule.spread/4` has it.
    pub fn new(probes: u32, period_us: u64, window_us: u64) -> Self {
        let period_us = period_us.max(1);
        let probe = |index: u64| {
            let first = index * period_us / u64::from(probes) / 1000 * 1000;
            (
                first,
                window_us.saturating_sub(first).div_ceil(period_us),
                0,
            )
        };
        Self {
            histogram: Histogram::new(3).expect("three digits are within the bounds"),
            period_us,
            probes: (0..u64::from(probes)).map(probe).collect(),
            last_beat_us: i64::MIN,
            lower_bounds: 0,
            unknown: 0,
        }
    }

    /// Latenesses in microseconds of wake-ups `from`, `from + 1`, … of a probe. An error when they are
    /// not the ones that come next.
    pub fn record(&mut self, probe: usize, from: u64, late_us: &[u64]) -> Result<(), String> {
        let Some((_, count, next)) = self.probes.get_mut(probe) else {
            return Err(format!(
                "the VM reports probe {probe}, which does not exist"
            ));
        };
        let after = from.saturating_add(late_us.len() as u64);
        if from != *next || after > *count {
            return Err(format!(
                "the VM reports wake-ups {from} to {after} of probe {probe} instead of {next}"
            ));
        }
        *next = after;
        late_us.iter().for_each(|&late| self.count(late));
        Ok(())
    }

    /// The VM was alive at this time of the window, microseconds.
    pub fn beat(&mut self, at_us: i64) {
        self.last_beat_us = self.last_beat_us.max(at_us);
    }

    /// The VM was ended at this time of the window. Wake-ups that it has not reported are counted with
    /// what is known of them:
    ///
    /// - one that was intended since the VM fell silent is at least as late as the time that has passed;
    /// - of those before, a probe keeps back less than a batch, so the others had not come by the last
    ///   heartbeat and are at least as late as it was;
    /// - the rest, less than a batch for each probe and what was intended just before the silence, may
    ///   have come and not been reported: unknown.
    pub fn cut_off(&mut self, at_us: i64) {
        let (last_beat, silent_since) =
            (self.last_beat_us, self.last_beat_us.saturating_add(BEAT_US));
        let kept_back = (BATCH_US / self.period_us).max(1) - 1;
        let mut bounds = Vec::new();
        for (first, count, next) in &mut self.probes {
            let reported = *next;
            for number in reported..*count {
                let Ok(intended) = i64::try_from(*first + number * self.period_us) else {
                    break;
                };
                if intended >= at_us {
                    break;
                }
                if intended >= silent_since {
                    bounds.push(at_us.abs_diff(intended));
                } else if number >= reported + kept_back && intended < last_beat {
                    bounds.push(last_beat.abs_diff(intended));
                } else {
                    self.unknown += 1;
                }
                *next = number + 1;
            }
        }
        self.lower_bounds += bounds.len() as u64;
        bounds.into_iter().for_each(|late| self.count(late));
    }

    fn count(&mut self, late_us: u64) {
        // It resizes itself; only a value near 2⁶⁴ cannot be counted, and no lateness is that.
        let _ = self.histogram.record(late_us);
    }

    /// Wake-ups counted, lower bounds included.
    pub fn wakeups(&self) -> u64 {
        self.histogram.len()
    }

    /// Wake-ups that never came before the VM was ended.
    pub fn lower_bounds(&self) -> u64 {
        self.lower_bounds
    }

    /// Wake-ups of which nothing is known.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The run's figures; `None` without wake-ups.
    pub fn lateness(&self) -> Option<Lateness> {
        let worst = self.histogram.max();
        let quantile = |q| self.histogram.value_at_quantile(q).min(worst);
        (!self.histogram.is_empty()).then(|| Lateness {
            median_us: quantile(0.5),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            worst_us: worst,
        })
    }

    /// Its bars, with two significant digits: enough to draw and to add up.
    pub fn bins(&self) -> Vec<LatenessBin> {
        let mut coarse = Histogram::<u64>::new(2).expect("two digits are within the bounds");
        for value in self.histogram.iter_recorded() {
            let _ = coarse.record_n(value.value_iterated_to(), value.count_at_value());
        }
        coarse
            .iter_recorded()
            .map(|v| LatenessBin {
                up_to_us: v.value_iterated_to(),
                count: v.count_at_value(),
            })
            .collect()
    }
}

/// All bars together. Runs whose histograms have the same edges, which those of [`Tally::bins`] have.
pub(crate) fn merged<'a>(runs: impl Iterator<Item = &'a [LatenessBin]>) -> Vec<LatenessBin> {
    let mut all = std::collections::BTreeMap::new();
    for bin in runs.flatten() {
        *all.entry(bin.up_to_us).or_insert(0) += bin.count;
    }
    all.into_iter()
        .map(|(up_to_us, count)| LatenessBin { up_to_us, count })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally_of(late: &[u64]) -> Tally {
        let mut tally = Tally::new(1, 1000, 1000 * late.len() as u64);
        tally.record(0, 0, late).unwrap();
        tally
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_values_within_a_thousandth(
            late in proptest::collection::vec(0u64..100_000_000, 1..2000),
        ) {
            let mut sorted = late.clone();
            sorted.sort_unstable();
            let found = tally_of(&late).lateness().unwrap();
            for (q, value) in [(0.5, found.median_us), (0.99, found.p99_us), (0.999, found.p999_us)] {
                // The smallest value that at least the share q does not exceed.
                let rank = (q * late.len() as f64).ceil().max(1.0) as usize;
                let exact = sorted[rank - 1];
                prop_assert!(value.abs_diff(exact) <= exact / 1000 + 1, "{q}: {value} for {exact}");
            }
            prop_assert!(found.worst_us.abs_diff(*sorted.last().unwrap()) <= sorted.last().unwrap() / 1000);
        }

        #[test]
        fn bars_of_several_runs_add_up_to_those_of_all_wake_ups(
            runs in proptest::collection::vec(proptest::collection::vec(0u64..10_000_000, 1..200), 1..6),
        ) {
            let bins: Vec<_> = runs.iter().map(|run| tally_of(run).bins()).collect();
            let together = tally_of(&runs.concat());
            prop_assert_eq!(merged(bins.iter().map(Vec::as_slice)), together.bins());
        }

        #[test]
        fn a_bar_is_at_most_one_hundredth_above_what_it_counts(late in 0u64..10_000_000_000) {
            let bins = tally_of(&[late]).bins();
            prop_assert_eq!(bins.len(), 1);
            prop_assert!(bins[0].up_to_us >= late && bins[0].up_to_us <= late + late / 100 + 1);
        }

        #[test]
        fn after_a_cut_every_intended_time_before_it_is_accounted_for(
            probes in 1u32..12, period in 1u64..40, window in 1u64..3000, reported in 0u64..40,
            beat in 0i64..2000, silence in 0i64..5000,
        ) {
            let mut tally = Tally::new(probes, period * 1000, window * 1000);
            let mut sent = 0;
            for probe in 0..probes as usize {
                let n = reported.min(tally.probes[probe].1);
                tally.record(probe, 0, &vec![5; n as usize]).unwrap();
                sent += n;
            }
            tally.beat(beat * 1000);
            let end = (beat + silence) * 1000;
            tally.cut_off(end);
            // By brute force, from the definition of the schedule.
            let (mut unknown, mut bounds, mut worst) = (0, 0, 0);
            let batch = (100 / period).max(1);
            for probe in 0..u64::from(probes) {
                let first = (probe * period * 1000 / u64::from(probes)) / 1000 * 1000;
                let mut k = 0;
                while first + k * period * 1000 < window * 1000 {
                    let intended = (first + k * period * 1000) as i64;
                    if k >= reported && intended < end {
                        let bound = if intended >= beat * 1000 + 100_000 {
                            Some(end - intended)
                        } else if intended < beat * 1000 && k - reported + 1 >= batch {
                            Some(beat * 1000 - intended)
                        } else {
                            None
                        };
                        match bound {
                            Some(bound) => {
                                bounds += 1;
                                worst = worst.max(bound);
                            }
                            None => unknown += 1,
                        }
                    }
                    k += 1;
                }
            }
            prop_assert_eq!((tally.unknown(), tally.lower_bounds()), (unknown, bounds));
            prop_assert_eq!(tally.wakeups(), sent + bounds);
            if bounds > 0 {
                prop_assert!(tally.lateness().unwrap().worst_us >= worst as u64);
            }
        }
    }

    #[test]
    fn reports_that_leave_a_hole_or_come_twice_are_refused() {
        let mut tally = Tally::new(2, 10_000, 100_000);
        tally.record(0, 0, &[1, 2]).unwrap();
        assert!(
            tally
                .record(0, 0, &[1])
                .unwrap_err()
                .contains("instead of 2")
        );
        assert!(tally.record(0, 3, &[1]).is_err());
        assert!(tally.record(2, 0, &[1]).unwrap_err().contains("probe 2"));
        assert!(tally.record(1, 0, &[1; 11]).is_err());
        assert!(tally.record(1, u64::MAX, &[1]).is_err());
        assert_eq!(tally.wakeups(), 2);
    }
}
