//! Transactions over an image and its changes.

use std::sync::Arc;

use async_trait::async_trait;
use oxrdf::Quad;

use super::shared::{Begun, Shared};
use super::view::View;
use crate::context::CallContext;
use crate::error::StoreError;
use crate::pattern::Pending;
use crate::query::Dataset;
use crate::store::queue::Turn;
use crate::store::{GraphStore, Transaction};
use crate::write::{ChangeRecord, NewRecord, QuadChange, QuadPattern, change_graph};

/// Quads that are looked up between two checks of the deadline.
const CHECK_EVERY: usize = 1_000;

/// A transaction, which nobody else is in at the same time.
///
/// It writes nothing before it is committed, so ending it in another way is dropping it.
pub(super) struct Open {
    shared: Arc<Shared>,
    view: View,
    /// What the data belong to that it has read.
    era: u64,
    turn: Turn,
}

impl Open {
    pub(super) fn new(shared: &Arc<Shared>, turn: Turn) -> Self {
        let Begun { data, era } = shared.begun();
        let pending = Pending::default();
        Open {
            shared: Arc::clone(shared),
            view: View { data, pending },
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
        let removed = change.removed.into_iter().map(|quad| (quad, false));
        let added = change.added.into_iter().map(|quad| (quad, true));
        for (place, (quad, is_added)) in removed.chain(added).enumerate() {
            if place % CHECK_EVERY == 0 {
                context.check()?;
            }
            if quad.graph_name.as_ref() == change_graph::GRAPH.into() {
                let message = "the graph of change records is written by the store alone";
                return Err(StoreError::Unsupported(message.to_owned()));
            }
            let exists = self.view.data.has(&quad);
            match is_added {
                true => self.view.pending.add(quad, exists),
                false => self.view.pending.remove(quad, exists),
            }
        }
        context.check()
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
        shared.keep_up();
        committed
    }

    async fn roll_back(self: Box<Self>) {}
}
