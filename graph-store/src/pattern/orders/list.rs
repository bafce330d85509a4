//! Ordered objects that share most of their memory with those of earlier states of the data.

use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashSet;

/// Changes that are merged into a new base, at least; few in tests, which have few objects.
const MERGE_AFTER: usize = if cfg!(test) { 5 } else { 1_024 };
/// Changed objects that are placed again, at most, where the base is small.
const PLACE_AT_MOST: usize = if cfg!(test) { 8 } else { 1_024 };
/// The same as [`MERGE_AFTER`] as a share of the base: one of so many.
const MERGE_SHARE: usize = 64;
/// The same as [`PLACE_AT_MOST`] as a share of the base: one of so many.
const PLACE_SHARE: usize = 16;
/// Objects that are compared at once.
const BLOCK: usize = 1_024;

/// Objects in an order: a base that does not change, and how the objects differ from it.
pub(crate) struct OrderedList<N> {
    base: Arc<[N]>,
    /// How many terms the data had when the base was made.
    terms: u32,
    /// Positions of objects in the base that do not count any more, ascending.
    removed: Vec<usize>,
    /// Objects that are not in the base, in order.
    inserted: Vec<Inserted<N>>,
}

/// An object beside the base.
pub(super) struct Inserted<N> {
    pub(super) node: N,
    /// How many remaining objects of the base come before it.
    pub(super) before: usize,
}

/// An object that becomes part of a list.
pub(super) struct Placed<N> {
    pub(super) inserted: Inserted<N>,
    /// How many objects beside the base come before it.
    pub(super) place: usize,
}

impl<N> OrderedList<N> {
    /// Creates a list of objects, made when the data had so many terms.
    pub(super) fn new(base: Arc<[N]>, terms: u32) -> Self {
        OrderedList {
            base,
            terms,
            removed: Vec::new(),
            inserted: Vec::new(),
        }
    }

    /// Returns the number of objects.
    pub(crate) fn len(&self) -> usize {
        self.remaining() + self.inserted.len()
    }

    /// Returns how many objects of the base remain.
    pub(super) fn remaining(&self) -> usize {
        self.base.len() - self.removed.len()
    }

    /// Returns how many terms the data had when the base was made.
    pub(super) fn terms(&self) -> u32 {
        self.terms
    }

    /// Returns the objects beside the base, in order.
    pub(super) fn inserted(&self) -> &[Inserted<N>] {
        &self.inserted
    }

    /// Returns how many bytes the list takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val::<[N]>(&self.base)
            + self.removed.capacity() * size_of::<usize>()
            + self.inserted.capacity() * size_of::<Inserted<N>>()
    }

    /// Returns whether both have the same base.
    pub(super) fn shares_base_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.base, &other.base)
    }

    /// Returns how many changed objects cost less to place than all objects to sort.
    pub(super) fn most_changes(&self) -> usize {
        // Placing an object reads about as many keys as the logarithm of their number.
        PLACE_AT_MOST.max(self.base.len() / PLACE_SHARE)
    }

    /// Returns whether so much differs from the base that it is worth another one.
    pub(super) fn is_far_from_base(&self) -> bool {
        self.removed.len() + self.inserted.len() > MERGE_AFTER.max(self.base.len() / MERGE_SHARE)
    }

    /// Returns the object at a position.
    pub(crate) fn get(&self, position: usize) -> Option<&N> {
        let before = self.inserted_before(position);
        match self.inserted.get(before) {
            Some(found) if found.before + before == position => Some(&found.node),
            _ => self.remaining_at(position - before),
        }
    }

    /// Returns how many objects beside the base come before a position.
    fn inserted_before(&self, position: usize) -> usize {
        partition(self.inserted.len(), |at| {
            self.inserted[at].before + at < position
        })
    }

    /// Returns the object at a position among the remaining ones of the base.
    pub(super) fn remaining_at(&self, position: usize) -> Option<&N> {
        self.base.get(self.base_position(position))
    }

    /// Returns the position in the base of the object at a position among the remaining ones.
    fn base_position(&self, position: usize) -> usize {
        position + partition(self.removed.len(), |at| self.removed[at] - at <= position)
    }
}

impl<N: Clone + Eq + Hash> OrderedList<N> {
    /// Returns the objects at some positions, all of which the list has.
    pub(crate) fn range(&self, range: Range<usize>) -> Vec<N> {
        let mut inserted = self.inserted_before(range.start);
        let mut at = self.base_position(range.start - inserted);
        let mut removed = self.removed.partition_point(|removed| *removed < at);
        let mut found = Vec::with_capacity(range.len());
        for position in range {
            if let Some(next) = self.inserted.get(inserted)
                && next.before + inserted == position
            {
                found.push(next.node.clone());
                inserted += 1;
                continue;
            }
            while self.removed.get(removed) == Some(&at) {
                removed += 1;
                at += 1;
            }
            found.push(self.base[at].clone());
            at += 1;
        }
        found
    }

    /// Returns all objects.
    pub(crate) fn nodes(&self) -> Arc<[N]> {
        if self.removed.is_empty() && self.inserted.is_empty() {
            Arc::clone(&self.base)
        } else {
            self.range(0..self.len()).into()
        }
    }

    /// Returns the list without some objects, of which only the `old` ones may be in its base.
    pub(super) fn without(&self, gone: &HashSet<N>, old: &HashSet<N>) -> Self {
        let mut removed = self.removed.clone();
        self.find_in_base(old, &mut removed);
        removed.sort_unstable();
        removed.dedup();
        let remain = self
            .inserted
            .iter()
            .filter(|inserted| !gone.contains(&inserted.node));
        let inserted = remain.map(|inserted| {
            let next = self.base_position(inserted.before);
            Inserted {
                node: inserted.node.clone(),
                before: next - removed.partition_point(|removed| *removed < next),
            }
        });
        OrderedList {
            base: Arc::clone(&self.base),
            terms: self.terms,
            inserted: inserted.collect(),
            removed,
        }
    }

    /// Appends the positions of some objects in the base.
    ///
    /// The base is searched from end to end: at 4 bytes an object, that takes less than keeping an inverse of it.
    fn find_in_base(&self, wanted: &HashSet<N>, positions: &mut Vec<usize>) {
        let mut single = wanted.iter();
        match (single.next(), single.next()) {
            (None, _) => {}
            (Some(single), None) => positions.extend(position_of(&self.base, single)),
            _ => {
                let nodes = self.base.iter().enumerate();
                let found = nodes.filter(|(_, node)| wanted.contains(node));
                positions.extend(found.map(|(position, _)| position));
            }
        }
    }

    /// Returns the list with more objects, which are in order.
    pub(super) fn with(self, placed: Vec<Placed<N>>) -> Self {
        let mut inserted = Vec::with_capacity(self.inserted.len() + placed.len());
        let mut known = self.inserted.into_iter();
        let mut passed = 0;
        for new in placed {
            inserted.extend(known.by_ref().take(new.place - passed));
            passed = new.place;
            inserted.push(new.inserted);
        }
        inserted.extend(known);
        OrderedList { inserted, ..self }
    }

    /// Returns the same objects as a base, made when the data have so many terms.
    pub(super) fn rebased(&self, terms: u32) -> Self {
        OrderedList::new(self.nodes(), terms)
    }
}

/// Returns the position of an object that occurs once at most.
fn position_of<N: Eq>(nodes: &[N], wanted: &N) -> Option<usize> {
    // Without an exit in a block, several objects are compared by one instruction.
    let has = |block: &[N]| {
        let found = block.iter().map(|node| node == wanted);
        found.fold(false, |any, found| any | found)
    };
    let block = nodes.chunks(BLOCK).position(has)?;
    let start = block * BLOCK;
    let position = nodes[start..].iter().position(|node| node == wanted)?;
    Some(start + position)
}

/// Returns how many of the first of so many places are `before`, where no later ones are.
fn partition(places: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (0, places);
    while from < to {
        let middle = from + (to - from) / 2;
        if before(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use foldhash::HashSetExt;
    use proptest::prelude::*;

    use super::*;

    /// Replaces objects of a list that is in the order of numbers.
    fn changed(list: &OrderedList<u32>, gone: &[u32], new: &[u32]) -> OrderedList<u32> {
        let touched: HashSet<u32> = gone.iter().chain(new).copied().collect();
        let next = list.without(&touched, &touched);
        let new: std::collections::BTreeSet<u32> = new.iter().copied().collect();
        let placed = new.into_iter().map(|node| {
            let before = partition(next.remaining(), |at| {
                *next.remaining_at(at).unwrap() < node
            });
            let beside = next.inserted().iter().take_while(|known| known.node < node);
            Placed {
                place: beside.count(),
                inserted: Inserted { node, before },
            }
        });
        let placed = placed.collect();
        next.with(placed)
    }

    proptest! {
        #[test]
        fn a_changed_list_is_the_list_of_the_changed_objects(
            first in prop::collection::btree_set(0..60_u32, 0..40),
            changes in prop::collection::vec(
                (prop::collection::vec(0..60_u32, 0..8), prop::collection::vec(0..60_u32, 0..8)), 0..8,
            ),
        ) {
            let mut expected = first;
            let base: Vec<u32> = expected.iter().copied().collect();
            let mut list = OrderedList::new(base.into(), 0);
            for (gone, new) in changes {
                list = changed(&list, &gone, &new);
                expected.retain(|node| !gone.contains(node));
                expected.extend(new);
                let nodes: Vec<u32> = expected.iter().copied().collect();
                prop_assert_eq!(list.len(), nodes.len());
                prop_assert_eq!(&list.nodes()[..], &nodes[..]);
                for start in 0..=nodes.len() {
                    prop_assert_eq!(list.get(start), nodes.get(start));
                    let end = nodes.len().min(start + 3);
                    prop_assert_eq!(list.range(start..end), &nodes[start..end]);
                }
            }
        }
    }

    #[test]
    fn an_object_is_found_in_any_block() {
        let nodes: Vec<u32> = (0..3 * BLOCK as u32 + 5).collect();
        for wanted in [0, BLOCK as u32 - 1, BLOCK as u32, 3 * BLOCK as u32 + 4] {
            assert_eq!(position_of(&nodes, &wanted), Some(wanted as usize));
        }
        assert_eq!(position_of(&nodes, &u32::MAX), None);
        let list = OrderedList::new(nodes.into(), 0);
        let mut positions = Vec::new();
        list.find_in_base(&HashSet::new(), &mut positions);
        assert_eq!(positions, [0_usize; 0]);
    }
}
