/// The arithmetic of the workloads `spin` and `nif-spin`: `steps` steps of Marsaglia's xorshift
/// generator with the triple (13, 17, 5) on 32 bits, from "Xorshift RNGs", Journal of Statistical
/// Software 8 (14), 2003. Period 2³² − 1 over all states but 0, which stays 0. Each step needs the
/// one before it, so nothing can be vectorised or left out.
pub fn spin(mut state: u32, steps: u64) -> u32 {
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    state
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::spin;

    /// The same map as a matrix over GF(2), raised to a power by squaring: an oracle that shares
    /// neither the shifts nor the loop's length with the code.
    fn by_matrix(state: u32, mut steps: u64) -> u32 {
        let mut power: Vec<u32> = (0..32).map(|bit| step_bits(1 << bit)).collect();
        let apply = |matrix: &[u32], v: u32| {
            (0..32)
                .filter(|bit| (v >> bit) & 1 == 1)
                .fold(0, |sum, bit| sum ^ matrix[bit])
        };
        let mut v = state;
        while steps > 0 {
            if steps & 1 == 1 {
                v = apply(&power, v);
            }
            power = power.iter().map(|&column| apply(&power, column)).collect();
            steps >>= 1;
        }
        v
    }

    /// One step, bit by bit.
    fn step_bits(state: u32) -> u32 {
        let shifted = |v: &[bool], by: i32| -> Vec<bool> {
            let bit = |i: i32| usize::try_from(i).ok().and_then(|i| v.get(i)) == Some(&true);
            (0..32).map(|i| bit(i) ^ bit(i - by)).collect()
        };
        let bits: Vec<bool> = (0..32).map(|i| (state >> i) & 1 == 1).collect();
        let bits = [13, -17, 5]
            .iter()
            .fold(bits, |bits, &by| shifted(&bits, by));
        (0..32).map(|i| u32::from(bits[i]) << i).sum()
    }

    #[test]
    fn no_state_but_zero_is_left_out_of_the_period() {
        let period = (1 << 32) - 1;
        assert_eq!(by_matrix(1, period), 1);
        for prime in [3, 5, 17, 257, 65537] {
            assert_ne!(by_matrix(1, period / prime), 1);
        }
    }

    proptest! {
        #[test]
        fn spinning_equals_the_matrix_power(state: u32, steps in 0u64..3000) {
            prop_assert_eq!(spin(state, steps), by_matrix(state, steps));
        }
    }
}
