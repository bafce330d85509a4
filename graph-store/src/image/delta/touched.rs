//! Which keys have changed triples: a filter that knows all that have, and takes few others for such.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Keys for each word of 64 bits, at most: about one of thirty other keys is taken for one of them.
const KEYS_PER_WORD: usize = 8;

/// Words of the smallest filter.
const WORDS: usize = 4;

/// Keys that some changed triple has.
///
/// The data before and after a change share the bits: a key too many costs a look-up and nothing else.
#[derive(Clone, Default)]
pub(super) struct Touched {
    /// As many as a power of two, or none.
    words: Arc<[AtomicU64]>,
    /// About the number of keys.
    keys: usize,
}

impl Touched {
    /// Returns whether a key may be one of these.
    #[inline]
    pub(super) fn contains(&self, key: u32) -> bool {
        // Whoever has data sees what was noted before they were shown.
        self.place(key)
            .is_some_and(|(word, bits)| word.load(Ordering::Relaxed) & bits == bits)
    }

    /// Returns about how many keys there are.
    pub(super) fn len(&self) -> usize {
        self.keys
    }

    /// Adds a key; `all` are those that are known, where a larger filter is made of them.
    pub(super) fn insert(&mut self, key: u32, all: impl Iterator<Item = u32>) {
        if self.contains(key) {
            return;
        }
        if self.keys >= self.words.len() * KEYS_PER_WORD {
            *self = Touched {
                words: words(WORDS.max(2 * self.words.len())),
                keys: 0,
            };
            all.for_each(|key| self.note(key));
        }
        self.note(key);
    }

    fn note(&mut self, key: u32) {
        if let Some((word, bits)) = self.place(key) {
            let before = word.fetch_or(bits, Ordering::Relaxed);
            self.keys += usize::from(before & bits != bits);
        }
    }

    /// Returns the word of a key, and its bits there.
    #[inline]
    fn place(&self, key: u32) -> Option<(&AtomicU64, u64)> {
        // A multiplicative hash, whose high bits depend on all of the key.
        let hash = u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let last = self.words.len().checked_sub(1)?;
        let bits = 1 << (hash >> 58) | 1 << (hash >> 52 & 63);
        Some((self.words.get((hash >> 20) as usize & last)?, bits))
    }
}

fn words(count: usize) -> Arc<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_known_and_few_others_are_taken_for_such() {
        let mut touched = Touched::default();
        assert!(!touched.contains(0) && touched.len() == 0);
        let keys = |count: u32| (0..count).map(|number| number.wrapping_mul(7_919));
        for (count, key) in keys(10_000).enumerate() {
            touched.insert(key, keys(count as u32));
        }
        assert!(keys(10_000).all(|key| touched.contains(key)));
        // About, since some are taken for others.
        assert!((9_500..=10_000).contains(&touched.len()));
        let others = (0..100_000).map(|number| 1_000_000_007 + 13 * number);
        let wrong = others.filter(|key| touched.contains(*key)).count();
        assert!(wrong < 8_000, "{wrong}");
    }

    #[test]
    fn data_before_a_change_keep_their_keys_when_the_filter_grows() {
        let mut touched = Touched::default();
        touched.insert(1, [].into_iter());
        let before = touched.clone();
        for key in 2..1_000 {
            touched.insert(key, 1..key);
        }
        assert!(before.contains(1) && before.words.len() == WORDS);
        assert!((1..1_000).all(|key| touched.contains(key)));
    }
}
