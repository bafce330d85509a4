//! A store that was written to answers like one that is loaded afresh.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use call_context::{CallContext, CallError, Meter, ResultMemory};
use futures::executor::block_on;
use oxigraph::store::Store;
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};
use proptest::prelude::*;

use super::normal::normal;
use super::upkeep::Thresholds;
use super::{OxigraphStore, Records, Shared};
use crate::error::StoreError;
use crate::query::{
    Dataset, HydrationRequest, NodeCondition, ObjectRef, OrderKey, Page, Quantifier, Selection,
    Slot, SortBy, Step, Take, TypeTest, ValueCondition, Window,
};
use crate::store::records::RecordList;
use crate::store::{GraphStore, LocalStore, WriteStore};
use crate::write::{NewRecord, QuadChange, QuadPattern, RecordQuery, change_graph};

/// Objects, by their numbers.
const OBJECTS: u8 = 6;

fn e(name: u8) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

fn p(name: u8) -> NamedNode {
    NamedNode::new_unchecked(format!("http://v/{name}"))
}

/// A sealed store that does something about changes soon.
fn store(quads: impl IntoIterator<Item = Quad>) -> OxigraphStore {
    let store = Store::new().unwrap();
    store.extend(quads).unwrap();
    let records = Records::Beside(std::sync::Mutex::new(RecordList::default()));
    let mut shared = Shared::new(store, "in-memory", records);
    shared.thresholds = Thresholds {
        links: 3,
        garbage: 5,
    };
    let store = OxigraphStore {
        shared: Arc::new(shared),
    };
    store.expect_inverse(&[p(0), p(1)]);
    store.seal().unwrap();
    store
}

/// Waits for what is done in the background.
fn settle(store: &OxigraphStore) {
    let shared = &store.shared;
    while shared.is_folding.load(Ordering::Acquire) || shared.is_copying.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

fn commit(store: &OxigraphStore, change: QuadChange) {
    let context = CallContext::new();
    let mut transaction = block_on(store.begin(&context)).unwrap();
    block_on(transaction.apply(change, &context)).unwrap();
    block_on(transaction.commit(record(), &context)).unwrap();
}

fn record() -> NewRecord {
    NewRecord {
        request: "r".to_owned(),
        idempotency_key: None,
        digest: String::new(),
        time: SystemTime::UNIX_EPOCH,
        changes: Vec::new(),
    }
}

fn step(property: u8, inverse: bool) -> Step {
    Step {
        predicate: p(property),
        inverse,
    }
}

fn some(step: Step, condition: NodeCondition) -> NodeCondition {
    NodeCondition::Values {
        step,
        quantifier: Quantifier::Some,
        condition: Box::new(ValueCondition::Node(condition)),
    }
}

/// Returns what a store answers to many requests, in the whole and in one graph.
fn answers(store: &dyn GraphStore) -> Vec<String> {
    let one = Dataset {
        graphs: Some(vec![e(100)]),
        ..Dataset::default()
    };
    [Dataset::default(), one]
        .iter()
        .flat_map(|dataset| answers_of(store, dataset))
        .collect()
}

fn answers_of(store: &dyn GraphStore, dataset: &Dataset) -> Vec<String> {
    let context = CallContext::new();
    let mut answers = Vec::new();
    let nodes: Vec<ObjectRef> = (0..OBJECTS).map(|name| e(name).into()).collect();
    let steps = [0, 1]
        .into_iter()
        .flat_map(|property| [false, true].map(|i| step(property, i)));
    let steps: Vec<Step> = steps.collect();
    let slots = steps.iter().map(|step| Slot {
        step: step.clone(),
        condition: None,
        page: None,
    });
    let slots: Vec<Slot> = slots.collect();
    let request = HydrationRequest {
        nodes: (&nodes).into(),
        slots: &slots,
        dataset,
    };
    for column in block_on(store.hydrate(&request, &context)).unwrap().columns {
        for node in 0..nodes.len() {
            let values = column.of(node).iter();
            let mut values: Vec<String> = values.map(|term| term.to_string()).collect();
            values.sort_unstable();
            answers.push(values.join(" "));
        }
    }
    let one_of = |name| NodeCondition::OneOf(vec![e(name)]);
    let any_of = NodeCondition::OneOf((0..OBJECTS).map(e).collect());
    let mut conditions = vec![NodeCondition::Instance(TypeTest::new(
        p(1),
        vec![e(1), e(2)],
    ))];
    for step in &steps {
        conditions.extend((0..OBJECTS).map(|name| some(step.clone(), one_of(name))));
        let further = some(steps[3].clone(), one_of(0));
        conditions.push(NodeCondition::all([
            any_of.clone(),
            some(step.clone(), further),
        ]));
    }
    for condition in conditions {
        let mut selection = Selection {
            condition,
            order: Vec::new(),
            page: Page::default(),
            dataset: dataset.clone(),
        };
        let selected = block_on(store.select(&selection, &context)).unwrap();
        let mut selected = selected.into_refs();
        selected.sort_unstable();
        answers.push(format!("{selected:?}"));
        selection.order = vec![OrderKey::new(Vec::new(), SortBy::Iri, true)];
        let window = Window {
            after: None,
            before: None,
            take: Take::First(2),
        };
        let windowed = block_on(store.select_window(&selection, &window, &context)).unwrap();
        answers.push(format!("{windowed:?}"));
    }
    answers
}

fn quad() -> impl Strategy<Value = Quad> {
    (0..OBJECTS, 0u8..2, 0..OBJECTS + 2, 0u8..3).prop_map(|(subject, property, object, graph)| {
        let object: Term = match object {
            OBJECTS => Literal::new_typed_literal("01", oxrdf::vocab::xsd::INTEGER).into(),
            object if object > OBJECTS => Literal::from(1).into(),
            object => e(object).into(),
        };
        let graph = match graph {
            0 => GraphName::DefaultGraph,
            graph => e(99 + graph).into(),
        };
        Quad::new(e(subject), p(property), object, graph)
    })
}

/// What is removed and added, and whether to wait for the background afterwards.
fn step_of_writing() -> impl Strategy<Value = (QuadChange, bool)> {
    let quads = || prop::collection::vec(quad(), 0..12);
    (quads(), quads(), any::<bool>()).prop_map(|(removed, added, settles)| {
        let mut change = QuadChange { removed, added };
        let added: BTreeSet<String> = change
            .added
            .iter()
            .map(|q| normal(q.clone()).to_string())
            .collect();
        change
            .removed
            .retain(|quad| !added.contains(&normal(quad.clone()).to_string()));
        (change, settles)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_was_written_is_answered_like_what_is_loaded(
        loaded in prop::collection::vec(quad(), 0..20),
        steps in prop::collection::vec((step_of_writing(), step_of_writing()), 1..12),
    ) {
        let written = store(loaded.iter().cloned());
        let model = Store::new().unwrap();
        model.extend(loaded).unwrap();
        let context = CallContext::new();
        for ((first, settles), (second, commits)) in steps {
            let mut transaction = block_on(written.begin(&context)).unwrap();
            let expected = Store::new().unwrap();
            expected.extend(model.iter().map(Result::unwrap)).unwrap();
            for change in [first, second] {
                change.removed.iter().for_each(|quad| expected.remove(quad).unwrap());
                expected.extend(change.added.iter().cloned()).unwrap();
                block_on(transaction.apply(change, &context)).unwrap();
            }
            let expected: Vec<Quad> = expected.iter().map(Result::unwrap).collect();
            let view = transaction.view().unwrap();
            prop_assert_eq!(answers(view), answers(&store(expected.iter().cloned())));
            if commits {
                block_on(transaction.commit(record(), &context)).unwrap();
                model.clear().unwrap();
                model.extend(expected).unwrap();
            } else {
                block_on(transaction.roll_back());
            }
            if settles {
                settle(&written);
            }
            let fresh = store(model.iter().map(Result::unwrap));
            prop_assert_eq!(answers(&written), answers(&fresh));
        }
        settle(&written);
        let fresh = store(model.iter().map(Result::unwrap));
        prop_assert_eq!(answers(&written), answers(&fresh));
        prop_assert!(written.shared.links.current().is_some());
    }
}

fn link(from: u32, to: u32) -> Quad {
    let node = |name: u32| NamedNode::new_unchecked(format!("http://e/{name}"));
    Quad::new(node(from), p(0), node(to), GraphName::DefaultGraph)
}

/// Returns the change that removes a link and adds the next one.
fn moved(number: u32) -> QuadChange {
    QuadChange {
        removed: vec![link(1_000 + number, 0)],
        added: vec![link(1_001 + number, 0)],
    }
}

#[test]
fn the_sequence_goes_on_when_a_store_with_its_records_is_opened_again() {
    let quads = Store::new().unwrap();
    let context = CallContext::new();
    let forgets = [false, false, true, false];
    for (opened, forgets) in (1..).zip(forgets) {
        let store = OxigraphStore::with_change_graph(quads.clone());
        let transaction = block_on(store.begin(&context)).unwrap();
        let said = NewRecord {
            request: format!("{opened}"),
            ..record()
        };
        let committed = block_on(transaction.commit(said, &context)).unwrap();
        assert_eq!(committed.sequence, opened);
        let all = RecordQuery::After {
            sequence: 0,
            limit: 10,
        };
        let records = || block_on(store.records(&all, &context)).unwrap();
        let kept = if opened == 4 { 1 } else { opened };
        assert_eq!(records().len() as u64, kept);
        if forgets {
            let forgotten = block_on(store.forget_records(SystemTime::now(), &context));
            assert_eq!(forgotten.unwrap(), 3);
            assert_eq!(records(), []);
        }
    }
    assert_eq!(quads.iter().count(), 4, "a record and the mark");
}

#[test]
fn nobody_else_writes_the_change_graph() {
    let store = store([]);
    let context = CallContext::new();
    let mut transaction = block_on(store.begin(&context)).unwrap();
    let change = QuadChange {
        removed: Vec::new(),
        added: vec![change_graph::forgotten(7)],
    };
    let refused = block_on(transaction.apply(change, &context));
    assert!(
        matches!(refused, Err(StoreError::Unsupported(_))),
        "{refused:?}"
    );
}

/// Room for so many bytes.
#[derive(Debug)]
struct Room(AtomicUsize);

impl ResultMemory for Room {
    fn hold(&self, bytes: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed).checked_sub(bytes);
        left.inspect(|&left| self.0.store(left, Ordering::Relaxed))
            .is_some()
    }

    fn held(&self) -> usize {
        0
    }

    fn release_to(&self, _bytes: usize) {}
}

#[test]
fn reading_quads_is_bounded_as_all_reading_is() {
    let store = store((1..=1_000).map(|number| link(number, 0)));
    let context = CallContext::new();
    let mut transaction = block_on(store.begin(&context)).unwrap();
    let links = [QuadPattern::Links {
        predicate: p(0),
        object: e(0),
    }];
    let room = |bytes| CallContext::new().with_memory(Arc::new(Room(AtomicUsize::new(bytes))));
    let full = block_on(transaction.quads(&links, &room(20_000)));
    assert!(
        matches!(full, Err(StoreError::Call(CallError::OutOfMemory))),
        "{full:?}"
    );
    let fits = block_on(transaction.quads(&links, &room(1_000_000)));
    assert_eq!(fits.unwrap().len(), 1_000);
    let metered = CallContext::new().with_meter(Arc::new(Meter::new(500)));
    let long = block_on(transaction.quads(&links, &metered));
    assert!(
        matches!(long, Err(StoreError::Call(CallError::Metered))),
        "{long:?}"
    );
}

#[test]
fn quads_that_were_removed_are_left_behind_with_the_old_store() {
    let written = store([link(1_000, 0), link(1, 0)]);
    let before = written.shared.store();
    for number in 0..4 {
        commit(&written, moved(number));
        settle(&written);
    }
    assert!(Arc::ptr_eq(&before, &written.shared.store()), "not yet");
    // Whoever reads keeps the old store; the copy is there at once nevertheless.
    for number in 4..9 {
        commit(&written, moved(number));
    }
    while Arc::ptr_eq(&before, &written.shared.store()) {
        std::thread::yield_now();
    }
    assert!(before.contains(&link(1_001, 0)).is_ok());
    drop(before);
    settle(&written);
    let quads: BTreeSet<String> = written
        .inner()
        .iter()
        .map(|q| q.unwrap().to_string())
        .collect();
    let expected = [link(1, 0), link(1_009, 0)].map(|quad| quad.to_string());
    assert_eq!(quads, expected.into());
    assert!(written.shared.writing().garbage <= 5);
    let links = written.shared.links.current().unwrap();
    assert_eq!(links.to(&e(0), &p(0)).unwrap().count(), 2);
}

#[test]
fn a_link_that_stays_is_never_missed() {
    let steady = (1..=20).map(|number| link(number, 0));
    let written = store(steady.chain([link(1_000, 0)]));
    let ends = AtomicBool::new(false);
    let (reads, swapped) = std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let slots = [Slot {
                step: step(0, true),
                condition: None,
                page: None,
            }];
            let nodes = [e(0).into()];
            let request = HydrationRequest {
                nodes: (&nodes).into(),
                slots: &slots,
                dataset: &Dataset::default(),
            };
            let mut reads = 0;
            while !ends.load(Ordering::Acquire) {
                let found = block_on(written.hydrate(&request, &CallContext::new())).unwrap();
                let found = found.columns[0].of(0).to_terms();
                let found: HashSet<&Term> = found.iter().collect();
                for number in 1..=20 {
                    assert!(
                        found.contains(&Term::from(e(number))),
                        "{number} of {found:?}"
                    );
                }
                reads += 1;
            }
            reads
        });
        let mut swapped = 0;
        for number in 0..2_000 {
            let before = Arc::as_ptr(&written.shared.store());
            commit(&written, moved(number));
            swapped += usize::from(before != Arc::as_ptr(&written.shared.store()));
        }
        ends.store(true, Ordering::Release);
        (reader.join().expect("no link is missed"), swapped)
    });
    settle(&written);
    println!("{reads} reads, {swapped} swaps between two commits");
    assert!(reads > 0);
    let links = written.shared.links.current().unwrap();
    assert_eq!(links.to(&e(0), &p(0)).unwrap().count(), 21);
    // No commit was lost while the quads were copied.
    let quads = written.inner().iter().map(|quad| quad.unwrap().to_string());
    let left = (1..=20)
        .chain([3_000])
        .map(|number| link(number, 0).to_string());
    assert_eq!(quads.collect::<BTreeSet<_>>(), left.collect());
}
