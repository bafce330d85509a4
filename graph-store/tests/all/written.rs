//! What reads cost after writes, in one run.

use std::time::{Duration, Instant};

use futures::executor::block_on;
use graph_store::image::ImageStore;
use graph_store::query::{Dataset, HydrationRequest, ObjectRef, Slot, Step};
use graph_store::write::{NewRecord, QuadChange, QuadPattern};
use graph_store::{CallContext, GraphStore};
use oxrdf::{GraphName, NamedNode, Quad};

use crate::images;

/// The quads of a large request.
const LARGE: usize = 120_000;
const OBJECTS: usize = 500;
const LINKS: usize = 100_000;
const WRITES: usize = 1_000;

fn property() -> NamedNode {
    NamedNode::new_unchecked("http://v/partOf")
}

fn object(number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/whole/{number}"))
}

fn link(number: usize) -> Quad {
    let part = NamedNode::new_unchecked(format!("http://e/part/{number}"));
    Quad::new(
        part,
        property(),
        object(number % OBJECTS),
        GraphName::DefaultGraph,
    )
}

/// Returns the median time of reading all links in inverse direction, and how many there are.
fn read(store: &ImageStore) -> (Duration, usize) {
    let nodes: Vec<ObjectRef> = (0..OBJECTS).map(|number| object(number).into()).collect();
    let step = Step {
        predicate: property(),
        inverse: true,
    };
    let slots = [Slot::new(step)];
    let request = HydrationRequest {
        nodes: (&nodes).into(),
        slots: &slots,
        dataset: &Dataset::default(),
    };
    let mut times = Vec::new();
    let mut count = 0;
    for _ in 0..21 {
        let started = Instant::now();
        let found = block_on(store.hydrate(&request, &CallContext::new())).expect("values");
        times.push(started.elapsed());
        count = found.columns[0].values.len();
    }
    times.sort_unstable();
    (times[times.len() / 2], count)
}

fn record(number: usize) -> NewRecord {
    NewRecord {
        request: number.to_string(),
        idempotency_key: None,
        digest: String::new(),
        time: std::time::SystemTime::now(),
        changes: Vec::new(),
    }
}

#[test]
#[ignore = "needs a quiet machine: it measures"]
fn a_large_request_is_applied_read_and_committed() {
    let store = images::empty();
    let writer = store.writer().expect("it can be written to");
    let context = CallContext::new();
    let mut transaction = block_on(writer.begin(&context)).expect("a transaction");
    let change = QuadChange {
        removed: Vec::new(),
        added: (0..LARGE).map(link).collect(),
    };
    let started = Instant::now();
    block_on(transaction.apply(change, &context)).expect("it is applied");
    let applied = started.elapsed();
    let pattern = |number| QuadPattern::Links {
        predicate: property(),
        object: object(number),
    };
    let patterns: Vec<QuadPattern> = (0..OBJECTS).map(pattern).collect();
    let started = Instant::now();
    let found = block_on(transaction.quads(&patterns, &context)).expect("quads");
    let read = started.elapsed();
    assert_eq!(found.len(), LARGE);
    let started = Instant::now();
    block_on(transaction.commit(record(0), &context)).expect("a commit");
    let committed = started.elapsed();
    println!("{LARGE} quads: applied in {applied:?}, read in {read:?}, committed in {committed:?}");
}

#[test]
#[ignore = "needs a quiet machine: it measures"]
fn reads_in_inverse_direction_stay_fast_after_writes() {
    let quads: Vec<Quad> = (0..LINKS).map(link).collect();
    let store = images::of(&quads);
    let (before, count) = read(&store);
    assert_eq!(count, LINKS);
    let writer = store.writer().expect("it can be written to");
    let context = CallContext::new();
    let started = Instant::now();
    for number in 0..WRITES {
        let change = QuadChange {
            removed: vec![link(number)],
            added: vec![link(LINKS + number), link(LINKS + WRITES + number)],
        };
        let record = record(number);
        let written = async {
            let mut transaction = writer.begin(&context).await?;
            transaction.apply(change, &context).await?;
            transaction.commit(record, &context).await
        };
        block_on(written).expect("a commit");
    }
    let each = started.elapsed() / WRITES as u32;
    let (after, count) = read(&store);
    assert_eq!(count, LINKS + WRITES);
    println!(
        "{LINKS} links: {before:?} before, {after:?} after {WRITES} writes of {each:?} each: {:.2}",
        after.as_secs_f64() / before.as_secs_f64()
    );
}
