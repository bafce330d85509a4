//! The memo of a request: what subgraphs have said of entities, so that they are not asked for it again.
//!
//! It has no store of its own. A plan tells where a subgraph is asked for the fields that a step needs
//! ([`MemoSource`](crate::plan::MemoSource)); objects there whose representations would be the same are the same
//! entities.

use std::sync::Arc;

use super::executor::Executor;
use super::interner::TextId;
use super::listings::Listings;
use super::store::{ObjectId, Place};
use crate::plan::{Request, Step, StepId};
use crate::transport::TransportError;

/// What a memo has for a representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoEntry {
    /// A subgraph has resolved what is needed.
    Resolved(ResolvedEntity),
    /// A subgraph is being asked, by another step.
    Pending(StepId),
}

/// Where a subgraph has resolved what is needed of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResolvedEntity {
    /// The position of the source among those of the step.
    source: usize,
    object: ObjectId,
}

/// What is known of the entities that a step needs, by their representations.
#[derive(Debug, Default)]
pub(super) struct Memo(Vec<Option<MemoEntry>>);

impl Memo {
    pub(super) fn get(&self, representation: TextId) -> Option<MemoEntry> {
        self.0.get(representation).copied().flatten()
    }

    /// Adds what is known of an entity, unless something is.
    fn insert(&mut self, representation: TextId, entry: MemoEntry) {
        if self.0.len() <= representation {
            self.0.resize(representation + 1, None);
        }
        self.0[representation].get_or_insert(entry);
    }
}

impl Executor {
    /// Looks for what is known of the entities that a step needs.
    pub(super) fn memo(&self, request: &Request, step: &Step, listings: &mut Listings) -> Memo {
        let mut memo = Memo::default();
        let options = &self.execution.memo;
        let subgraph = &self.execution.supergraph.subgraph(request.subgraph).name;
        if step.sources.is_empty() || !options.is_for(subgraph) {
            return memo;
        }
        // What has been resolved comes first, then what is pending.
        let sources = step.sources.iter().enumerate();
        let resolved = sources.clone().filter(|(_, it)| self.is_sound(it.step));
        let pending = sources.filter(|(_, it)| self.is_sent(it.step));
        for (number, source) in resolved.chain(pending) {
            let is_pending = self.is_sent(source.step);
            let listed = listings.get(self.walk(), &self.execution.plan, source.listing);
            for it in listed.iter() {
                let Ok(representation) = it.representation else {
                    continue;
                };
                if is_pending {
                    memo.insert(representation, MemoEntry::Pending(source.step));
                } else if memo.get(representation).is_none()
                    && self.store.has(it.object, &source.fields)
                {
                    let resolved = ResolvedEntity {
                        source: number,
                        object: it.object,
                    };
                    memo.insert(representation, MemoEntry::Resolved(resolved));
                }
            }
        }
        memo
    }

    /// Takes what a step needs of objects from where it was said.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(super) fn recall(
        &mut self,
        step: &Step,
        resolved: ResolvedEntity,
        objects: &[ObjectId],
    ) -> Result<(), TransportError> {
        let members = &step.members;
        let source = &step.sources[resolved.source];
        let memory = Arc::clone(&self.recalled_memory);
        let before = self.store.savepoint();
        let copy = self
            .store
            .take(resolved.object, &source.fields, members.layout, Place::Root);
        if let Err(error) = memory.hold(self.store.added_since(before)) {
            self.store.roll_back(before);
            return Err(error);
        }
        self.recalled += 1;
        self.add(step, objects, copy, &memory)
    }
}
