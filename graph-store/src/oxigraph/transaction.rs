//! Transactions of the embedded store.

use std::sync::Arc;

use async_trait::async_trait;
use call_context::CallContext;
use oxrdf::{NamedOrBlankNode, Quad};

use super::normal::normal;
use super::shared::Shared;
use super::source::Embedded;
use crate::error::StoreError;
use crate::pattern::View;
use crate::query::Dataset;
use crate::store::queue::Turn;
use crate::store::{GraphStore, Transaction};
use crate::write::{ChangeRecord, NewRecord, QuadChange, QuadPattern};

/// A transaction, which nobody else is in at the same time.
///
/// It writes nothing before it is committed, so ending it in another way is dropping it.
pub(super) struct Open {
    shared: Arc<Shared>,
    view: View<Embedded>,
    _turn: Turn,
}

/// A node, and whether the store has quads with it as their subject.
struct Subject {
    node: NamedOrBlankNode,
    exists: bool,
}

impl Open {
    pub(super) fn new(shared: &Arc<Shared>, turn: Turn) -> Self {
        Open {
            shared: Arc::clone(shared),
            view: View::new(shared.source(), shared.provider),
            _turn: turn,
        }
    }
}

/// Returns whether a quad exists in a store; `last` is the subject that was looked up last, since a new one
/// needs no look-up for each of its quads.
fn exists(source: &Embedded, quad: &Quad, last: &mut Option<Subject>) -> Result<bool, StoreError> {
    if last.as_ref().is_none_or(|last| last.node != quad.subject) {
        *last = Some(Subject {
            exists: source.speaks_of(quad.subject.as_ref())?,
            node: quad.subject.clone(),
        });
    }
    Ok(last.as_ref().is_some_and(|last| last.exists) && source.has(quad.as_ref())?)
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
        let mut last = None;
        pending.apply(change, context, normal, |quad| {
            exists(data, quad, &mut last)
        })
    }

    async fn commit(
        self: Box<Self>,
        record: NewRecord,
        context: &CallContext,
    ) -> Result<ChangeRecord, StoreError> {
        context.count_call();
        context.check()?;
        let change = self.view.pending.into_change();
        let committed = self.shared.commit(change, record);
        self.shared.keep_up();
        committed
    }

    async fn roll_back(self: Box<Self>) {}
}
