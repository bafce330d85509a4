//! A store that does not fulfil the contract does not pass its tests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use async_trait::async_trait;
use graph_store::contract::{self, BEHAVIOURS};
use graph_store::image::ImageStore;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Page, Selection};
use graph_store::{CallContext, GraphStore, StoreError, StoreInfo};
use oxrdf::Quad;

use crate::images;

/// What a store does wrong.
#[derive(Clone, Copy)]
enum Fault {
    /// The part of an order is cut out of objects in any order.
    PagesBeforeOrder,
    /// Values that are objects come twice.
    RepeatsValues,
    /// Nobody looks at the deadline.
    Waits,
}

struct Faulty {
    store: ImageStore,
    fault: Fault,
}

#[async_trait]
impl GraphStore for Faulty {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        match self.fault {
            Fault::PagesBeforeOrder => {
                let whole = Selection {
                    order: Vec::new(),
                    page: Page::default(),
                    ..selection.clone()
                };
                let mut nodes = self.store.select(&whole, context).await?.into_refs();
                nodes.sort_unstable_by(|a, b| b.cmp(a));
                let range = selection.page.range(nodes.len());
                Ok(nodes.drain(range).collect())
            }
            Fault::RepeatsValues => self.store.select(selection, context).await,
            Fault::Waits => self.store.select(selection, &CallContext::new()).await,
        }
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        let mut hydrated = self.store.hydrate(request, context).await?;
        if let Fault::RepeatsValues = self.fault {
            for column in &mut hydrated.columns {
                let mut repeated = graph_store::query::Column::with_capacity(0);
                for node in 0..column.offsets.len() - 1 {
                    for _ in 0..2 {
                        let values = column.of(node).to_terms();
                        repeated.values.extend(values.into_owned());
                    }
                    repeated.end_node();
                }
                *column = repeated;
            }
        }
        Ok(hydrated)
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.store.probe(context).await
    }
}

/// Returns what the contract says of a store with a fault; `None` when it passes.
fn verdict(fault: Option<Fault>) -> Option<String> {
    let make = |quads: &[Quad]| -> Arc<dyn GraphStore> {
        let store = images::of(quads);
        match fault {
            None => Arc::new(store),
            Some(fault) => Arc::new(Faulty { store, fault }),
        }
    };
    let panic = catch_unwind(AssertUnwindSafe(|| contract::run(&make))).err()?;
    Some(*panic.downcast::<String>().expect("a message"))
}

#[test]
fn a_store_without_faults_passes() {
    assert_eq!(verdict(None), None);
}

#[test]
fn the_message_names_what_a_store_lacks() {
    for (fault, lacks) in [
        (Fault::PagesBeforeOrder, "pages_without_keys_are_by_id"),
        (
            Fault::RepeatsValues,
            "values_come_once_per_object_and_without_blank_nodes",
        ),
        (Fault::Waits, "nothing_is_asked_after_the_deadline"),
    ] {
        let message = verdict(Some(fault)).expect("the store has a fault");
        assert!(message.contains(lacks), "{message}");
        let of = format!(" of {} behaviours", BEHAVIOURS.len());
        assert!(message.contains(&of), "{message}");
        assert!(!message.contains("a_probe_finds_the_store"), "{message}");
    }
}
