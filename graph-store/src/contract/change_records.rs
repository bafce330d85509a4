//! Change records: their order, how they are found and forgotten, and that no answer has them.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use call_context::CallContext;
use futures::executor::block_on;
use oxrdf::{Literal, NamedNode, Quad};
use soml_core::datatype::Scalar;

use super::data::{e, quads, v};
use super::export::{comparable, listed};
use super::subject::{Subject, selection};
use super::writing::{Writing, quad, record};
use crate::query::{
    Comparison, Constant, Dataset, Domain, HydrationRequest, NodeCondition, Operator, Quantifier,
    Slot, Step, TermCondition, TypeTest, ValueCondition, ValueTest,
};
use crate::write::{
    ChangeKind, ChangePosition, ChangeRecord, ChangedObjects, ChangesSince, NewRecord, QuadChange,
    QuadPattern, RecordQuery, change_graph,
};

/// Adds one quad per number.
fn change(number: usize) -> QuadChange {
    QuadChange {
        removed: Vec::new(),
        added: vec![quad("a", v("part"), e(&format!("part-{number}")), "")],
    }
}

fn after(sequence: u64, limit: usize) -> RecordQuery {
    RecordQuery::After { sequence, limit }
}

fn sequences(records: &[ChangeRecord]) -> Vec<u64> {
    records.iter().map(|record| record.sequence).collect()
}

/// Returns a time that lies so many seconds before a fixed one.
fn time(before: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(1_790_000_000 - before, 123_456_789)
}

pub(super) fn sequences_ascend_by_one(subject: &Subject) {
    let writing = Writing::new(subject);
    let mut committed = Vec::new();
    for number in 0..5 {
        if number == 2 {
            let mut dropped = writing.begin();
            writing.apply(dropped.as_mut(), change(99));
            block_on(dropped.roll_back());
        }
        committed.push(writing.commit(change(number), record(&format!("r{number}"))));
    }
    assert_eq!(sequences(&committed), [1, 2, 3, 4, 5]);
    assert_eq!(writing.records(&after(0, 100)), committed);
    assert_eq!(writing.records(&after(2, 2)), committed[2..4]);
    assert_eq!(writing.records(&after(4, 1)), committed[4..]);
    assert_eq!(writing.records(&after(5, 10)), []);
    assert_eq!(writing.records(&after(u64::MAX, 10)), []);
    assert_eq!(writing.records(&after(0, 0)), []);
}

pub(super) fn records_say_what_their_writer_said(subject: &Subject) {
    let writing = Writing::new(subject);
    let of = |kind, object_type: &str, objects: &[&str]| ChangedObjects {
        kind,
        object_type: object_type.to_owned(),
        objects: objects.iter().map(|name| e(name)).collect(),
    };
    let said = NewRecord {
        request: "a b/c?\"\\%<é>#".to_owned(),
        idempotency_key: Some("key \"1\"\n".to_owned()),
        digest: "sha-256:\\x".to_owned(),
        time: time(0),
        changes: vec![
            of(ChangeKind::Deleted, "Thing", &["c"]),
            of(ChangeKind::Created, "Other", &["n2", "n1", "n2"]),
            of(ChangeKind::Updated, "Thing", &[]),
            of(ChangeKind::Updated, "Other", &["a"]),
        ],
    };
    let committed = writing.commit(change(0), said.clone());
    assert_eq!(committed.said, said.clone().grouped());
    assert_eq!(committed.said.changes.len(), 3);
    let by_request = RecordQuery::Request(said.request);
    for query in [after(0, 1), by_request] {
        assert_eq!(writing.records(&query), std::slice::from_ref(&committed));
    }
}

pub(super) fn records_are_found_by_request_and_by_key(subject: &Subject) {
    let writing = Writing::new(subject);
    let said = |request: &str, key: Option<&str>| NewRecord {
        idempotency_key: key.map(str::to_owned),
        digest: key.map_or(String::new(), |_| "d".to_owned()),
        ..record(request)
    };
    let keys = [Some("k"), None, Some("k"), Some("K")];
    let committed: Vec<ChangeRecord> = (0..keys.len())
        .map(|number| writing.commit(change(number), said(&format!("r{number}"), keys[number])))
        .collect();
    let by_request = |request: &str| writing.records(&RecordQuery::Request(request.to_owned()));
    let by_key = |key: &str| writing.records(&RecordQuery::IdempotencyKey(key.to_owned()));
    assert_eq!(by_request("r1"), committed[1..2]);
    assert_eq!(by_request("R1"), []);
    assert_eq!(by_key("k"), [committed[0].clone(), committed[2].clone()]);
    assert_eq!(by_key("K"), committed[3..]);
    assert_eq!(by_key(""), []);
    assert_eq!(by_key("r1"), []);
}

pub(super) fn forgotten_records_are_gone_and_the_sequence_goes_on(subject: &Subject) {
    let writing = Writing::new(subject);
    let said = |number: u64| NewRecord {
        idempotency_key: Some(format!("k{number}")),
        time: time(100 - number),
        ..record(&format!("r{number}"))
    };
    for number in 1..=4 {
        writing.commit(change(number as usize), said(number));
    }
    let forget = |before| {
        let forgotten = block_on(writing.writer.forget_records(before, &writing.context));
        forgotten.unwrap_or_else(|error| panic!("not forgotten: {error:?}"))
    };
    assert_eq!(forget(time(200)), 0);
    assert_eq!(forget(time(98)), 1, "that of the time itself is kept");
    assert_eq!(sequences(&writing.records(&after(0, 10))), [2, 3, 4]);
    assert_eq!(writing.records(&RecordQuery::Request("r1".to_owned())), []);
    let key = RecordQuery::IdempotencyKey("k1".to_owned());
    assert_eq!(writing.records(&key), []);
    assert_eq!(forget(time(0)), 3);
    assert_eq!(writing.records(&after(0, 10)), []);
    assert_eq!(forget(time(0)), 0);
    assert_eq!(writing.commit(change(5), said(200 - 100)).sequence, 5);
    assert_eq!(sequences(&writing.records(&after(0, 10))), [5]);
    // What was written stays.
    let parts = QuadPattern::Values {
        subject: e("a"),
        predicate: v("part"),
    };
    let mut transaction = writing.begin();
    assert_eq!(writing.quads(transaction.as_mut(), &[parts]).len(), 5);
}

fn position(writing: &Writing<'_>) -> ChangePosition {
    let position = block_on(writing.writer.position(&writing.context));
    position.unwrap_or_else(|error| panic!("no position: {error:?}"))
}

fn since(writing: &Writing<'_>, position: &ChangePosition, limit: usize) -> ChangesSince {
    let changes = writing
        .writer
        .changes_since(position, limit, &writing.context);
    block_on(changes).unwrap_or_else(|error| panic!("no changes: {error:?}"))
}

pub(super) fn changes_are_followed_from_a_position(subject: &Subject) {
    let writing = Writing::new(subject);
    let last = || {
        let last = block_on(writing.writer.last_sequence(&writing.context));
        last.unwrap_or_else(|error| panic!("no sequence: {error:?}"))
    };
    let start = position(&writing);
    assert_eq!((start.sequence, last()), (0, 0));
    assert_eq!(since(&writing, &start, 10), ChangesSince::Known(Vec::new()));
    let committed: Vec<ChangeRecord> = (0..5).map(record_at(&writing, SystemTime::now())).collect();
    assert_eq!(last(), 5);
    let known = |records: &[ChangeRecord]| ChangesSince::Known(records.to_vec());
    assert_eq!(since(&writing, &start, 10), known(&committed));
    assert_eq!(since(&writing, &start, 2), known(&committed[..2]));
    let second = start.after(&committed[1]);
    assert_eq!(since(&writing, &second, 2), known(&committed[2..4]));
    assert_eq!(since(&writing, &second, 0), known(&[]));
    let end = position(&writing);
    assert_eq!(end, start.after(&committed[4]));
    assert_eq!(since(&writing, &end, 10), known(&[]));
    // What another store, or a copy of it, has changed is recognised.
    for other in [
        ChangePosition {
            request: Some("other".to_owned()),
            ..second.clone()
        },
        ChangePosition {
            request: None,
            ..second.clone()
        },
        ChangePosition {
            sequence: 6,
            ..end.clone()
        },
        ChangePosition {
            sequence: 6,
            request: None,
            ..end.clone()
        },
        ChangePosition {
            origin: "other data".to_owned(),
            ..end
        },
    ] {
        assert_eq!(
            since(&writing, &other, 10),
            ChangesSince::Unknown,
            "{other:?}"
        );
    }
}

/// Returns what commits a change with a record of a time.
fn record_at<'w>(
    writing: &'w Writing<'_>,
    time: SystemTime,
) -> impl Fn(usize) -> ChangeRecord + 'w {
    move |number| {
        let said = NewRecord {
            time,
            ..record(&format!("at-{number}"))
        };
        writing.commit(change(number), said)
    }
}

pub(super) fn changes_after_a_forgotten_position_are_unknown(subject: &Subject) {
    let writing = Writing::new(subject);
    let start = position(&writing);
    let committed: Vec<ChangeRecord> = (1..=4)
        .map(|number| record_at(&writing, time(100 - number))(number as usize))
        .collect();
    let places: Vec<ChangePosition> = committed.iter().map(|at| start.after(at)).collect();
    let forget = |before| {
        let forgotten = block_on(writing.writer.forget_records(before, &writing.context));
        forgotten.unwrap_or_else(|error| panic!("not forgotten: {error:?}"))
    };
    assert_eq!(forget(time(97)), 2);
    let known = |records: &[ChangeRecord]| ChangesSince::Known(records.to_vec());
    assert_eq!(since(&writing, &start, 10), ChangesSince::Unknown);
    assert_eq!(since(&writing, &places[0], 10), ChangesSince::Unknown);
    // All that came after it is there.
    assert_eq!(since(&writing, &places[1], 10), known(&committed[2..]));
    assert_eq!(since(&writing, &places[2], 10), known(&committed[3..]));
    assert_eq!(forget(time(0)), 2);
    assert_eq!(since(&writing, &places[2], 10), ChangesSince::Unknown);
    assert_eq!(since(&writing, &places[3], 10), known(&[]));
    let end = position(&writing);
    assert_eq!((end.sequence, &end.request), (4, &None));
    let next = record_at(&writing, SystemTime::now())(5);
    assert_eq!(since(&writing, &end, 10), known(&[next]));
}

pub(super) fn no_answer_has_records(subject: &Subject) {
    let writing = Writing::new(subject);
    let said = NewRecord {
        idempotency_key: Some("k".to_owned()),
        ..record("r")
    };
    writing.commit(change(0), said);
    let node = change_graph::node("r");
    let updated = change_graph::predicate(ChangeKind::Updated, "Thing");
    let mut transaction = writing.begin();
    for pattern in [
        QuadPattern::About(node.clone()),
        QuadPattern::About(change_graph::GRAPH.into_owned()),
        QuadPattern::Values {
            subject: node.clone(),
            predicate: change_graph::REQUEST.into_owned(),
        },
        QuadPattern::Links {
            predicate: updated.clone(),
            object: e("a"),
        },
    ] {
        let found = writing.quads(transaction.as_mut(), std::slice::from_ref(&pattern));
        assert_eq!(found, HashSet::new(), "{pattern:?}");
    }
    let referrers = QuadPattern::Referrers {
        object: e("a"),
        also: vec![change_graph::REQUEST.into_owned()],
    };
    let found = writing.quads(transaction.as_mut(), &[referrers]);
    let is_record = |quad: &Quad| quad.graph_name == change_graph::GRAPH.into_owned().into();
    assert!(
        !found.is_empty() && !found.iter().any(is_record),
        "{found:?}"
    );
    block_on(transaction.roll_back());
    let listed = Dataset {
        graphs: Some(vec![change_graph::GRAPH.into_owned()]),
        ..Dataset::default()
    };
    for dataset in [Dataset::default(), listed] {
        nothing_is_selected(subject, &node, &updated, &dataset);
    }
}

fn nothing_is_selected(
    subject: &Subject,
    node: &NamedNode,
    updated: &NamedNode,
    dataset: &Dataset,
) {
    let some = |step: Step, condition| NodeCondition::Values {
        step,
        quantifier: Quantifier::Some,
        condition: Box::new(condition),
    };
    let is_request = || {
        let constant = Constant::Literal(Literal::from("r"));
        ValueCondition::Term(TermCondition::Value(ValueTest {
            domain: Domain::Typed(Scalar::String),
            operator: Operator::Compare(Comparison::Equal, constant),
        }))
    };
    let request = change_graph::REQUEST.into_owned();
    let one_of = |node: NamedNode| ValueCondition::Node(NodeCondition::OneOf(vec![node]));
    for condition in [
        some(Step::forward(request.clone()), is_request()),
        some(Step::forward(updated.clone()), one_of(e("a"))),
        NodeCondition::Instance(TypeTest::new(updated.clone(), vec![e("a")])),
        NodeCondition::all([
            NodeCondition::OneOf(vec![node.clone()]),
            some(Step::forward(request.clone()), is_request()),
        ]),
    ] {
        let mut selection = selection(condition);
        selection.dataset = dataset.clone();
        assert_eq!(subject.select(&selection), Vec::<String>::new());
    }
    let back = Step {
        predicate: updated.clone(),
        inverse: true,
    };
    let slots = [
        Slot::new(Step::forward(request)),
        Slot::new(Step::forward(updated.clone())),
        Slot::new(back),
    ];
    let nodes = [node.clone().into(), e("a").into()];
    let request = HydrationRequest {
        nodes: (&nodes).into(),
        slots: &slots,
        dataset,
    };
    let hydrated = block_on(subject.store.hydrate(&request, &CallContext::new()))
        .unwrap_or_else(|error| panic!("no values: {error:?}"));
    for column in hydrated.columns {
        assert!(column.values.is_empty());
    }
}

pub(super) fn no_listing_has_records(subject: &Subject) {
    let writing = Writing::new(subject);
    writing.commit(change(0), record("r"));
    let Some(listed) = listed(subject) else {
        return;
    };
    let quads = quads().into_iter().chain(change(0).added);
    let expected: HashSet<_> = quads.map(comparable).collect();
    assert_eq!(listed, expected);
}
