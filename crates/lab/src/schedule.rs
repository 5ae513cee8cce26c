//! Which run comes when.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand::RngCore;
use rand_pcg::Pcg64Mcg;

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
/// time because they are paired. Every second block is the mirror image of the one before it (ABBA),
/// so that a steady drift cancels in each pair of blocks.
pub fn schedule_block(seed: u64, arms: usize, levels: &[u32], block: usize) -> Vec<Planned> {
    let cells = arms * levels.len();
    let mut order = shuffled_cells(seed, arms, levels, block / 2);
    if block % 2 == 1 {
        order.reverse();
    }
    let mut seeds = Pcg64Mcg::seed_from_u64(mix(seed, block as u64, 0xB10C));
    // One seed for all arms at a level: arms are compared on the same work.
    let by_level: Vec<u64> = levels.iter().map(|_| seeds.next_u64() >> 16).collect();
    order
        .into_iter()
        .enumerate()
        .map(|(place, (arm, level))| Planned {
            block,
            order: block * cells + place,
            arm,
            level: levels[level],
            seed: by_level[level],
        })
        .collect()
}

fn shuffled_cells(seed: u64, arms: usize, levels: &[u32], pair: usize) -> Vec<(usize, usize)> {
    let mut rng = Pcg64Mcg::seed_from_u64(mix(seed, pair as u64, 0x0DE5));
    let mut level_order: Vec<usize> = (0..levels.len()).collect();
    level_order.shuffle(&mut rng);
    let mut cells = Vec::with_capacity(arms * levels.len());
    for level in level_order {
        let mut arm_order: Vec<usize> = (0..arms).collect();
        arm_order.shuffle(&mut rng);
        cells.extend(arm_order.into_iter().map(|arm| (arm, level)));
    }
    cells
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
pub fn block_count(arms: usize, levels: usize, error_rate: f64) -> usize {
    let effects = arms.saturating_sub(1) * levels;
    plimsoll_stats::default_blocks(effects.max(1), error_rate)
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
        fn every_second_block_mirrors_the_one_before(seed: u64, arms in 1usize..6, pair in 0usize..9) {
            let cells = |block| schedule_block(seed, arms, &[1, 8], block).into_iter().map(|p| (p.arm, p.level)).collect::<Vec<_>>();
            let mut mirrored = cells(2 * pair + 1);
            mirrored.reverse();
            prop_assert_eq!(cells(2 * pair), mirrored);
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
        let orders: Vec<usize> =
            (0..3).flat_map(|b| schedule_block(7, 2, &[1, 2], b)).map(|p| p.order).collect();
        assert_eq!(orders, (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn each_arm_comes_first_about_equally_often() {
        let firsts = (0..200).filter(|b| schedule_block(1, 2, &[1], *b)[0].arm == 0).count();
        assert_eq!(firsts, 100, "mirrored pairs balance exactly");
    }
}
