//! An interner: texts, each once.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// The number of a text.
pub(super) type TextId = usize;

/// A table of texts, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Interner {
    all: Vec<u8>,
    ranges: Vec<Range<usize>>,
    known: HashTable<TextId>,
    hasher: RandomState,
}

impl Interner {
    /// Returns a text.
    pub(super) fn get(&self, id: TextId) -> &[u8] {
        &self.all[self.ranges[id].clone()]
    }

    /// Adds a text, and returns its number, which is that of an equal one if there is one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<TextId, E> {
        let begin = self.all.len();
        if let Err(error) = write(&mut self.all) {
            self.all.truncate(begin);
            return Err(error);
        }
        let (all, ranges, hasher) = (&self.all, &self.ranges, &self.hasher);
        let text = &all[begin..];
        let of = |id: TextId| &all[ranges[id].clone()];
        let hash = hasher.hash_one(text);
        if let Some(known) = self.known.find(hash, |id| of(*id) == text) {
            let known = *known;
            self.all.truncate(begin);
            return Ok(known);
        }
        let id = ranges.len();
        self.known
            .insert_unique(hash, id, |id| hasher.hash_one(of(*id)));
        self.ranges.push(begin..self.all.len());
        Ok(id)
    }
}
