//! A plain random fuzzer for AddressSanitizer: strings, limits, units, step sizes and
//! instruction sets at random against the textbook program, for so many rounds.
//!
//! ```text
//! RUSTFLAGS=-Zsanitizer=address cargo +nightly run --release -p plimsoll-levenshtein \
//!     --target x86_64-unknown-linux-gnu --example fuzz -- 20000 1
//! ```
//! Words: rounds (10 000), seed (1). Ends with code 101 and the failing round at the first
//! difference; the sanitizer ends it at the first bad access.

use std::sync::Arc;
use std::task::Poll;

use plimsoll_levenshtein::{
    Distance, InstructionSet, Limit, Options, Query, Search, Unit, distance, matrix,
};

struct Random(u64);

impl Random {
    /// A number below `top`; xorshift64*.
    fn below(&mut self, top: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % top
    }

    fn bytes(&mut self) -> Vec<u8> {
        let longest = [8, 70, 300, 1100, 2300][self.below(5)];
        let alphabet = [1, 2, 5, 128, 256][self.below(5)];
        let length = self.below(longest);
        (0..length).map(|_| self.below(alphabet) as u8).collect()
    }

    fn edited(&mut self, original: &[u8]) -> Vec<u8> {
        let mut bytes = original.to_vec();
        for _ in 0..self.below(30) {
            let place = self.below(bytes.len() + 1);
            match self.below(3) {
                0 if place < bytes.len() => drop(bytes.remove(place)),
                1 if place < bytes.len() => bytes[place] = self.below(256) as u8,
                _ => bytes.insert(place, self.below(256) as u8),
            }
        }
        bytes
    }
}

fn stepped(random: &mut Random, a: &[u8], b: &[u8], options: Options) -> Option<Option<u64>> {
    let sets = InstructionSet::available();
    let set = sets[random.below(sets.len())];
    let mut distance = Distance::new(a, b, options).ok()?.with_instruction_set(set);
    // Now and then it is left in the middle, as when the calling process dies.
    let most = if random.below(8) == 0 {
        random.below(40)
    } else {
        usize::MAX
    };
    for _ in 0..most {
        let operations = random.below(3000) as u64;
        if let Poll::Ready(found) = distance.step(operations).ok()? {
            return Some(found.distance);
        }
    }
    None
}

fn main() {
    let mut words = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse::<u64>().ok());
    let rounds = words.next().unwrap_or(10_000);
    let mut random = Random(words.next().unwrap_or(1).max(1));
    for round in 0..rounds {
        let a = random.bytes();
        let b = if random.below(2) == 0 {
            random.bytes()
        } else {
            random.edited(&a)
        };
        let exact = matrix::distance(&a, &b).unwrap_or(u64::MAX);
        let limit = match random.below(4) {
            0 => Limit::None,
            1 => Limit::Distance(random.below(2000) as u64),
            2 => Limit::Distance(exact.saturating_sub(random.below(3) as u64)),
            _ => Limit::Similarity(random.below(101) as f64 / 100.0),
        };
        let options = Options {
            unit: Unit::Bytes,
            limit,
        };
        let whole = distance(&a, &b, options).expect("bytes have a distance");
        assert!(
            whole.is_none_or(|d| d == exact),
            "round {round}: {whole:?} for {exact}"
        );
        if let Some(found) = stepped(&mut random, &a, &b, options) {
            assert_eq!(found, whole, "round {round}");
        }
        // As code points most of these are no UTF-8: both must say the same of it.
        let options = Options {
            unit: Unit::CodePoints,
            limit,
        };
        if let Some(found) = stepped(&mut random, &a, &b, options) {
            assert_eq!(Ok(found), distance(&a, &b, options), "round {round}");
        }
        if let Ok(query) = Query::new(&a, Unit::Bytes) {
            let search = Search::new(Arc::new(query), vec![&b[..]; random.below(6)], limit);
            let found = search
                .and_then(Search::finish)
                .expect("bytes have a distance");
            assert!(
                found.iter().all(|f| f.distance == whole),
                "round {round}: search"
            );
        }
    }
    println!("{rounds} rounds, no difference");
}
