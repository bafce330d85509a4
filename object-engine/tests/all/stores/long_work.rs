//! What takes long between two calls to a store behind a network does not run on the async worker.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use async_trait::async_trait;
use graph_store::query::{Column, Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, GraphStore, StoreError, StoreFeatures, StoreInfo};
use graphql_service::{Outcome, Request, RequestContext, Response, Slot, SlotError, Slots, Weight};
use object_engine::{ObjectService, ServiceOptions};
use oxrdf::NamedNode;

use crate::fixture;
use crate::stores::round_trips::SCHEMA;

const QUERY: &str = "{ thing { part { id } } }";

/// As many objects as are linked in a slot of medium weight.
const OBJECTS: usize = 5_000;

/// What a store does when it is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Then {
    #[default]
    Answers,
    /// It takes the only slot of medium weight before it answers a selection.
    TakesSlotWhileSelecting,
    /// The same before it answers with values.
    TakesSlotWhileHydrating,
}

/// A store that waits for nothing, as if it had waited for others: each thing has a part.
#[derive(Default)]
struct Ready {
    slots: Option<Arc<Slots>>,
    then: Then,
    hydrations: AtomicUsize,
    /// For each call, whether slots of both weights were free.
    free: Mutex<Vec<Result<(), SlotError>>>,
    taken: Mutex<Option<mpsc::Sender<()>>>,
}

impl Ready {
    async fn called(&self, takes_slot: bool) {
        let slots = self.slots.as_ref().expect("the store knows the slots");
        for weight in [Weight::Medium, Weight::Long] {
            let found = slots.run(weight, None, |_| ()).await;
            self.free.lock().expect("no panic").push(found);
        }
        if takes_slot {
            let taken = occupied(slots).await;
            *self.taken.lock().expect("no panic") = Some(taken);
        }
    }
}

/// Occupies a slot of medium weight until the returned sender is dropped.
async fn occupied(slots: &Arc<Slots>) -> mpsc::Sender<()> {
    let (end, ended) = mpsc::channel::<()>();
    let (start, started) = tokio::sync::oneshot::channel();
    let slots = Arc::clone(slots);
    tokio::spawn(async move {
        let job = move |_: Slot| {
            let _ = start.send(());
            let _ = ended.recv();
        };
        slots.run(Weight::Medium, None, job).await
    });
    started.await.expect("the slot is free");
    end
}

fn object(kind: &str, number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{kind}{number:05}"))
}

#[async_trait]
impl GraphStore for Ready {
    async fn select(
        &self,
        _selection: &Selection,
        _context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.called(self.then == Then::TakesSlotWhileSelecting)
            .await;
        Ok((0..OBJECTS).map(|n| object("t", n).into()).collect())
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        _context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.hydrations.fetch_add(1, Ordering::SeqCst);
        self.called(self.then == Then::TakesSlotWhileHydrating)
            .await;
        let columns = request.slots.iter().map(|_| {
            let mut column = Column::with_capacity(request.nodes.len());
            for number in 0..request.nodes.len() {
                column.values.push(object("p", number).into());
                column.end_node();
            }
            column
        });
        Ok(Hydrated {
            columns: columns.collect(),
        })
    }

    fn features(&self) -> StoreFeatures {
        StoreFeatures::default()
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Err(StoreError::Failed("nothing to probe".into()))
    }
}

/// Returns a service over one core, in which `waiting` jobs of a weight may wait.
fn service(then: Then, waiting: usize) -> (ObjectService, Arc<Ready>) {
    let slots = Arc::new(Slots::new(Some(1), waiting));
    let store = Arc::new(Ready {
        slots: Some(Arc::clone(&slots)),
        then,
        ..Ready::default()
    });
    let mut options = ServiceOptions::default();
    options.slots = slots;
    (
        fixture::service(SCHEMA, Arc::clone(&store) as _, options),
        store,
    )
}

async fn run(service: &ObjectService, context: RequestContext) -> Response {
    service.execute(Request::new(QUERY), context).await
}

fn code(response: &Response) -> String {
    let body = fixture::json(&response.body.to_bytes());
    let code = body["errors"][0]["extensions"]["code"].as_str();
    code.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn no_slot_is_held_while_the_store_is_waited_for() {
    let (service, store) = service(Then::Answers, 0);
    let response = run(&service, RequestContext::new()).await;
    let body = fixture::json(&response.body.to_bytes());
    let things = body["data"]["thing"].as_array().expect("a list");
    assert_eq!(things.len(), OBJECTS);
    assert_eq!(things[7]["part"][0]["id"], "http://e/p00007");
    let free = store.free.lock().expect("no panic");
    assert_eq!(*free, vec![Ok(()); 4]);
}

#[tokio::test]
async fn objects_are_linked_in_slots_and_a_full_queue_is_an_overload() {
    for (then, hydrations) in [
        (Then::TakesSlotWhileSelecting, 0),
        (Then::TakesSlotWhileHydrating, 1),
    ] {
        let (service, store) = service(then, 0);
        let response = run(&service, RequestContext::new()).await;
        assert_eq!(
            (code(&response).as_str(), response.outcome),
            ("OVERLOADED", Outcome::Overloaded),
            "{then:?}"
        );
        assert_eq!(store.hydrations.load(Ordering::SeqCst), hydrations);
    }
}

#[tokio::test]
async fn the_deadline_holds_while_a_slot_is_waited_for() {
    for then in [Then::TakesSlotWhileSelecting, Then::TakesSlotWhileHydrating] {
        let mut time = Duration::from_millis(500);
        loop {
            let (service, store) = service(then, 10);
            let response = run(
                &service,
                RequestContext::from(CallContext::new().with_timeout(time)),
            )
            .await;
            assert_eq!(code(&response), "DEADLINE_EXCEEDED", "{then:?}");
            if store.taken.lock().expect("no panic").is_some() {
                break;
            }
            // On a busy machine the time may be over before the store is asked.
            assert!(time < Duration::from_secs(60), "{then:?}");
            time *= 2;
        }
    }
}
