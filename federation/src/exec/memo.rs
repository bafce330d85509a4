//! The memo of a request: what subgraphs have said of entities, so that they are not asked for it again.
//!
//! It has no store of its own. A plan tells where a subgraph is asked for the fields that a step needs ([`Source`]);
//! objects there whose representations would be the same are the same entities.

use std::sync::Arc;

use super::listed::Listings;
use super::run::Run;
use super::store::{ObjectId, Place};
use super::texts::TextId;
use crate::plan::{Request, Step, StepId};
use crate::transport::TransportError;

/// What a memo says of a representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A subgraph has said what is needed.
    Said(Said),
    /// A subgraph is being asked, by another step.
    Coming(StepId),
}

/// Where a subgraph has said what is needed of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// The position of the source among those of the step.
    source: usize,
    object: ObjectId,
}

/// What is known of the entities that a step needs, by their representations.
#[derive(Debug, Default)]
pub(super) struct Memo(Vec<Option<Found>>);

impl Memo {
    pub(super) fn get(&self, representation: TextId) -> Option<Found> {
        self.0.get(representation).copied().flatten()
    }

    /// Adds what is known of an entity, unless something is.
    fn insert(&mut self, representation: TextId, found: Found) {
        if self.0.len() <= representation {
            self.0.resize(representation + 1, None);
        }
        self.0[representation].get_or_insert(found);
    }
}

impl Run {
    /// Looks for what is known of the entities that a step needs.
    pub(super) fn memo(&self, request: &Request, step: &Step, listings: &mut Listings) -> Memo {
        let mut memo = Memo::default();
        let options = &self.execution.memo;
        let subgraph = &self.execution.supergraph.subgraph(request.subgraph).name;
        if step.sources.is_empty() || !options.is_for(subgraph) {
            return memo;
        }
        // What has been said comes first, then what is coming.
        let sources = step.sources.iter().enumerate();
        let said = sources.clone().filter(|(_, it)| self.is_sound(it.step));
        let coming = sources.filter(|(_, it)| self.is_sent(it.step));
        for (number, source) in said.chain(coming) {
            let is_coming = self.is_sent(source.step);
            let listed = listings.get(self.walk(), &self.execution.plan, source.listing);
            for it in listed.iter() {
                let Ok(representation) = it.representation else {
                    continue;
                };
                if is_coming {
                    memo.insert(representation, Found::Coming(source.step));
                } else if memo.get(representation).is_none()
                    && self.store.has(it.object, &source.taken)
                {
                    let said = Said {
                        source: number,
                        object: it.object,
                    };
                    memo.insert(representation, Found::Said(said));
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
        said: Said,
        objects: &[ObjectId],
    ) -> Result<(), TransportError> {
        let members = &step.members;
        let source = &step.sources[said.source];
        let memory = Arc::clone(&self.recalled_memory);
        let new = (members.slot, members.width);
        let before = self.store.filling();
        let copy = self
            .store
            .take(said.object, &source.taken, new, Place::Root);
        if let Err(error) = memory.hold(self.store.added_since(before)) {
            self.store.take_back(before);
            return Err(error);
        }
        self.recalled += 1;
        self.add(step, objects, copy, &memory)
    }
}
