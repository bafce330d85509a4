//! The memo of a request: what subgraphs have said of entities, so that they are not asked for it again.
//!
//! It has no store of its own. A plan tells where a subgraph is asked for the fields that a step needs ([`Source`]);
//! objects there whose representations would be the same are the same entities.

use std::sync::Arc;

use super::representations::write_typed;
use super::run::Run;
use super::store::{ObjectId, Place};
use super::texts::Texts;
use crate::plan::{Input, Request, Step, StepId};
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

/// What is known of the entities that a step needs.
#[derive(Debug, Default)]
pub(super) struct Memo(Texts<Found>);

impl Memo {
    pub(super) fn get(&self, representation: &[u8]) -> Option<Found> {
        self.0.get(representation)
    }

    fn insert(&mut self, representation: &[u8], found: Found) {
        if self.get(representation).is_none() {
            self.0.insert(representation, found);
        }
    }
}

impl Run {
    /// Looks for what is known of the entities that a step needs.
    pub(super) fn memo(&self, request: &Request, step: &Step) -> Memo {
        let mut memo = Memo::default();
        let options = &self.execution.memo;
        let subgraph = &self.execution.supergraph.subgraph(request.subgraph).name;
        if step.sources.is_empty() || !options.is_for(subgraph) {
            return memo;
        }
        let walk = self.walk();
        let mut text = Vec::new();
        // What has been said comes first, then what is coming.
        let sources = step.sources.iter().enumerate();
        let said = sources.clone().filter(|(_, it)| self.is_sound(it.step));
        let coming = sources.filter(|(_, it)| self.is_sent(it.step));
        for (number, source) in said.chain(coming) {
            let is_coming = self.is_sent(source.step);
            let inputs: Vec<&Input> = source.inputs.iter().collect();
            for (object, ty) in walk.objects(source.class) {
                let found = if is_coming {
                    Found::Coming(source.step)
                } else if self.store.has(object, &source.taken) {
                    let source = number;
                    Found::Said(Said { source, object })
                } else {
                    continue;
                };
                text.clear();
                if write_typed(walk, object, ty, &inputs, &mut text).is_ok() {
                    memo.insert(&text, found);
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

    /// Returns whether something that a step needs of an object is missing.
    pub(super) fn is_needed(&self, step: &Step, object: ObjectId) -> bool {
        let mut members = step.members.list.iter();
        members.any(|member| self.store.is_open(object, member.place))
    }
}
