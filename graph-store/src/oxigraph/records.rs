//! Where the embedded store keeps its change records.
//!
//! A store in memory keeps them beside its quads, so that queries pay nothing for them. A store on
//! disk keeps them in the [`change_graph`], which the transaction of a change writes too.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use call_context::CallContext;
use oxigraph::store::Store;
use oxrdf::{Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Triple};

use super::source::failed;
use crate::error::StoreError;
use crate::store::records::RecordList;
use crate::write::{ChangeRecord, RecordQuery, change_graph};

/// The records of a store.
pub(super) enum Records {
    /// Beside the quads.
    Beside(Mutex<RecordList>),
    /// In the change graph.
    InGraph(Mutex<Option<Range>>),
}

/// Which sequences the records of the change graph may have.
#[derive(Clone, Copy)]
pub(super) struct Range {
    /// No record that is kept has a lower sequence.
    first: u64,
    last: u64,
}

impl Records {
    /// Returns whether records are quads of the store.
    pub(super) fn are_quads(&self) -> bool {
        matches!(self, Records::InGraph(_))
    }

    /// Returns the sequence of the next transaction.
    pub(super) fn next(&self, store: &Store) -> Result<u64, StoreError> {
        Ok(1 + match self {
            Records::Beside(list) => locked(list).last(),
            Records::InGraph(range) => known(range, store)?.last,
        })
    }

    /// Notes a record whose transaction is committed.
    pub(super) fn committed(&self, record: &ChangeRecord) {
        match self {
            Records::Beside(list) => locked(list).push(record.clone()),
            Records::InGraph(range) => {
                if let Some(range) = locked(range).as_mut() {
                    range.first = range.first.min(record.sequence);
                    range.last = record.sequence;
                }
            }
        }
    }

    /// Removes the records before a time, if they are not quads of the store; returns how many.
    pub(super) fn forget(&self, before: SystemTime) -> Option<u64> {
        match self {
            Records::Beside(list) => Some(locked(list).forget(before)),
            Records::InGraph(_) => None,
        }
    }

    pub(super) fn find(
        &self,
        store: &Store,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        match self {
            Records::Beside(list) => locked(list).find(query, context),
            Records::InGraph(range) => in_graph(store, known(range, store)?, query, context),
        }
    }
}

/// Returns which sequences there may be, which are read once.
fn known(range: &Mutex<Option<Range>>, store: &Store) -> Result<Range, StoreError> {
    let mut range = locked(range);
    if let Some(range) = *range {
        return Ok(range);
    }
    let mut read = Range {
        first: u64::MAX,
        last: 0,
    };
    for quad in quads(store, None, Some(change_graph::SEQUENCE), None) {
        let sequence = change_graph::as_sequence(&quad?.object).ok_or_else(unreadable)?;
        read.first = read.first.min(sequence);
        read.last = read.last.max(sequence);
    }
    read.last = read.last.max(forgotten(store)?.unwrap_or(0));
    Ok(*range.insert(read))
}

/// Returns the highest sequence whose record was forgotten.
fn forgotten(store: &Store) -> Result<Option<u64>, StoreError> {
    let mut highest = None;
    for quad in quads(store, None, Some(change_graph::FORGOTTEN), None) {
        let sequence = change_graph::as_sequence(&quad?.object).ok_or_else(unreadable)?;
        highest = highest.max(Some(sequence));
    }
    Ok(highest)
}

fn in_graph(
    store: &Store,
    range: Range,
    query: &RecordQuery,
    context: &CallContext,
) -> Result<Vec<ChangeRecord>, StoreError> {
    let having = |property, value: Literal| with_value(store, property, &value);
    let mut nodes = Vec::new();
    match query {
        RecordQuery::After { sequence, limit } => {
            let first = sequence.saturating_add(1).max(range.first);
            for sequence in first..=range.last {
                if nodes.len() >= *limit {
                    break;
                }
                context.spend(1)?;
                let sequence = change_graph::sequence(sequence);
                nodes.extend(having(change_graph::SEQUENCE, sequence)?);
            }
        }
        RecordQuery::Request(request) => nodes.push(change_graph::node(request)),
        RecordQuery::IdempotencyKey(key) => {
            let key = Literal::new_simple_literal(key);
            nodes = having(change_graph::IDEMPOTENCY_KEY, key)?;
        }
    }
    let mut triples = Vec::new();
    for node in nodes {
        context.check()?;
        for quad in quads(store, Some(&node), None, None) {
            let triple = Triple::from(quad?);
            context.hold(size_of::<Triple>() + 2 * triple.predicate.as_str().len())?;
            triples.push(triple);
        }
    }
    change_graph::records(triples).map_err(|error| StoreError::Failed(Box::new(error)))
}

/// Returns what forgetting records before a time changes, at most `limit` of them.
pub(super) fn forgetting(
    store: &Store,
    before: SystemTime,
    limit: usize,
) -> Result<Forgetting, StoreError> {
    let mut change = Forgetting::default();
    for quad in quads(store, None, Some(change_graph::TIME), None) {
        let quad = quad?;
        let time = change_graph::as_time(&quad.object).ok_or_else(unreadable)?;
        if time >= before {
            continue;
        }
        let NamedOrBlankNode::NamedNode(node) = quad.subject else {
            return Err(unreadable());
        };
        for quad in quads(store, Some(&node), None, None) {
            let quad = quad?;
            if quad.predicate == change_graph::SEQUENCE {
                let sequence = change_graph::as_sequence(&quad.object);
                change.highest = change.highest.max(sequence.ok_or_else(unreadable)?);
            }
            change.removed.push(quad);
        }
        change.count += 1;
        if change.count == limit {
            break;
        }
    }
    if change.count > 0 {
        let marks = quads(store, None, Some(change_graph::FORGOTTEN), None);
        let marks: Vec<Quad> = marks.collect::<Result<_, _>>()?;
        change.removed.extend(marks);
        let highest = forgotten(store)?.unwrap_or(0).max(change.highest);
        change.mark = Some(change_graph::forgotten(highest));
    }
    Ok(change)
}

/// What forgetting some records changes in the change graph.
#[derive(Default)]
pub(super) struct Forgetting {
    pub(super) count: usize,
    pub(super) removed: Vec<Quad>,
    pub(super) mark: Option<Quad>,
    highest: u64,
}

/// Returns the nodes with a value.
fn with_value(
    store: &Store,
    property: NamedNodeRef<'_>,
    value: &Literal,
) -> Result<Vec<NamedNode>, StoreError> {
    let mut nodes = Vec::new();
    for quad in quads(store, None, Some(property), Some(value)) {
        if let NamedOrBlankNode::NamedNode(node) = quad?.subject {
            nodes.push(node);
        }
    }
    Ok(nodes)
}

/// Returns quads of the change graph.
fn quads(
    store: &Store,
    node: Option<&NamedNode>,
    property: Option<NamedNodeRef<'_>>,
    value: Option<&Literal>,
) -> impl Iterator<Item = Result<Quad, StoreError>> + use<> {
    let graph = Some(change_graph::GRAPH.into());
    let (node, value) = (node.map(Into::into), value.map(Into::into));
    let quads = store.quads_for_pattern(node, property, value, graph);
    quads.map(|quad| quad.map_err(failed))
}

fn unreadable() -> StoreError {
    StoreError::Failed("the change graph holds a value of another form".into())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
