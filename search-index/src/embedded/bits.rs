//! Sets of documents of a segment.

use tantivy::DocId;

/// A set of documents, one bit for each of the segment.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    words: Vec<u64>,
    size: DocId,
}

impl Bits {
    /// Creates an empty set of documents below `size`.
    pub(super) fn new(size: DocId) -> Self {
        Bits {
            words: vec![0; Bits::bytes(size) / 8],
            size,
        }
    }

    /// Returns the memory of a set, in bytes.
    pub(super) fn bytes(size: DocId) -> usize {
        (size as usize).div_ceil(64) * 8
    }

    pub(super) fn insert(&mut self, doc: DocId) {
        self.words[doc as usize / 64] |= 1 << (doc % 64);
    }

    pub(super) fn contains(&self, doc: DocId) -> bool {
        self.words[doc as usize / 64] >> (doc % 64) & 1 == 1
    }

    /// Returns the first document from `doc` on.
    pub(super) fn next(&self, doc: DocId) -> Option<DocId> {
        if doc >= self.size {
            return None;
        }
        let mut at = doc as usize / 64;
        let mut word = self.words[at] & (u64::MAX << (doc % 64));
        while word == 0 {
            at += 1;
            word = *self.words.get(at)?;
        }
        Some(at as DocId * 64 + word.trailing_zeros())
    }

    /// Returns the last document before `doc`.
    pub(super) fn before(&self, doc: DocId) -> Option<DocId> {
        if doc == 0 || self.size == 0 {
            return None;
        }
        let last = doc.min(self.size) - 1;
        let mut at = last as usize / 64;
        let mut word = self.words[at] & (u64::MAX >> (63 - last % 64));
        while word == 0 {
            at = at.checked_sub(1)?;
            word = self.words[at];
        }
        Some(at as DocId * 64 + 63 - word.leading_zeros())
    }

    /// Returns where the documents begin of which `doc` is the last: behind the one of the set before it.
    pub(super) fn start(&self, doc: DocId) -> DocId {
        self.before(doc).map_or(0, |before| before + 1)
    }

    /// Returns the number of documents.
    pub(super) fn count(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// Returns the documents in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        let first = self.next(0);
        std::iter::successors(first, |doc| self.next(doc + 1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Bits;

    proptest! {
        #[test]
        fn a_set_of_bits_is_a_set(size in 1_u32..300, docs in prop::collection::btree_set(0_u32..300, 0..40)) {
            let docs: BTreeSet<u32> = docs.into_iter().filter(|doc| *doc < size).collect();
            let mut bits = Bits::new(size);
            docs.iter().for_each(|doc| bits.insert(*doc));
            prop_assert_eq!(bits.iter().collect::<BTreeSet<_>>(), docs.clone());
            prop_assert_eq!(bits.count(), docs.len() as u64);
            for doc in 0..size {
                prop_assert_eq!(bits.contains(doc), docs.contains(&doc));
                prop_assert_eq!(bits.next(doc), docs.range(doc..).next().copied());
                prop_assert_eq!(bits.before(doc), docs.range(..doc).next_back().copied());
            }
            prop_assert_eq!(bits.next(size), None);
        }
    }
}
