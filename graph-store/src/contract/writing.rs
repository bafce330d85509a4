//! Transactions: what they leave, what they see, and that they are kept apart.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use call_context::{CallContext, CallError};
use futures::FutureExt;
use futures::executor::block_on;
use oxrdf::vocab::rdf;
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};

use super::data::{e, quads, v};
use super::subject::{Subject, local, next, selection, things};
use crate::error::StoreError;
use crate::query::{HydrationRequest, Slot, Step};
use crate::store::{GraphStore, Transaction, WriteStore};
use crate::write::{
    ChangeKind, ChangeRecord, ChangedObjects, NewRecord, QuadChange, QuadPattern, RecordQuery,
};

/// How long a call may take that waits for nothing.
const TIMEOUT: Duration = Duration::from_secs(600);
/// How long a call waits for someone who does not go on.
const SHORT: Duration = Duration::from_millis(100);

/// The writer of a store, and what is said to it.
pub(super) struct Writing<'s> {
    pub(super) writer: &'s dyn WriteStore,
    pub(super) context: CallContext,
}

impl<'s> Writing<'s> {
    pub(super) fn new(subject: &'s Subject) -> Self {
        let writer = subject.store.writer().expect("the store can be written to");
        Writing {
            writer,
            context: CallContext::new().with_timeout(TIMEOUT),
        }
    }

    pub(super) fn begin(&self) -> Box<dyn Transaction> {
        let begun = block_on(self.writer.begin(&self.context));
        begun.unwrap_or_else(|error| panic!("no transaction: {error:?}"))
    }

    pub(super) fn apply(&self, transaction: &mut dyn Transaction, change: QuadChange) {
        let applied = block_on(transaction.apply(change, &self.context));
        applied.unwrap_or_else(|error| panic!("not applied: {error:?}"));
    }

    pub(super) fn end(&self, transaction: Box<dyn Transaction>, record: NewRecord) -> ChangeRecord {
        let committed = block_on(transaction.commit(record, &self.context));
        committed.unwrap_or_else(|error| panic!("not committed: {error:?}"))
    }

    /// Commits a change in a transaction of its own.
    pub(super) fn commit(&self, change: QuadChange, record: NewRecord) -> ChangeRecord {
        let mut transaction = self.begin();
        self.apply(transaction.as_mut(), change);
        self.end(transaction, record)
    }

    pub(super) fn quads(
        &self,
        transaction: &mut dyn Transaction,
        patterns: &[QuadPattern],
    ) -> HashSet<Quad> {
        let found = block_on(transaction.quads(patterns, &self.context))
            .unwrap_or_else(|error| panic!("no quads: {error:?}"));
        let count = found.len();
        let found: HashSet<Quad> = found.into_iter().collect();
        assert_eq!(found.len(), count, "each quad comes once");
        found
    }

    pub(super) fn records(&self, query: &RecordQuery) -> Vec<ChangeRecord> {
        let found = block_on(self.writer.records(query, &self.context));
        found.unwrap_or_else(|error| panic!("no records: {error:?}"))
    }

    /// Returns all quads that have one of the contract's objects as their subject.
    fn stored(&self) -> HashSet<Quad> {
        let names = ["a", "b", "c", "d", "new"];
        let about = names.map(|name| QuadPattern::About(e(name)));
        let mut transaction = self.begin();
        let stored = self.quads(transaction.as_mut(), &about);
        block_on(transaction.roll_back());
        stored
    }
}

pub(super) fn quad(
    subject: &str,
    predicate: impl Into<NamedNode>,
    object: impl Into<Term>,
    graph: &str,
) -> Quad {
    let graph = match graph {
        "" => GraphName::DefaultGraph,
        name => e(name).into(),
    };
    Quad::new(e(subject), predicate, object, graph)
}

/// Returns the quads of the contract's data that satisfy a condition, except those about blank nodes.
fn expected(wanted: impl Fn(&Quad) -> bool) -> HashSet<Quad> {
    let quads = quads()
        .into_iter()
        .filter(|quad| !quad.subject.is_blank_node());
    quads.filter(wanted).collect()
}

/// Returns quads without blank nodes, which stores may rename, and with the canonical form of a number.
fn named(quads: HashSet<Quad>) -> HashSet<Quad> {
    let is_named = |quad: &Quad| !quad.object.is_blank_node() && !quad.subject.is_blank_node();
    let quads = quads.into_iter().filter(is_named);
    let canonical = quads.map(|quad| match &quad.object {
        Term::Literal(literal) if literal.value() == "03" => Quad {
            object: Literal::from(3).into(),
            ..quad
        },
        _ => quad,
    });
    canonical.collect()
}

pub(super) fn record(request: &str) -> NewRecord {
    NewRecord {
        request: request.to_owned(),
        idempotency_key: None,
        digest: String::new(),
        time: std::time::SystemTime::now(),
        changes: vec![ChangedObjects {
            kind: ChangeKind::Updated,
            object_type: "Thing".to_owned(),
            objects: vec![e("a"), e("new")],
        }],
    }
}

/// Returns the change that adds a thing, and removes two quads about another one.
fn change() -> QuadChange {
    QuadChange {
        removed: vec![
            quad("a", v("next"), e("c"), ""),
            quad("a", v("next"), e("b"), "g2"),
        ],
        added: vec![
            quad("new", rdf::TYPE, v("Thing"), ""),
            quad("new", v("next"), e("c"), "g1"),
            quad("new", v("name"), Literal::from("new \"\\\n<>"), ""),
        ],
    }
}

/// Returns the contract's quads after [`change`].
fn changed() -> HashSet<Quad> {
    let change = change();
    let mut quads = expected(|_| true);
    for quad in &change.removed {
        assert!(quads.remove(quad), "{quad}");
    }
    quads.extend(change.added);
    quads
}

/// Returns the things, and what leads to `c`, as a store shows them.
fn shown(store: &dyn GraphStore, context: &CallContext) -> (Vec<String>, Vec<String>) {
    let selected = block_on(store.select(&selection(things()), context))
        .unwrap_or_else(|error| panic!("no selection: {error:?}"));
    let mut things: Vec<String> = selected.iter().map(|object| local(object.node())).collect();
    things.sort_unstable();
    let slots = [Slot::new(Step {
        inverse: true,
        ..next()
    })];
    let nodes = [e("c").into()];
    let request = HydrationRequest {
        nodes: (&nodes).into(),
        slots: &slots,
        dataset: &Default::default(),
    };
    let hydrated = block_on(store.hydrate(&request, context))
        .unwrap_or_else(|error| panic!("no values: {error:?}"));
    let mut leading: Vec<String> = hydrated.columns[0]
        .of(0)
        .iter()
        .map(super::subject::shown)
        .collect();
    leading.sort_unstable();
    (things, leading)
}

fn strings(names: [&[&str]; 2]) -> (Vec<String>, Vec<String>) {
    let [things, leading] = names.map(|names| names.iter().map(|&name| name.to_owned()).collect());
    (things, leading)
}

pub(super) fn a_commit_is_seen_as_a_whole_with_its_record(subject: &Subject) {
    let writing = Writing::new(subject);
    let committed = writing.commit(change(), record("r1"));
    assert_eq!(committed.said, record("r1").grouped_at(committed.said.time));
    assert_eq!(named(writing.stored()), named(changed()));
    let shown = shown(subject.store.as_ref(), &subject.context);
    assert_eq!(shown, strings([&["a", "b", "c", "new"], &["b", "new"]]));
    let all = RecordQuery::After {
        sequence: committed.sequence - 1,
        limit: 10,
    };
    assert_eq!(writing.records(&all), [committed]);
}

pub(super) fn a_transaction_without_commit_leaves_nothing(subject: &Subject) {
    let writing = Writing::new(subject);
    let before = writing.stored();
    let mut rolled_back = writing.begin();
    writing.apply(rolled_back.as_mut(), change());
    block_on(rolled_back.roll_back());
    assert_eq!(writing.stored(), before);
    let mut dropped = writing.begin();
    writing.apply(dropped.as_mut(), change());
    drop(dropped);
    assert_eq!(writing.stored(), before);
    assert_eq!(named(before), named(expected(|_| true)));
    let shown = shown(subject.store.as_ref(), &subject.context);
    assert_eq!(shown, strings([&["a", "b", "c"], &["a", "b"]]));
    let all = RecordQuery::After {
        sequence: 0,
        limit: 10,
    };
    assert_eq!(writing.records(&all), []);
}

pub(super) fn a_view_shows_what_was_applied_and_nobody_else_sees_it(subject: &Subject) {
    let writing = Writing::new(subject);
    let before = strings([&["a", "b", "c"], &["a", "b"]]);
    let mut transaction = writing.begin();
    if transaction.view().is_none() {
        // Such a store has no way to read what is not committed.
        return;
    }
    let of_view = |transaction: &dyn Transaction| {
        let view = transaction.view().expect("a view stays");
        shown(view, &writing.context)
    };
    assert_eq!(of_view(transaction.as_ref()), before);
    writing.apply(transaction.as_mut(), change());
    let after = strings([&["a", "b", "c", "new"], &["b", "new"]]);
    assert_eq!(of_view(transaction.as_ref()), after);
    assert_eq!(shown(subject.store.as_ref(), &subject.context), before);
    // What was added can be removed again, and what was removed can be added.
    let back = QuadChange {
        removed: vec![quad("new", v("next"), e("c"), "g1")],
        added: vec![quad("a", v("next"), e("c"), "g2")],
    };
    writing.apply(transaction.as_mut(), back);
    let back = strings([&["a", "b", "c", "new"], &["a", "b"]]);
    assert_eq!(of_view(transaction.as_ref()), back);
    assert_eq!(shown(subject.store.as_ref(), &subject.context), before);
    writing.end(transaction, record("r1"));
    assert_eq!(shown(subject.store.as_ref(), &subject.context), back);
}

pub(super) fn removals_name_their_graph(subject: &Subject) {
    let writing = Writing::new(subject);
    let other_graph = quad("a", v("next"), e("c"), "g2");
    let one_of_two = quad("a", v("next"), e("b"), "");
    let change = QuadChange {
        removed: vec![other_graph, one_of_two.clone()],
        added: Vec::new(),
    };
    writing.commit(change, record("r1"));
    assert_eq!(
        named(writing.stored()),
        named(expected(|quad| *quad != one_of_two))
    );
}

pub(super) fn quads_that_exist_or_do_not_change_nothing(subject: &Subject) {
    let writing = Writing::new(subject);
    let change = QuadChange {
        removed: vec![quad("a", v("unknown"), e("b"), "")],
        added: vec![quad("a", v("next"), e("b"), "g2")],
    };
    writing.commit(change, record("r1"));
    assert_eq!(named(writing.stored()), named(expected(|_| true)));
}

pub(super) fn quads_are_found_by_each_pattern(subject: &Subject) {
    let writing = Writing::new(subject);
    let mut transaction = writing.begin();
    let mut found = |pattern| writing.quads(transaction.as_mut(), &[pattern]);
    let of = |quad: &Quad, subject: &str| quad.subject == e(subject).into();
    let to = |quad: &Quad, object: &NamedNode| quad.object == object.clone().into();
    let about = found(QuadPattern::About(e("a")));
    assert_eq!(named(about.clone()), named(expected(|quad| of(quad, "a"))));
    assert_eq!(about.len(), named(about).len() + 1, "and the blank node");
    let values = QuadPattern::Values {
        subject: e("c"),
        predicate: v("next"),
    };
    let is_next = |quad: &Quad| quad.predicate == v("next");
    assert_eq!(
        found(values),
        expected(|quad| of(quad, "c") && is_next(quad))
    );
    let links = QuadPattern::Links {
        predicate: v("next"),
        object: e("b"),
    };
    let links = found(links);
    assert_eq!(links, expected(|quad| to(quad, &e("b")) && is_next(quad)));
    assert_eq!(links.len(), 2, "in two graphs");
    let referrers = QuadPattern::Referrers {
        object: e("c"),
        also: vec![v("size"), rdf::TYPE.into_owned()],
    };
    let also = [v("size"), rdf::TYPE.into_owned(), v("next")];
    let leads = |subject: &str| subject == "a" || subject == "b";
    let expected_referrers = expected(|quad| {
        let subject = ["a", "b", "c", "d"].into_iter().find(|name| of(quad, name));
        subject.is_some_and(leads) && also.contains(&quad.predicate)
    });
    assert_eq!(named(found(referrers)), named(expected_referrers));
}

pub(super) fn quads_of_many_patterns_come_once(subject: &Subject) {
    let writing = Writing::new(subject);
    let mut transaction = writing.begin();
    let about = |number: usize| match number % 500 {
        0 => QuadPattern::About(e("b")),
        1 => QuadPattern::Links {
            predicate: v("next"),
            object: e("c"),
        },
        _ => QuadPattern::About(e(&format!("nothing-{number}"))),
    };
    let patterns: Vec<QuadPattern> = (0..2_500).map(about).collect();
    let found = writing.quads(transaction.as_mut(), &patterns);
    let b = |quad: &Quad| quad.subject == e("b").into();
    let links = |quad: &Quad| quad.predicate == v("next") && quad.object == e("c").into();
    assert_eq!(found, expected(|quad| b(quad) || links(quad)));
    assert_eq!(writing.quads(transaction.as_mut(), &[]), HashSet::new());
}

pub(super) fn quads_are_seen_as_they_were_changed(subject: &Subject) {
    let writing = Writing::new(subject);
    let mut transaction = writing.begin();
    writing.apply(transaction.as_mut(), change());
    let about = ["a", "b", "c", "d", "new"].map(|name| QuadPattern::About(e(name)));
    let found = writing.quads(transaction.as_mut(), &about);
    assert_eq!(named(found), named(changed()));
    let links = QuadPattern::Links {
        predicate: v("next"),
        object: e("c"),
    };
    let found = writing.quads(transaction.as_mut(), &[links]);
    let of = |name| quad(name, v("next"), e("c"), "g1");
    assert_eq!(found, HashSet::from([of("b"), of("new")]));
    // The other way round.
    let back = QuadChange {
        removed: change().added,
        added: change().removed,
    };
    writing.apply(transaction.as_mut(), back);
    let referrers = QuadPattern::Referrers {
        object: e("c"),
        also: vec![v("name")],
    };
    let found = writing.quads(transaction.as_mut(), &[referrers]);
    let subjects: HashSet<String> = found.iter().map(|quad| quad.subject.to_string()).collect();
    assert_eq!(
        subjects,
        HashSet::from(["a", "b"].map(|name| e(name).to_string()))
    );
    let found = writing.quads(transaction.as_mut(), &about);
    assert_eq!(named(found), named(expected(|_| true)));
}

/// Returns what adds the number after the highest one that a transaction has read.
fn count_up(writing: &Writing<'_>, transaction: &mut dyn Transaction) -> Result<(), StoreError> {
    let counter = QuadPattern::Values {
        subject: e("counter"),
        predicate: v("size"),
    };
    let numbers = block_on(transaction.quads(&[counter], &writing.context))?;
    let highest = numbers.iter().filter_map(|quad| match &quad.object {
        Term::Literal(literal) => literal.value().parse::<i64>().ok(),
        _ => None,
    });
    let next = Literal::from(highest.max().unwrap_or(0) + 1);
    let change = QuadChange {
        removed: numbers,
        added: vec![quad("counter", v("size"), next, "")],
    };
    block_on(transaction.apply(change, &writing.context))
}

pub(super) fn no_two_transactions_go_by_the_same_data(subject: &Subject) {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 5;
    std::thread::scope(|threads| {
        for writer in 0..WRITERS {
            threads.spawn(move || {
                let writing = Writing::new(subject);
                for round in 0..ROUNDS {
                    let mut attempt = 0;
                    loop {
                        let mut transaction = writing.begin();
                        let counted = count_up(&writing, transaction.as_mut());
                        let said = record(&format!("{writer}-{round}-{attempt}"));
                        let ended = counted
                            .and_then(|()| block_on(transaction.commit(said, &writing.context)));
                        match ended {
                            Ok(_) => break,
                            Err(StoreError::Conflict) => attempt += 1,
                            Err(error) => panic!("not committed: {error:?}"),
                        }
                    }
                }
            });
        }
    });
    let writing = Writing::new(subject);
    let mut transaction = writing.begin();
    let counter = QuadPattern::About(e("counter"));
    let found = writing.quads(transaction.as_mut(), &[counter]);
    let total = Literal::from((WRITERS * ROUNDS) as i64);
    assert_eq!(
        found,
        HashSet::from([quad("counter", v("size"), total, "")])
    );
}

pub(super) fn waiting_for_a_turn_ends_with_the_deadline_or_cancellation(subject: &Subject) {
    let writing = Writing::new(subject);
    let expired = CallContext::new().with_deadline(Instant::now());
    let refused = block_on(writing.writer.begin(&expired));
    assert!(
        matches!(refused, Err(StoreError::Call(CallError::Deadline))),
        "already late"
    );
    let first = writing.begin();
    let short = CallContext::new().with_timeout(SHORT);
    let second = block_on(writing.writer.begin(&short));
    let waits = match second {
        Err(error) => {
            assert!(
                matches!(error, StoreError::Call(CallError::Deadline)),
                "{error:?}"
            );
            true
        }
        // Such a store finds out later.
        Ok(transaction) => {
            block_on(transaction.roll_back());
            false
        }
    };
    let cancelled = CallContext::new().with_timeout(TIMEOUT);
    let mut third = writing.writer.begin(&cancelled);
    let early = (&mut third).now_or_never();
    assert!(!waits || early.is_none(), "the first one is still open");
    cancelled.cancellation.cancel();
    if early.is_none() {
        let third = block_on(third);
        assert!(
            !waits || matches!(third, Err(StoreError::Call(CallError::Cancelled))),
            "cancelled"
        );
    }
    block_on(first.roll_back());
    block_on(writing.begin().roll_back());
}

pub(super) fn nothing_is_written_after_the_deadline(subject: &Subject) {
    let writing = Writing::new(subject);
    let before = writing.stored();
    let expired = CallContext::new().with_deadline(Instant::now());
    let mut transaction = writing.begin();
    writing.apply(transaction.as_mut(), change());
    let committed = block_on(transaction.commit(record("late"), &expired));
    assert!(
        matches!(committed, Err(StoreError::Call(CallError::Deadline))),
        "{committed:?}"
    );
    assert_eq!(writing.stored(), before);
    let request = RecordQuery::Request("late".to_owned());
    assert_eq!(writing.records(&request), []);
}

impl NewRecord {
    /// Returns the record as stores return it, with another time.
    fn grouped_at(self, time: std::time::SystemTime) -> Self {
        NewRecord {
            time,
            ..self.grouped()
        }
    }
}
