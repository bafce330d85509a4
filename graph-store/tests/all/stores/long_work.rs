//! What takes long between two queries is handed on, and gives the same as on the thread that asks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use async_trait::async_trait;
use call_context::{CallContext, CallError, LongWork, Size, Weight};
use graph_store::query::{
    Dataset, HydrationRequest, NodeCondition, ObjectRef, OrderKey, OrderStep, Page, Selection,
    Slot, SlotPage, SortBy, Step, Take, TypeTest, Window,
};
use graph_store::remote::{
    Dialect, EndpointQuery, RemoteOptions, RemoteStore, Rows, SparqlEndpoint,
};
use graph_store::{GraphStore, StoreError, StoreInfo};
use oxrdf::vocab::rdf;
use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;

use crate::stores::runtime;

/// An endpoint that has its results ready, in the order in which they are asked for.
struct Ready(Mutex<VecDeque<Rows>>);

#[async_trait]
impl SparqlEndpoint for Ready {
    async fn select(
        &self,
        _query: EndpointQuery<'_>,
        _context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let next = self.0.lock().expect("nobody panics with it").pop_front();
        next.ok_or_else(|| StoreError::Failed("no result is left".into()))
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Err(StoreError::Failed("nothing to probe".into()))
    }
}

/// Runs long work on threads of its own, and keeps how long it is said to be and where it ran.
#[derive(Debug, Default)]
struct Elsewhere(Mutex<Vec<(Weight, ThreadId)>>);

#[async_trait]
impl LongWork for Elsewhere {
    async fn run(&self, weight: Weight, work: Box<dyn FnOnce() + Send>) -> Result<(), CallError> {
        let ran = thread::spawn(work);
        self.0
            .lock()
            .expect("nobody panics with it")
            .push((weight, ran.thread().id()));
        ran.join().map_err(|_| CallError::Panicked)
    }
}

/// Has no room for work.
#[derive(Debug)]
struct Full;

#[async_trait]
impl LongWork for Full {
    async fn run(&self, _weight: Weight, _work: Box<dyn FnOnce() + Send>) -> Result<(), CallError> {
        Err(CallError::Overloaded)
    }
}

fn e(name: impl std::fmt::Display) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

fn number(number: usize) -> Option<Term> {
    Some(Literal::from(number as i64).into())
}

/// The order by the one fact of [`objects_with_facts`].
fn by_size() -> Vec<OrderKey> {
    vec![OrderKey::new(
        vec![OrderStep::new(Step::forward(e("size")))],
        SortBy::Scalar {
            scalar: Scalar::Integer,
            cast: false,
            lang: None,
        },
        false,
    )]
}

fn things(order: Vec<OrderKey>) -> Selection {
    let test = TypeTest::new(rdf::TYPE.into_owned(), vec![e("Thing")]);
    Selection {
        condition: NodeCondition::Instance(test),
        order,
        page: Page::default(),
        dataset: Dataset::default(),
    }
}

/// `count` objects in a mixed order.
fn objects(count: usize) -> Rows {
    let terms = (0..count).map(|n| Some(e(n * 7_919 % count).into()));
    Rows {
        width: 1,
        terms: terms.collect(),
    }
}

/// `count` objects with a number each, by which they are ordered.
fn objects_with_facts(count: usize) -> Rows {
    let rows = (0..count).flat_map(|n| {
        let node = || Some(e(n).into());
        let size = number(n * 7_919 % count);
        [node(), number(0), None, node(), number(1), size]
    });
    Rows {
        width: 3,
        terms: rows.collect(),
    }
}

/// One value for each object of a batch.
fn values(batch: std::ops::Range<usize>) -> Rows {
    let rows = batch.flat_map(|n| [Some(e(n).into()), number(0), Some(e(n / 2).into())]);
    Rows {
        width: 3,
        terms: rows.collect(),
    }
}

fn slot(page: Option<SlotPage>) -> Slot {
    Slot {
        page,
        ..Slot::new(Step::forward(e("next")))
    }
}

/// Asks in every way for what `count` objects are in the results of, and returns what came back.
fn asked(count: usize, context: &CallContext) -> Vec<Result<String, StoreError>> {
    let batches = (0..count).step_by(1_000);
    let batches = batches.map(|first| values(first..count.min(first + 1_000)));
    let paged = SlotPage {
        order: Vec::new(),
        page: Page::default(),
        members: None,
    };
    let results = [
        objects(count),
        objects_with_facts(count),
        objects_with_facts(count),
        objects(count),
    ];
    let twice: Vec<Rows> = batches.collect();
    let results = results.into_iter().chain(twice.clone()).chain(twice);
    let endpoint = Arc::new(Ready(Mutex::new(results.collect())));
    let store = RemoteStore::new(endpoint, RemoteOptions::new(Dialect::Rdf4j));
    let window = Window {
        after: None,
        before: None,
        take: Take::Last(5),
    };
    let nodes: Vec<ObjectRef> = (0..count).map(|n| e(n).into()).collect();
    let counted = Selection {
        condition: NodeCondition::one_of(vec![e("a"), e("b")]),
        ..things(Vec::new())
    };
    runtime().block_on(async {
        let plain = store.select(&things(Vec::new()), context).await;
        let ordered = store.select(&things(by_size()), context).await;
        let windowed = store
            .select_window(&things(by_size()), &window, context)
            .await;
        let number = store.count(&counted, context).await;
        let mut results = vec![
            plain.map(|objects| format!("{objects:?}")),
            ordered.map(|objects| format!("{objects:?}")),
            windowed.map(|windowed| format!("{windowed:?}")),
            number.map(|number| number.to_string()),
        ];
        for page in [None, Some(paged)] {
            let request = HydrationRequest {
                nodes: (&nodes).into(),
                slots: &[slot(page)],
                dataset: &Dataset::default(),
            };
            let hydrated = store.hydrate(&request, context).await;
            results.push(hydrated.map(|hydrated| format!("{hydrated:?}")));
        }
        results
    })
}

#[test]
fn large_results_are_sorted_and_sorted_out_on_other_threads_and_come_out_the_same() {
    let count = 5_000;
    let elsewhere = Arc::new(Elsewhere::default());
    let context = CallContext::new().with_long_work(Arc::clone(&elsewhere) as _);
    let here: Vec<String> = asked(count, &CallContext::new())
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    let there: Vec<String> = asked(count, &context)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(here == there);
    let first = r#"[NamedNode { iri: "http://e/0" }, NamedNode { iri: "http://e/2679" }, "#;
    assert!(there[1].starts_with(first), "{:.100}", there[1]);
    assert_eq!(there[3], "5000");
    let ran = elsewhere.0.lock().unwrap();
    // A result of each selection, window and count; of each batch of two levels; and both joined.
    let batches_and_whole = 5 + 1;
    assert_eq!(ran.len(), 4 + 2 * batches_and_whole);
    assert!(ran.iter().all(|(weight, _)| *weight == Weight::Medium));
    assert!(ran.iter().all(|(_, id)| *id != thread::current().id()));
}

#[test]
fn small_results_stay_where_they_are() {
    let elsewhere = Arc::new(Elsewhere::default());
    let context = CallContext::new().with_long_work(Arc::clone(&elsewhere) as _);
    assert!(asked(300, &context).iter().all(Result::is_ok));
    assert!(elsewhere.0.lock().unwrap().is_empty());
}

#[test]
fn where_there_is_no_room_for_long_work_the_store_says_so() {
    let context = CallContext::new().with_long_work(Arc::new(Full));
    for result in asked(5_000, &context) {
        assert!(
            matches!(result, Err(StoreError::Call(CallError::Overloaded))),
            "{:.100}",
            format!("{result:?}")
        );
    }
}

#[test]
fn a_panic_is_an_error_of_the_request_alone() {
    let context = CallContext::new().with_long_work(Arc::new(Elsewhere::default()));
    let panics = || -> usize { panic!("on purpose") };
    let ran = runtime().block_on(context.run_sized(Size::Terms(10_000), panics));
    assert!(matches!(ran, Err(CallError::Panicked)), "{ran:?}");
}
