//! What was changed in an index of links since it was built.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use indexmap::IndexSet;
use oxrdf::NamedNode;

/// So that a writer rarely keeps a reader waiting, and then for one link.
const SHARDS: usize = 32;

/// Links added to an index and removed from it.
pub(super) struct Delta {
    shards: Vec<RwLock<HashTable<End>>>,
    hasher: RandomState,
    /// The number of links in all ends.
    size: AtomicUsize,
}

/// The links of one property to one object.
struct End {
    property: NamedNode,
    object: NamedNode,
    changed: Arc<Changed>,
}

/// The subjects of the links to an object that were changed.
#[derive(Clone, Default)]
pub(super) struct Changed {
    /// Not in the index.
    pub(super) added: IndexSet<NamedNode, RandomState>,
    /// In the index.
    pub(super) removed: HashSet<NamedNode, RandomState>,
}

impl Delta {
    pub(super) fn new() -> Self {
        Delta {
            shards: (0..SHARDS).map(|_| RwLock::default()).collect(),
            hasher: RandomState::default(),
            size: AtomicUsize::new(0),
        }
    }

    /// Returns the number of links that were changed.
    pub(super) fn len(&self) -> usize {
        self.size.load(Ordering::Acquire)
    }

    /// Returns what was changed in the links of a property to an object.
    pub(super) fn of(&self, property: &NamedNode, object: &NamedNode) -> Option<Arc<Changed>> {
        if self.len() == 0 {
            return None;
        }
        let hash = self.hasher.hash_one((property, object));
        let shard = self.shard(hash).read();
        let shard = shard.unwrap_or_else(PoisonError::into_inner);
        let end = shard.find(hash, |end| end.is(property, object))?;
        Some(Arc::clone(&end.changed))
    }

    /// Adds a link that did not exist.
    pub(super) fn add(&self, subject: &NamedNode, property: &NamedNode, object: &NamedNode) {
        self.change(property, object, |changed| {
            if !changed.removed.remove(subject) {
                changed.added.insert(subject.clone());
            }
        });
    }

    /// Removes a link that existed.
    pub(super) fn remove(&self, subject: &NamedNode, property: &NamedNode, object: &NamedNode) {
        self.change(property, object, |changed| {
            if !changed.added.swap_remove(subject) {
                changed.removed.insert(subject.clone());
            }
        });
    }

    fn change(&self, property: &NamedNode, object: &NamedNode, change: impl FnOnce(&mut Changed)) {
        let hash = self.hasher.hash_one((property, object));
        let mut shard = self
            .shard(hash)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let rehash = |end: &End| self.hasher.hash_one((&end.property, &end.object));
        let entry = shard.entry(hash, |end| end.is(property, object), rehash);
        let mut entry = entry.or_insert_with(|| End {
            property: property.clone(),
            object: object.clone(),
            changed: Arc::default(),
        });
        let end = entry.get_mut();
        let before = end.changed.len();
        // Readers that still read the links as they were keep them.
        change(Arc::make_mut(&mut end.changed));
        let after = end.changed.len();
        if after == 0 {
            entry.remove();
        }
        self.size
            .fetch_add(after.saturating_sub(before), Ordering::Release);
        self.size
            .fetch_sub(before.saturating_sub(after), Ordering::Release);
    }

    fn shard(&self, hash: u64) -> &RwLock<HashTable<End>> {
        // The table uses the other bits.
        &self.shards[(hash >> 40) as usize % SHARDS]
    }
}

impl Changed {
    fn len(&self) -> usize {
        self.added.len() + self.removed.len()
    }
}

impl End {
    fn is(&self, property: &NamedNode, object: &NamedNode) -> bool {
        self.object == *object && self.property == *property
    }
}
