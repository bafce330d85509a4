//! What one request and all requests together may hold: bytes of answers, memory, threads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use graphql_service::{
    MemoryBudget, Outcome, Request, RequestContext, Response, Slots, Weight, code,
};
use object_engine::{ObjectService, ServiceOptions};
use oxrdfio::RdfFormat;

use crate::back_end::{BackEnd, Kind};
use crate::fixture;
use crate::images;

const SCHEMA: &str = "
id: /soml/bounds
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableCollectionCount: true}
objects:
  Stone: {props: {text: {}, name: {}, texts: {max: inf, rdfProp: v:text}, near: {range: Stone, max: inf}}}
";

/// Two objects that lead to each other, with a text of `length` bytes and two names each.
fn data(length: usize) -> String {
    let text = "x".repeat(length);
    format!(
        "@prefix v: <http://v/> .
         <http://r/1> a v:Stone ; v:text \"{text}\" ; v:name \"a\", \"b\" ; v:near <http://r/1>, <http://r/2> .
         <http://r/2> a v:Stone ; v:text \"{text}\" ; v:name \"a\", \"b\" ; v:near <http://r/1>, <http://r/2> ."
    )
}

/// Returns a service over the two objects.
fn service(length: usize, options: ServiceOptions) -> ObjectService {
    let store = images::from_turtle(data(length));
    fixture::service(SCHEMA, Arc::new(store), options)
}

fn limited(bytes: usize) -> ServiceOptions {
    let mut options = ServiceOptions::default();
    options.limits.response_bytes = bytes;
    options.limits.introspection = 1_000;
    options
}

async fn run(service: &ObjectService, query: impl Into<String>) -> Response {
    let context = RequestContext::new();
    service.execute(Request::new(query), context).await
}

fn codes(response: &Response) -> Vec<String> {
    let body = fixture::json(&response.body.to_bytes());
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    let code = |error: &serde_json::Value| error["extensions"]["code"].as_str().map(str::to_owned);
    errors.iter().filter_map(code).collect()
}

/// Aliases of one field, many times.
fn aliases(field: &str, count: usize) -> String {
    (0..count).map(|n| format!("a{n}: {field} ")).collect()
}

#[tokio::test]
async fn the_limit_of_an_answer_holds_within_one_object() {
    let service = service(100_000, limited(1 << 20));
    let one = format!(
        "{{ stone(ID: \"http://r/1\") {{ {} }} }}",
        aliases("text", 100)
    );
    assert_eq!(codes(&run(&service, one).await), ["LIMIT_RESPONSE"]);
    let one = format!(
        "{{ stone(ID: \"http://r/1\") {{ {} }} }}",
        aliases("texts", 100)
    );
    assert_eq!(codes(&run(&service, one).await), ["LIMIT_RESPONSE"]);
    let few = format!(
        "{{ stone(ID: \"http://r/1\") {{ {} }} }}",
        aliases("text", 9)
    );
    assert_eq!(codes(&run(&service, few).await), [""; 0]);
}

#[tokio::test]
async fn the_limit_of_an_answer_holds_for_the_printed_schema() {
    let service = service(1, limited(1 << 20));
    let printed = format!("{{ _service {{ {} }} }}", aliases("full_sdl", 500));
    let response = run(&service, printed).await;
    assert_eq!(
        codes(&response),
        ["LIMIT_RESPONSE"],
        "{:.300?}",
        response.body
    );
    assert!(response.body.len() < 1_000);
}

#[tokio::test]
async fn the_limit_of_an_answer_holds_for_introspection() {
    let service = service(1, limited(1 << 20));
    let types = aliases("types { fields { name description type { name } } }", 300);
    let response = run(&service, format!("{{ __schema {{ {types} }} }}")).await;
    assert_eq!(
        codes(&response),
        ["LIMIT_RESPONSE"],
        "{:.300?}",
        response.body
    );
    assert!(response.body.len() < 1_000);
}

#[tokio::test]
async fn an_introspection_is_made_once_and_shared() {
    let service = service(1, ServiceOptions::default());
    let query = "{ __schema { types { name description fields { name description args {
        name description type { name } } } } } }";
    let (first, second) = (run(&service, query).await, run(&service, query).await);
    assert_eq!(first.body.to_bytes(), second.body.to_bytes());
    let longest = |response: &Response| {
        let segments = response.body.segments().iter().max_by_key(|s| s.len());
        segments.expect("an answer has a text").clone()
    };
    let third = run(&service, query).await;
    assert!(
        longest(&second).len() > 16 << 10,
        "a text that is not copied"
    );
    assert_eq!(longest(&second).as_ptr(), longest(&third).as_ptr());
}

#[tokio::test]
async fn what_all_requests_hold_is_bounded_and_given_back() {
    let service = service(100_000, ServiceOptions::default());
    let budget = MemoryBudget::new(3 << 20);
    let context = || RequestContext::new().with_memory(Arc::new(budget.account()));
    let query = format!("{{ stone {{ {} }} }}", aliases("text", 10));
    let first = service
        .execute(Request::new(query.clone()), context())
        .await;
    assert_eq!(first.outcome, Outcome::Executed);
    assert!(first.body.len() > 2_000_000 && budget.held() >= first.body.len() - (32 << 10));
    assert!(
        budget.held() < first.body.len() + (1 << 20),
        "no more than the answer is held"
    );
    let second = service
        .execute(Request::new(query.clone()), context())
        .await;
    assert_eq!((second.outcome, second.status), (Outcome::Overloaded, 503));
    assert_eq!(codes(&second), [code::OVERLOADED.as_str()]);
    let small = service
        .execute(Request::new("{ stone { id } }"), context())
        .await;
    assert_eq!(
        small.outcome,
        Outcome::Executed,
        "small requests need no budget"
    );
    drop(first);
    let third = service.execute(Request::new(query), context()).await;
    assert_eq!(third.outcome, Outcome::Executed);
    drop((second, small, third));
    assert_eq!(budget.held(), 0);
}

#[tokio::test]
async fn results_of_the_store_are_bounded_before_anything_is_written() {
    // A store that returns terms as a whole, and not as numbers.
    let store = BackEnd::new(Kind::Pattern);
    store.load(&images::quads(RdfFormat::Turtle, data(2_000_000)));
    let service = fixture::service(SCHEMA, store.graph_store(), ServiceOptions::default());
    let budget = MemoryBudget::new(1 << 20);
    let context = RequestContext::new().with_memory(Arc::new(budget.account()));
    let query = "{ stone(where: {text: {RE: \"y\"}}) { id } other: stone { texts_count } }";
    let counted = service.execute(Request::new(query), context).await;
    assert_eq!(counted.outcome, Outcome::Overloaded);
    assert_eq!(budget.held(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_requests_leave_the_worker_and_the_slots_of_short_ones() {
    let slots = Arc::new(Slots::new(Some(1), 4));
    let service = service(1, ServiceOptions::default().with_slots(Arc::clone(&slots)));
    // A field that has several values is never copied from where the object stood before.
    let long = format!(
        "{{ stone {}{}",
        "{ name near ".repeat(23) + "{ id ",
        " }".repeat(25)
    );
    let other = format!("{{ stone {{ {} }} }}", aliases("text", 500));
    let begun = Instant::now();
    loop {
        let context = RequestContext::new();
        let cancellation = context.call.cancellation.clone();
        let running = {
            let (service, long) = (service.clone(), long.clone());
            tokio::spawn(async move { service.execute(Request::new(long), context).await })
        };
        // The long one moves to the slot of long ones; whatever is medium goes on.
        let mut beside = 0;
        while beside < 20 && !running.is_finished() {
            let response = run(&service, other.clone()).await;
            assert_eq!(codes(&response), [""; 0]);
            beside += usize::from(!running.is_finished());
        }
        cancellation.cancel();
        let ended = codes(&running.await.expect("no panic"));
        if beside == 20 && ended == ["CANCELLED"] {
            break;
        }
        // On a busy machine the long one may be done before.
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{beside} medium requests are answered beside the long one, which ends with {ended:?}"
        );
    }
    assert_eq!(slots.waiting(Weight::Medium), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_answers_with_a_code() {
    let slots = Arc::new(Slots::new(Some(1), 0));
    let service = service(1, ServiceOptions::default().with_slots(Arc::clone(&slots)));
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let (start, started) = tokio::sync::oneshot::channel();
    let own = Arc::clone(&slots);
    let busy = tokio::spawn(async move {
        let job = move |_| {
            let _ = start.send(());
            let _ = ended.recv();
        };
        own.run(Weight::Medium, None, job).await
    });
    started.await.expect("the job starts");
    let response = run(
        &service,
        format!("{{ stone {{ {} }} }}", aliases("text", 500)),
    )
    .await;
    assert_eq!(
        (response.outcome, response.status),
        (Outcome::Overloaded, 503)
    );
    assert_eq!(codes(&response), ["OVERLOADED"]);
    drop(end);
    busy.await.expect("no panic").expect("the job is done");
}

#[tokio::test]
async fn the_fields_of_all_operations_and_fragments_are_bounded() {
    let service = service(1, ServiceOptions::default());
    let operation = |n: usize| format!("query Q{n} {{ stone {{ {} }} }} ", "id text ".repeat(500));
    let many: String = (0..25).map(operation).collect();
    assert_eq!(codes(&run(&service, many).await), ["LIMIT_FIELDS"]);
    let unused =
        (0..25).map(|n| format!("fragment F{n} on Stone {{ {} }} ", "id text ".repeat(500)));
    let unused = format!("{{ stone {{ id }} }} {}", unused.collect::<String>());
    assert_eq!(codes(&run(&service, unused).await), ["LIMIT_FIELDS"]);
}

#[tokio::test]
async fn a_request_that_nobody_waits_for_is_not_validated() {
    let service = service(1, ServiceOptions::default());
    let context = RequestContext::new();
    context.call.cancellation.cancel();
    let refused = service.execute(Request::new("{ nothing }"), context).await;
    assert_eq!(codes(&refused), ["CANCELLED"]);
}
