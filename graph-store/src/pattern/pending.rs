//! What a transaction has applied and not yet committed.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

use call_context::CallContext;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use oxrdf::{GraphNameRef, NamedNodeRef, NamedOrBlankNodeRef, Quad, QuadRef, Term, TermRef};

use super::source::Pattern;
use crate::error::StoreError;
use crate::write::{QuadChange, change_graph};

/// Quads that are looked up between two checks of the deadline.
const CHECK_EVERY: usize = 1_000;

/// The difference between a store and the store as a transaction sees it.
///
/// Removed quads exist in the store, and added ones do not.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) removed: QuadSet,
    pub(crate) added: QuadSet,
}

impl Pending {
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Applies a change to a store of which `exists` tells whether it has a quad.
    pub(crate) fn apply(
        &mut self,
        change: QuadChange,
        context: &CallContext,
        mut exists: impl FnMut(&Quad) -> bool,
    ) -> Result<(), StoreError> {
        let removed = change.removed.into_iter().map(|quad| (quad, false));
        let added = change.added.into_iter().map(|quad| (quad, true));
        for (place, (quad, is_added)) in removed.chain(added).enumerate() {
            if place % CHECK_EVERY == 0 {
                context.check()?;
            }
            if change_graph::is_record(&quad) {
                let message = "only the store may write to the graph of change records";
                return Err(StoreError::Unsupported(message.to_owned()));
            }
            let exists = exists(&quad);
            if is_added {
                self.add(quad, exists)
            } else {
                self.remove(quad, exists)
            }
        }
        Ok(context.check()?)
    }

    /// Returns the difference as a change.
    pub(crate) fn into_change(self) -> QuadChange {
        let quads = |set: QuadSet| set.quads.into_iter().flatten().collect();
        QuadChange {
            removed: quads(self.removed),
            added: quads(self.added),
        }
    }

    /// Removes a quad, which `exists` in the store or does not.
    pub(crate) fn remove(&mut self, quad: Quad, exists: bool) {
        if exists {
            self.removed.insert(quad);
        } else {
            self.added.remove(quad.as_ref());
        }
    }

    /// Adds a quad, which `exists` in the store or does not.
    pub(crate) fn add(&mut self, quad: Quad, exists: bool) {
        if exists {
            self.removed.remove(quad.as_ref());
        } else {
            self.added.insert(quad);
        }
    }
}

/// A set of quads that are found by their subject, predicate, object, or predicate and object.
#[derive(Default)]
pub(crate) struct QuadSet {
    /// In the order of insertion; `None` for those that were removed again.
    quads: Vec<Option<Quad>>,
    places: HashTable<u32>,
    /// The places of quads by a hash of some of their terms, once someone has looked for some; other
    /// quads may share it.
    ///
    /// Hashes instead of terms, so that no term is stored again.
    chains: OnceLock<Chains>,
    /// Some quad is not in the default graph.
    pub(crate) has_named_graphs: bool,
    hasher: RandomState,
}

type Chains = HashMap<u64, Vec<u32>>;

/// The terms that quads are found by.
#[derive(Hash)]
enum Key<'k> {
    Subject(NamedOrBlankNodeRef<'k>),
    Predicate(NamedNodeRef<'k>),
    Object(TermRef<'k>),
    Link(NamedNodeRef<'k>, TermRef<'k>),
}

impl QuadSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = &Quad> {
        self.quads.iter().flatten()
    }

    pub(crate) fn contains(&self, quad: QuadRef<'_>) -> bool {
        !self.is_empty() && self.find(self.hasher.hash_one(quad), quad).is_some()
    }

    /// Adds a quad unless it is there.
    ///
    /// # Panics
    /// When more than `u32::MAX` quads have been added.
    pub(crate) fn insert(&mut self, quad: Quad) {
        let hash = self.hasher.hash_one(quad.as_ref());
        if self.find(hash, quad.as_ref()).is_some() {
            return;
        }
        let place = u32::try_from(self.quads.len()).expect("a change is smaller than 2^32 quads");
        if let Some(chains) = self.chains.get_mut() {
            link(chains, &self.hasher, &quad, place);
        }
        self.has_named_graphs |= !quad.graph_name.is_default_graph();
        self.quads.push(Some(quad));
        let (quads, hasher) = (&self.quads, &self.hasher);
        self.places.insert_unique(hash, place, |&place| {
            hasher.hash_one(
                quads[place as usize]
                    .as_ref()
                    .map(Quad::as_ref)
                    .expect("a known quad"),
            )
        });
    }

    /// Removes a quad if it is there.
    pub(crate) fn remove(&mut self, quad: QuadRef<'_>) {
        let hash = self.hasher.hash_one(quad);
        let Some(place) = self.find(hash, quad) else {
            return;
        };
        if let Ok(entry) = self.places.find_entry(hash, |&known| known == place) {
            entry.remove();
        }
        // Its chains pass over it.
        self.quads[place as usize] = None;
    }

    /// Returns the quads that match a pattern, in one graph or in all.
    pub(crate) fn matching<'q>(
        &'q self,
        pattern: Pattern<'_>,
        graph: Option<GraphNameRef<'_>>,
    ) -> Vec<&'q Quad> {
        if self.is_empty() {
            return Vec::new();
        }
        let matches = |quad: &&'q Quad| {
            pattern
                .subject
                .is_none_or(|term| quad.subject.as_ref() == NamedOrBlankNodeRef::from(term))
                && pattern
                    .predicate
                    .is_none_or(|term| quad.predicate.as_ref() == term)
                && pattern
                    .object
                    .is_none_or(|term| quad.object.as_ref() == term)
                && graph.is_none_or(|term| quad.graph_name.as_ref() == term)
        };
        let subject = pattern.subject.map(|term| Key::Subject(term.into()));
        let of_value = match (pattern.predicate, pattern.object) {
            (Some(predicate), Some(object)) => Some(Key::Link(predicate, object)),
            (Some(predicate), None) => Some(Key::Predicate(predicate)),
            (None, Some(object)) => Some(Key::Object(object)),
            (None, None) => None,
        };
        let keys = [subject, of_value].into_iter().flatten();
        let shortest = keys
            .map(|key| self.chain(&key))
            .min_by_key(|chain| chain.len());
        match shortest {
            Some(chain) => chain
                .iter()
                .filter_map(|&place| self.quads[place as usize].as_ref())
                .filter(matches)
                .collect(),
            None => self.iter().filter(matches).collect(),
        }
    }

    fn chain(&self, key: &Key<'_>) -> &[u32] {
        let chains = self.chains.get_or_init(|| {
            let mut chains = Chains::default();
            for (place, quad) in (0..).zip(&self.quads) {
                if let Some(quad) = quad {
                    link(&mut chains, &self.hasher, quad, place);
                }
            }
            chains
        });
        let chain = chains.get(&self.hasher.hash_one(key));
        chain.map_or(&[], Vec::as_slice)
    }

    fn find(&self, hash: u64, quad: QuadRef<'_>) -> Option<u32> {
        let is_same = |&place: &u32| {
            let known = self.quads[place as usize].as_ref();
            known.is_some_and(|known| known.as_ref() == quad)
        };
        self.places.find(hash, is_same).copied()
    }
}

fn link(chains: &mut Chains, hasher: &RandomState, quad: &Quad, place: u32) {
    for key in keys(quad) {
        let chain = chains.entry(hasher.hash_one(key));
        chain.or_default().push(place);
    }
}

/// Returns all that a quad is found by.
fn keys(quad: &Quad) -> [Key<'_>; 4] {
    let (predicate, object) = (quad.predicate.as_ref(), Term::as_ref(&quad.object));
    [
        Key::Subject(quad.subject.as_ref()),
        Key::Predicate(predicate),
        Key::Object(object),
        Key::Link(predicate, object),
    ]
}
