//! A small generator of random numbers, so that a seed means the same case everywhere.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a small number");
        usize::try_from(self.number() % bound).expect("a small number")
    }

    /// A number of `least` to `most`.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// True in so many cases of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of some strings.
    pub fn word<'a>(&mut self, items: &[&'a str]) -> &'a str {
        self.choose(items)
    }

    /// What `make` makes, in so many cases of a hundred.
    pub fn maybe<T>(&mut self, percent: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.chance(percent).then(|| make(self))
    }

    /// A copy of some item.
    pub fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        *self.pick(items)
    }

    /// Some item, when there is one.
    pub fn some<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

/// Makes a number of which each bit depends on all bits of another.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
