//! Large answers are read and written in slots, small ones on the async worker.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use federation::{Gateway, GatewayOptions, InProcess, Supergraph};
use graphql_service::{CallContext, MemoryBudget, Request, RequestContext, Service, Slots, Weight};
use serde_json::{Value as Json, json};

const QUERY: &str = "{ topProducts { name } }";

/// How long a test waits for what must happen, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a gateway over one subgraph that answers with as many products as are given, of 64 bytes or more each. The
/// operation is planned, so that nothing but its answer needs a slot.
fn products(count: usize, slots: &Arc<Slots>) -> Gateway {
    let sdl = include_str!("../cases/shop/supergraph.graphql");
    let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
    let product = json!({ "upc": "1", "name": "x".repeat(64) });
    let answer = json!({ "data": { "topProducts": vec![product; count] } });
    let transport = InProcess::new().with_function("products", move |_| answer.clone());
    let mut options = GatewayOptions::default();
    options.slots = Arc::clone(slots);
    let gateway = Gateway::new(Arc::new(supergraph), Arc::new(transport), options).unwrap();
    let planned = gateway.plan(&Request::new(QUERY), &RequestContext::new());
    assert!(planned.is_ok());
    gateway
}

/// Occupies the only slot of a weight until the returned sender is dropped.
async fn occupied(slots: &Arc<Slots>, weight: Weight) -> mpsc::Sender<()> {
    let (end, ended) = mpsc::channel::<()>();
    let (start, started) = tokio::sync::oneshot::channel();
    let slots = Arc::clone(slots);
    tokio::spawn(async move {
        let job = move |_| {
            start.send(()).unwrap();
            let _ = ended.recv();
        };
        slots.run(weight, None, job).await
    });
    started.await.unwrap();
    end
}

/// Waits until a job waits for a slot of a weight.
async fn is_waiting(slots: &Slots, weight: Weight) {
    let waiting = async {
        while slots.waiting(weight) == 0 {
            tokio::task::yield_now().await;
        }
    };
    let waiting = tokio::time::timeout(PATIENCE, waiting).await;
    waiting.expect("a job waits");
}

async fn respond(gateway: &Gateway, context: RequestContext) -> Json {
    let request = Request::new(QUERY);
    let response = gateway.respond(request, context).await;
    serde_json::from_slice(&response.body.to_bytes()).unwrap()
}

fn count(response: &Json) -> usize {
    let products = response["data"]["topProducts"].as_array();
    products.map_or(0, Vec::len)
}

#[tokio::test]
async fn a_large_answer_waits_for_a_slot_of_its_weight_and_a_small_one_needs_none() {
    let slots = Arc::new(Slots::new(Some(1), 10));
    for (size, weight) in [(2_000, Weight::Medium), (80_000, Weight::Long)] {
        let end = occupied(&slots, weight).await;
        let gateway = products(size, &slots);
        let large = respond(&gateway, RequestContext::new());
        let mut large = std::pin::pin!(large);
        tokio::select! {
            response = &mut large => panic!("{} without a slot", count(&response)),
            () = is_waiting(&slots, weight) => {}
        }
        let small = respond(&products(10, &slots), RequestContext::new()).await;
        assert_eq!(count(&small), 10);
        drop(end);
        assert_eq!(count(&large.await), size);
    }
}

#[tokio::test]
async fn an_answer_for_which_there_is_no_slot_is_an_error_and_gives_its_memory_back() {
    let slots = Arc::new(Slots::new(Some(1), 0));
    let budget = MemoryBudget::new(64 << 20);
    let context = || RequestContext::new().with_memory(Arc::new(budget.account()));
    let gateway = products(2_000, &slots);
    let end = occupied(&slots, Weight::Medium).await;
    let refused = respond(&gateway, context()).await;
    assert_eq!(
        refused["errors"][0]["extensions"]["code"], "OVERLOADED",
        "{refused}"
    );
    assert_eq!(refused["data"], Json::Null);
    assert_eq!(budget.held(), 0);
    drop(end);
    // The slot is free a moment later.
    let begun = Instant::now();
    while count(&respond(&gateway, context()).await) != 2_000 {
        assert!(begun.elapsed() < PATIENCE, "the slot is never free");
        tokio::task::yield_now().await;
    }
    assert_eq!(budget.held(), 0);
}

#[tokio::test]
async fn the_deadline_ends_the_wait_for_a_slot() {
    let slots = Arc::new(Slots::new(Some(1), 10));
    let _end = occupied(&slots, Weight::Medium).await;
    let soon = RequestContext::from(CallContext::new().with_timeout(Duration::from_millis(50)));
    let late = respond(&products(2_000, &slots), soon).await;
    assert_eq!(
        late["errors"][0]["extensions"]["code"], "DEADLINE_EXCEEDED",
        "{late}"
    );
    assert_eq!(slots.waiting(Weight::Medium), 0);
}

#[tokio::test]
async fn an_operation_is_planned_in_a_slot_once_however_short_it_is() {
    let slots = Arc::new(Slots::new(Some(1), 10));
    let gateway = products(10, &slots);
    let end = occupied(&slots, Weight::Medium).await;
    let respond = || {
        let request = Request::new("{ topProducts { upc name } }");
        gateway.respond(request, RequestContext::new())
    };
    let mut first = std::pin::pin!(respond());
    tokio::select! {
        response = &mut first => panic!("{:?} without a slot", response.body),
        () = is_waiting(&slots, Weight::Medium) => {}
    }
    drop(end);
    assert!(first.await.body.to_bytes().starts_with(b"{\"data\""));
    let _end = occupied(&slots, Weight::Medium).await;
    assert!(respond().await.body.to_bytes().starts_with(b"{\"data\""));
}

#[test]
fn without_a_runtime_a_large_answer_is_read_where_it_is_waited_for() {
    let gateway = products(2_000, &Slots::shared());
    let response = futures::executor::block_on(respond(&gateway, RequestContext::new()));
    assert_eq!(count(&response), 2_000);
}
