//! The order of runs inside a block.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// The order in which the cells (arm × level) 0…`cells` − 1 of one block are run: a permutation in
/// which every order is equally likely, drawn afresh for every block from `(seed, block)` alone, so
/// that a resumed experiment goes on as planned.
///
/// The tests here rest on this. When two arms do not differ, exchanging their places in a block changes
/// nothing but the sign of the block's difference; as both orders are equally likely in every block,
/// the sign-flip test is exact whatever the noise does over the session.
pub fn block_order(cells: usize, seed: u64, block: usize) -> Vec<usize> {
    let mut rng = rng(seed, block as u64);
    let mut order: Vec<usize> = (0..cells).collect();
    order.shuffle(&mut rng);
    order
}

/// A generator of its own for each `(seed, stream)`.
pub(crate) fn rng(seed: u64, stream: u64) -> Pcg64 {
    // Odd multiplier: different streams of one seed never meet (Weyl sequence); seed_from_u64 mixes.
    Pcg64::seed_from_u64(seed ^ stream.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_order_is_equally_likely() {
        let mut counts = BTreeMap::new();
        for block in 0..6_000 {
            *counts.entry(block_order(3, 7, block)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Standard deviation of each count: sqrt(6000·1/6·5/6) = 29.
        assert!(
            counts.values().all(|&c| c.abs_diff(1_000) < 130),
            "{counts:?}"
        );
    }

    #[test]
    fn an_order_depends_on_seed_and_block_alone() {
        assert_eq!(block_order(20, 1, 5), block_order(20, 1, 5));
        assert_ne!(block_order(20, 1, 5), block_order(20, 1, 6));
        assert_ne!(block_order(20, 1, 5), block_order(20, 2, 5));
        assert!(block_order(0, 1, 1).is_empty());
    }
}
