//! Texts with what is known of each.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// A table of texts, one behind the other.
#[derive(Debug)]
pub(super) struct Texts<T> {
    all: Vec<u8>,
    known: HashTable<(Range<usize>, T)>,
    hasher: RandomState,
}

impl<T> Default for Texts<T> {
    fn default() -> Self {
        Texts {
            all: Vec::new(),
            known: HashTable::new(),
            hasher: RandomState::default(),
        }
    }
}

impl<T: Copy> Texts<T> {
    /// Returns what is known of a text.
    pub(super) fn get(&self, text: &[u8]) -> Option<T> {
        if self.known.is_empty() {
            return None;
        }
        let is_same = |(range, _): &(Range<usize>, T)| self.all[range.clone()] == *text;
        let found = self.known.find(self.hasher.hash_one(text), is_same);
        found.map(|(_, known)| *known)
    }

    /// Adds a text that is not there.
    pub(super) fn insert(&mut self, text: &[u8], known: T) {
        let begin = self.all.len();
        self.all.extend_from_slice(text);
        let (all, hasher) = (&self.all, &self.hasher);
        let hash = |range: &Range<usize>| hasher.hash_one(&all[range.clone()]);
        let range = begin..all.len();
        self.known
            .insert_unique(hash(&range), (range, known), |(range, _)| hash(range));
    }
}
