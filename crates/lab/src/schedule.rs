//! Which run comes when.

use plimsoll_schema::Experiment;
use plimsoll_stats::{block_order, default_blocks};

use crate::effects::comparisons;

/// One run that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Its block, from 0.
    pub block: usize,
    /// Its place in the order of all runs, from 0.
    pub order: usize,
    /// Index of its arm.
    pub arm: usize,
    /// Its level.
    pub level: u32,
    /// Seed for the workload and for what the run varies on purpose.
    pub seed: u64,
}

/// The runs of one block, in order: a function of the seed and the block alone, so that an
/// interrupted experiment goes on exactly where it stopped.
///
/// Levels come in random order, and at each level the arms in random order, next to each other in
/// time because they are paired. Every block is shuffled by itself: in every pair either arm comes
/// first with equal probability, whatever came before, which is what makes the sign-flip test exact.
pub fn schedule_block(seed: u64, arms: usize, levels: &[u32], block: usize) -> Vec<Planned> {
    let mut planned = Vec::with_capacity(arms * levels.len());
    for level in block_order(levels.len(), seed, block) {
        let level_seed = mix(seed, block as u64, u64::from(levels[level]));
        for arm in block_order(arms, level_seed, block) {
            planned.push(Planned {
                block,
                order: block * arms * levels.len() + planned.len(),
                arm,
                level: levels[level],
                // The same for all arms at a level: arms are compared on the same work. 48 bits are
                // exact in every language's numbers.
                seed: level_seed >> 16,
            });
        }
    }
    planned
}

/// SplitMix64's finaliser (Steele, Lea and Flood 2014) over the three words.
fn mix(seed: u64, index: u64, stream: u64) -> u64 {
    let mut z = seed ^ index.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ stream.rotate_left(32);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// How many blocks to run when the user gave neither a number nor a budget: as many as the stated
/// error rate needs over all effects of the experiment.
pub fn block_count(experiment: &Experiment) -> usize {
    let effects = comparisons(experiment).len();
    default_blocks(effects.max(1), experiment.design.error_rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_block_holds_every_arm_at_every_level_once(seed: u64, arms in 1usize..6, block in 0usize..9) {
            let levels = [1, 2, 4, 44];
            let planned = schedule_block(seed, arms, &levels, block);
            let cells: BTreeSet<_> = planned.iter().map(|p| (p.arm, p.level)).collect();
            prop_assert_eq!(cells.len(), arms * levels.len());
            prop_assert_eq!(planned.len(), arms * levels.len());
        }

        #[test]
        fn arms_of_a_block_work_on_the_same_seed(seed: u64, block in 0usize..9) {
            let planned = schedule_block(seed, 3, &[1, 8], block);
            for level in [1, 8] {
                let seeds: BTreeSet<_> = planned.iter().filter(|p| p.level == level).map(|p| p.seed).collect();
                prop_assert_eq!(seeds.len(), 1);
            }
        }
    }

    #[test]
    fn orders_are_numbered_through_all_blocks() {
        let orders: Vec<usize> = (0..3)
            .flat_map(|b| schedule_block(7, 2, &[1, 2], b))
            .map(|p| p.order)
            .collect();
        assert_eq!(orders, (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn each_arm_comes_first_about_equally_often() {
        let firsts = (0..2_000)
            .filter(|b| schedule_block(1, 2, &[1], *b)[0].arm == 0)
            .count();
        // Standard deviation of the count: sqrt(2000 ÷ 4) = 22.
        assert!(firsts.abs_diff(1_000) < 112, "{firsts}");
    }
}
