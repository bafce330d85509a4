//! The change graph of a server: which sequence comes next, and the records in it.

use std::time::SystemTime;

use call_context::CallContext;
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, GraphPattern, OrderExpression,
};
use spargebra::term::{GraphNamePattern, GroundQuadPattern, QuadPattern};
use spargebra::{GraphUpdateOperation, Update};

use super::change::update;
use super::gaps::Gaps;
use super::graphs::{any_of, filter, in_change_graph, join, select, triple, values, var};
use super::read::{malformed, rows};
use crate::error::StoreError;
use crate::remote::endpoint::SparqlEndpoint;
use crate::write::{ChangePosition, ChangeRecord, ChangesSince, RecordQuery, change_graph};

/// Records of one query.
const RECORDS: usize = 200;

/// Nodes of records that one update forgets.
const FORGOTTEN_AT_ONCE: usize = 1_000;

/// Most records that are looked at for one that is still open before the last one.
const LOOKED_AT: u64 = 10_000;

/// The change graph of a server.
#[derive(Clone, Copy)]
pub(in crate::remote) struct Log<'a> {
    pub(in crate::remote) endpoint: &'a dyn SparqlEndpoint,
}

impl Log<'_> {
    /// Returns the sequence after all that were ever taken.
    pub(in crate::remote) async fn next(&self, context: &CallContext) -> Result<u64, StoreError> {
        let sequence = in_change_graph(triple(var("s"), property(SEQUENCE), var("o")));
        let forgotten = in_change_graph(triple(graph(), property(FORGOTTEN), var("o")));
        let highest = GraphPattern::Group {
            inner: Box::new(any_of(vec![sequence, forgotten])),
            variables: Vec::new(),
            aggregates: vec![(
                var("n"),
                AggregateExpression::FunctionCall {
                    name: AggregateFunction::Max,
                    expr: var("o").into(),
                    distinct: false,
                },
            )],
        };
        let pattern = select(&[var("n")], highest);
        let found = rows(self.endpoint, pattern, 1, context).await?;
        match found.terms.as_slice() {
            [] | [None] => Ok(1),
            [Some(highest)] => change_graph::as_sequence(highest)
                .and_then(|highest| highest.checked_add(1))
                .ok_or_else(|| malformed("a sequence is not a number")),
            _ => Err(malformed("a maximum is not one number")),
        }
    }

    /// Returns which attempts have a sequence: at most one, where updates are isolated.
    pub(super) async fn holders(
        &self,
        sequence: u64,
        context: &CallContext,
    ) -> Result<Vec<NamedNode>, StoreError> {
        let literal = change_graph::sequence(sequence);
        let found = in_change_graph(triple(var("s"), property(SEQUENCE), literal));
        let found = rows(self.endpoint, select(&[var("s")], found), 1, context).await?;
        let mut nodes: Vec<NamedNode> = found
            .terms
            .into_iter()
            .filter_map(|term| match term {
                Some(Term::NamedNode(node)) => Some(node),
                _ => None,
            })
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }

    /// Returns whether there is a record of an attempt.
    pub(in crate::remote) async fn holds(
        &self,
        request: &str,
        context: &CallContext,
    ) -> Result<bool, StoreError> {
        let node = change_graph::node(request);
        let found = in_change_graph(triple(node, property(SEQUENCE), var("o")));
        let found = rows(self.endpoint, select(&[var("o")], found), 1, context).await?;
        Ok(!found.terms.is_empty())
    }

    /// Returns the records of a query.
    pub(in crate::remote) async fn records(
        &self,
        query: &RecordQuery,
        gaps: &Gaps,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        match query {
            RecordQuery::Request(request) => {
                let node = change_graph::node(request);
                let start = values(&["s"], vec![vec![node.into()]]);
                Ok(self.read(start, context).await?.records)
            }
            RecordQuery::IdempotencyKey(key) => {
                let key = Literal::new_simple_literal(key);
                let key = values(&["k"], vec![vec![key.into()]]);
                let key_of = triple(var("s"), property(change_graph::IDEMPOTENCY_KEY), var("k"));
                let start = join(key, in_change_graph(key_of));
                Ok(self.read(start, context).await?.records)
            }
            RecordQuery::After { sequence, limit } => {
                Ok(self.after(*sequence, *limit, gaps, context).await?.records)
            }
        }
    }

    /// Returns the sequence of the last transaction that is committed.
    pub(in crate::remote) async fn last(&self, context: &CallContext) -> Result<u64, StoreError> {
        Ok(self.next(context).await?.saturating_sub(1))
    }

    /// Returns the last position before which no transaction can be committed any more.
    pub(in crate::remote) async fn position(
        &self,
        gaps: &Gaps,
        context: &CallContext,
    ) -> Result<ChangePosition, StoreError> {
        let last = self.last(context).await?;
        let time = |read: Read| Some(read.records.first()?.said.time);
        let last_time = time(self.first_after(last.saturating_sub(1), 1, context).await?);
        // One that is still open may have begun before many that are committed, though not before those that are older
        // than any transaction.
        let mut back = RECORDS as u64;
        let from = loop {
            let from = last.saturating_sub(back);
            let first_time = time(self.first_after(from, 1, context).await?);
            let may_overlap = first_time.zip(last_time);
            let may_overlap =
                may_overlap.is_some_and(|(first, last)| gaps.may_overlap(first, last));
            if from == 0 || back >= LOOKED_AT || !may_overlap {
                break from;
            }
            back = back.saturating_mul(2);
        };
        let walked = self.after(from, usize::MAX, gaps, context).await?;
        Ok(match walked.records.last() {
            Some(record) => ChangePosition::default().after(record),
            None => ChangePosition {
                sequence: walked.forgotten,
                ..ChangePosition::default()
            },
        })
    }

    /// Returns the first changes after a position.
    pub(in crate::remote) async fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        gaps: &Gaps,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError> {
        if !position.origin.is_empty() {
            return Ok(ChangesSince::Unknown);
        }
        let after = position.reads_after();
        let walked = self
            .after(after, limit.saturating_add(1), gaps, context)
            .await?;
        Ok(position.changes(walked.records, walked.forgotten, limit))
    }

    /// Reads the first records after a sequence, whatever is missing between them.
    async fn first_after(
        &self,
        sequence: u64,
        wanted: usize,
        context: &CallContext,
    ) -> Result<Read, StoreError> {
        let sequence_of = triple(var("s"), property(SEQUENCE), var("n"));
        let after = compare(Expression::Greater, "n", &change_graph::sequence(sequence));
        let page = GraphPattern::Slice {
            inner: Box::new(select(
                &[var("s")],
                GraphPattern::OrderBy {
                    inner: Box::new(filter(in_change_graph(sequence_of), after)),
                    expression: vec![OrderExpression::Asc(var("n").into())],
                },
            )),
            start: 0,
            length: Some(wanted),
        };
        self.read(page, context).await
    }

    async fn after(
        &self,
        sequence: u64,
        limit: usize,
        gaps: &Gaps,
        context: &CallContext,
    ) -> Result<Walked, StoreError> {
        let mut walked = Walked::default();
        let mut last = sequence;
        while walked.records.len() < limit {
            let wanted = RECORDS.min(limit - walked.records.len());
            let window = (1..=wanted as u64).map_while(|step| last.checked_add(step));
            let window = window.map(|number| vec![change_graph::sequence(number).into()]);
            let window = values(&["n"], window.collect());
            let sequence_of = triple(var("s"), property(SEQUENCE), var("n"));
            let start = join(window, in_change_graph(sequence_of));
            let mut read = self.read(start, context).await?;
            if last < read.forgotten {
                // What is left of the times before, in which there are gaps of any length.
                read = self.first_after(last, wanted, context).await?;
            }
            walked.forgotten = walked.forgotten.max(read.forgotten);
            let passed = read.passable(last, gaps);
            let Some(reached) = passed.last().map(|(sequence, _)| *sequence) else {
                if last >= walked.forgotten {
                    break;
                }
                last = walked.forgotten;
                continue;
            };
            last = reached;
            let records = passed.into_iter().filter_map(|(_, record)| record);
            walked.records.extend(records);
        }
        walked.records.truncate(limit);
        Ok(walked)
    }

    /// Reads the records whose nodes a pattern finds.
    async fn read(&self, start: GraphPattern, context: &CallContext) -> Result<Read, StoreError> {
        let whole = in_change_graph(triple(var("s"), var("p"), var("o")));
        let forgotten = values(
            &["s", "p"],
            vec![vec![
                NamedNode::from(change_graph::GRAPH).into(),
                property(FORGOTTEN).into(),
            ]],
        );
        let pattern = any_of(vec![join(start, whole.clone()), join(forgotten, whole)]);
        let columns = ["s", "p", "o"].map(var);
        let found = rows(self.endpoint, select(&columns, pattern), 3, context).await?;
        let mut triples = Vec::new();
        let mut terms = found.terms.into_iter();
        while let (Some(subject), Some(predicate), Some(object)) =
            (terms.next(), terms.next(), terms.next())
        {
            let triple = match (subject, predicate, object) {
                (Some(Term::NamedNode(s)), Some(Term::NamedNode(p)), Some(o)) => {
                    Triple::new(s, p, o)
                }
                _ => {
                    return Err(malformed(
                        "the change graph contains something that is not a record",
                    ));
                }
            };
            triples.push(triple);
        }
        Read::from_triples(triples)
    }

    /// Returns the nodes of some records before a time, the highest sequence of them, and how many are
    /// not those of abandoned attempts.
    pub(in crate::remote) async fn old(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<Old, StoreError> {
        let time = in_change_graph(triple(var("s"), property(change_graph::TIME), var("t")));
        let sequence = in_change_graph(triple(var("s"), property(SEQUENCE), var("n")));
        let is_old = compare(Expression::Less, "t", &change_graph::time(before));
        let columns = ["s", "n"].map(var);
        let page = GraphPattern::Slice {
            inner: Box::new(select(&columns, filter(join(time, sequence), is_old))),
            start: 0,
            length: Some(FORGOTTEN_AT_ONCE),
        };
        let found = rows(self.endpoint, page, 2, context).await?;
        let mut old = Old::default();
        for row in found.terms.chunks(2) {
            let [Some(Term::NamedNode(node)), Some(sequence)] = row else {
                return Err(malformed(
                    "the change graph contains something that is not a record",
                ));
            };
            let sequence = change_graph::as_sequence(sequence)
                .ok_or_else(|| malformed("a sequence is not a number"))?;
            old.highest = old.highest.max(sequence);
            old.records += u64::from(*node != abandoned(sequence));
            old.nodes.push(node.clone());
        }
        Ok(old)
    }
}

use change_graph::{FORGOTTEN, SEQUENCE, WRITER};

/// Old records.
#[derive(Debug, Default)]
pub(in crate::remote) struct Old {
    pub(in crate::remote) nodes: Vec<NamedNode>,
    pub(in crate::remote) records: u64,
    highest: u64,
}

impl Old {
    /// Returns the update that forgets them, and keeps in mind up to which sequence.
    pub(in crate::remote) fn forget(self) -> Update {
        let up_to = change_graph::forgotten(self.highest);
        let known = in_change_graph(triple(graph(), property(FORGOTTEN), var("o")));
        let is_less = compare(Expression::Less, "o", &change_graph::sequence(self.highest));
        let once = values(
            &["new"],
            vec![vec![change_graph::sequence(self.highest).into()]],
        );
        let any = super::graphs::no(filter(known.clone(), Expression::Not(Box::new(is_less))));
        let raised = GraphPattern::LeftJoin {
            left: Box::new(filter(once, any)),
            right: Box::new(known),
            expression: None,
        };
        let place = || GraphNamePattern::NamedNode(change_graph::GRAPH.into_owned());
        let removed = |s: spargebra::term::GroundTermPattern,
                       p: spargebra::term::NamedNodePattern| {
            GroundQuadPattern {
                subject: s,
                predicate: p,
                object: var("o").into(),
                graph_name: place(),
            }
        };
        let raise = GraphUpdateOperation::DeleteInsert {
            delete: vec![removed(graph().into(), property(FORGOTTEN).into())],
            insert: vec![QuadPattern {
                subject: graph().into(),
                predicate: property(FORGOTTEN).into(),
                object: up_to.object.into(),
                graph_name: place(),
            }],
            using: None,
            pattern: Box::new(raised),
        };
        let nodes = self.nodes.into_iter().map(|node| vec![node.into()]);
        let all = join(
            values(&["s"], nodes.collect()),
            in_change_graph(triple(var("s"), var("p"), var("o"))),
        );
        let remove = GraphUpdateOperation::DeleteInsert {
            delete: vec![removed(var("s").into(), var("p").into())],
            insert: Vec::new(),
            using: None,
            pattern: Box::new(all),
        };
        update(vec![raise, remove])
    }
}

/// Records in their order.
#[derive(Default)]
struct Walked {
    records: Vec<ChangeRecord>,
    /// The highest sequence that was forgotten.
    forgotten: u64,
}

/// What a query for records found.
struct Read {
    records: Vec<ChangeRecord>,
    /// The sequences of abandoned attempts.
    abandoned: Vec<u64>,
    forgotten: u64,
}

impl Read {
    fn from_triples(triples: Vec<Triple>) -> Result<Self, StoreError> {
        let is_fence = |triple: &Triple| {
            matches!(&triple.subject, NamedOrBlankNode::NamedNode(node)
                if node.as_str().starts_with(ABANDONED))
        };
        let (fences, triples): (Vec<_>, Vec<_>) = triples.into_iter().partition(is_fence);
        let fences = fences.iter().filter(|triple| triple.predicate == SEQUENCE);
        let abandoned = fences
            .filter_map(|triple| change_graph::as_sequence(&triple.object))
            .collect();
        let forgotten = triples
            .iter()
            .filter(|triple| triple.predicate == FORGOTTEN);
        let forgotten = forgotten
            .filter_map(|triple| change_graph::as_sequence(&triple.object))
            .max()
            .unwrap_or(0);
        let records = change_graph::records(triples);
        Ok(Read {
            records: records.map_err(|error| StoreError::Failed(Box::new(error)))?,
            abandoned,
            forgotten,
        })
    }

    /// Returns what comes after a sequence without a gap in which a record can still appear: none, or
    /// one before what is forgotten, or one that no transaction can fill any more.
    fn passable(self, mut last: u64, gaps: &Gaps) -> Vec<(u64, Option<ChangeRecord>)> {
        let records = self
            .records
            .into_iter()
            .map(|record| (record.sequence, Some(record)));
        let fences = self.abandoned.into_iter().map(|sequence| (sequence, None));
        let mut all: Vec<_> = records.chain(fences).collect();
        all.sort_by_key(|(sequence, _)| *sequence);
        let mut passed = Vec::new();
        for (sequence, record) in all {
            let is_gap = sequence > last.saturating_add(1) && sequence > self.forgotten + 1;
            // Whoever makes a fence has waited for what came before it.
            let is_settled = |record: &ChangeRecord| gaps.is_settled(last + 1, record.said.time);
            if is_gap && !record.as_ref().is_none_or(is_settled) {
                break;
            }
            last = sequence;
            passed.push((sequence, record));
        }
        passed
    }
}

/// The start of the nodes of abandoned attempts.
const ABANDONED: &str = "urn:graph-store:changes/abandoned/";

/// Returns the update that makes every open transaction conflict: all read who writes.
pub(in crate::remote) fn opening() -> Update {
    let place = || GraphNamePattern::NamedNode(graph());
    let known = in_change_graph(triple(graph(), property(WRITER), var("o")));
    update(vec![GraphUpdateOperation::DeleteInsert {
        delete: vec![GroundQuadPattern {
            subject: graph().into(),
            predicate: property(WRITER).into(),
            object: var("o").into(),
            graph_name: place(),
        }],
        insert: vec![QuadPattern {
            subject: graph().into(),
            predicate: property(WRITER).into(),
            object: Literal::from(BlankNode::default().as_str()).into(),
            graph_name: place(),
        }],
        using: None,
        pattern: Box::new(GraphPattern::LeftJoin {
            left: Box::new(values(&[], vec![Vec::new()])),
            right: Box::new(known),
            expression: None,
        }),
    }])
}

/// Returns the node that takes a sequence from an attempt whose update may still be on its way.
pub(super) fn abandoned(sequence: u64) -> NamedNode {
    NamedNode::new_unchecked(format!("{ABANDONED}{sequence}"))
}

fn graph() -> NamedNode {
    change_graph::GRAPH.into_owned()
}

fn property(property: oxrdf::NamedNodeRef<'_>) -> NamedNode {
    property.into_owned()
}

fn compare(
    operator: fn(Box<Expression>, Box<Expression>) -> Expression,
    variable: &str,
    literal: &Literal,
) -> Expression {
    operator(
        Box::new(var(variable).into()),
        Box::new(literal.clone().into()),
    )
}
