//! Pseudo-random numbers that are the same on every platform, forever.
//!
//! The generator is `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014): integer arithmetic alone. A
//! crate would bring its own idea of a stable sequence; here the sequence is part of the data format.

/// A sequence of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// The odd number nearest to 2^64 divided by the golden ratio.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// Starts the sequence that `seed` and `parts` name; other parts give independent sequences.
    #[must_use]
    pub fn new(seed: u64, parts: &[u64]) -> Self {
        let state = parts.iter().fold(mix(seed), |state, part| {
            mix(state.wrapping_add(STEP) ^ mix(part.wrapping_add(1)))
        });
        Random { state }
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// Returns a number from 0 to `bound`, exclusive; 0 when the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.number()) * bound as u128;
        // At most `bound` after the shift, which was a `usize`.
        (wide >> 64) as usize
    }

    /// Returns a number from `low` to `high`, both inclusive.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// Returns an element of a list that is not empty.
    pub fn choose<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Returns `count` distinct numbers below `bound`, or all of them when there are fewer.
    pub fn distinct(&mut self, bound: usize, count: usize) -> Vec<usize> {
        let mut drawn: Vec<usize> = Vec::with_capacity(count);
        while drawn.len() < count.min(bound) {
            let next = self.below(bound);
            if !drawn.contains(&next) {
                drawn.push(next);
            }
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_stay_what_they_are() {
        let mut random = Random::new(42, &[1, 2]);
        let first: Vec<usize> = (0..6).map(|_| random.below(1_000)).collect();
        assert_eq!(first, [271, 658, 923, 793, 1, 466]);
    }

    #[test]
    fn distinct_numbers_are_distinct_and_end() {
        let mut random = Random::new(7, &[]);
        let mut all = random.distinct(5, 9);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut random = Random::new(7, &[]);
        let drawn: Vec<usize> = (0..1_000).map(|_| random.between(3, 5)).collect();
        assert!(drawn.iter().all(|n| (3..=5).contains(n)));
        assert!((3..=5).all(|n| drawn.contains(&n)));
    }
}
