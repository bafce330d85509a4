//! The graphs of changed triples, as lists of numbers.

use std::sync::Arc;

use foldhash::fast::RandomState;
use imbl::shared_ptr::DefaultSharedPtr;
use imbl::{GenericHashMap, Vector};

/// Distinct lists of graphs; each list ascends.
#[derive(Clone, Default)]
pub(in crate::image) struct GraphLists {
    lists: Vector<Arc<[u32]>>,
    numbers: GenericHashMap<Arc<[u32]>, u32, RandomState, DefaultSharedPtr>,
}

impl GraphLists {
    /// Returns a list by its number, which must be one of these; that of a removed triple is empty.
    pub(in crate::image) fn get(&self, number: u32) -> &[u32] {
        let list = self.lists.get(number as usize);
        list.expect("a number that was given to a list")
    }

    /// Returns the number of a list.
    pub(super) fn insert(&mut self, list: &[u32]) -> u32 {
        if let Some(number) = self.numbers.get(list) {
            return *number;
        }
        // Each list needs a graph, a term with a number of 32 bits, or several of them, each with a triple.
        let number = u32::try_from(self.lists.len()).expect("fewer lists of graphs than triples");
        let list: Arc<[u32]> = list.into();
        self.lists.push_back(Arc::clone(&list));
        self.numbers.insert(list, number);
        number
    }
}
