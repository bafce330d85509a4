//! Transactions over an image and its changes.

use std::sync::Arc;

use async_trait::async_trait;
use call_context::CallContext;
use oxrdf::{NamedOrBlankNode, Quad};

use super::shared::{Begun, Shared};
use super::snapshot::Snapshot;
use super::store::PROVIDER;
use crate::error::StoreError;
use crate::pattern::View;
use crate::query::Dataset;
use crate::store::queue::Turn;
use crate::store::{GraphStore, Transaction};
use crate::write::{ChangeRecord, NewRecord, QuadChange, QuadPattern};

/// A transaction, which no one else is in at the same time.
///
/// It writes nothing before it is committed, so ending it in another way is dropping it.
pub(super) struct Open {
    shared: Arc<Shared>,
    view: View<Arc<Snapshot>>,
    /// What the data belong to that it has read.
    era: u64,
    turn: Turn,
}

impl Open {
    pub(super) fn new(shared: &Arc<Shared>, turn: Turn) -> Self {
        let Begun { data, era } = shared.begun();
        Open {
            shared: Arc::clone(shared),
            view: View::new(data, PROVIDER),
            era,
            turn,
        }
    }
}

#[async_trait]
impl Transaction for Open {
    fn view(&self) -> Option<&dyn GraphStore> {
        Some(&self.view)
    }

    async fn quads(
        &mut self,
        patterns: &[QuadPattern],
        context: &CallContext,
    ) -> Result<Vec<Quad>, StoreError> {
        let walker = self.view.walker(&Dataset::default(), context);
        walker.statements(patterns)
    }

    async fn apply(&mut self, change: QuadChange, context: &CallContext) -> Result<(), StoreError> {
        let View { data, pending, .. } = &mut self.view;
        let mut known = Known::default();
        pending.apply(change, context, |quad| known.has(data, quad))
    }

    async fn commit(
        self: Box<Self>,
        record: NewRecord,
        context: &CallContext,
    ) -> Result<ChangeRecord, StoreError> {
        context.count_call();
        context.check()?;
        let Open {
            shared,
            view,
            era,
            turn,
        } = *self;
        let committing = shared.commit(era, view.pending.into_change(), record)?;
        // The next one goes on from here while this one waits for its sync.
        drop(turn);
        let committed = committing.outcome().await;
        shared.follow_orders();
        shared.keep_up();
        committed
    }

    async fn roll_back(self: Box<Self>) {}
}

/// The subject that was looked for last, since the quads of an object follow each other: of a new one there are no
/// quads, and none of them is looked for.
#[derive(Default)]
struct Known {
    subject: Option<NamedOrBlankNode>,
    exists: bool,
}

impl Known {
    /// Returns whether data have a quad.
    fn has(&mut self, data: &Snapshot, quad: &Quad) -> bool {
        if self.subject.as_ref() != Some(&quad.subject) {
            self.exists = data.find(quad.subject.as_ref().into()).is_some();
            self.subject = Some(quad.subject.clone());
        }
        self.exists && data.has(quad)
    }
}
