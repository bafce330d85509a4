//! A store behind a SPARQL endpoint.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::FutureExt;
use futures::stream::{self, StreamExt, TryStreamExt};
use oxrdf::{NamedNode, Term};
use spargebra::algebra::GraphPattern;

use super::dialect::{DefaultGraph, Dialect};
#[cfg(feature = "remote")]
use super::endpoint::UpdateEndpoint;
use super::endpoint::{EndpointQuery, Rows, SparqlEndpoint};
use super::facts::{Facts, wanted};
use super::solutions::{Solutions, width};
#[cfg(feature = "remote")]
use super::write::{IsolationReport, PlainWriter};
use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::{
    Column, Dataset, Hydrated, HydrationRequest, NodeCondition, ObjectRef, Page, Position,
    Selection, Slot, ValueCondition, Window, object_refs,
};
use crate::sparql::{self, Fact, SlotQuery};
#[cfg(feature = "remote")]
use crate::store::WriteStore;
use crate::store::order::{
    CHECK_EVERY, KeyCache, drop_repeated, keys, named_nodes, sorted_page, sorted_values,
};
use crate::store::{GraphStore, StoreFeatures, StoreInfo, WindowBuilder, Windowed};

/// Options of a remote store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOptions {
    /// The kind of server.
    pub dialect: Dialect,
    /// What the default graph of the server holds.
    pub default_graph: DefaultGraph,
    /// What a request can choose; includes the name of the repository.
    pub features: StoreFeatures,
    /// Maximum number of nodes whose values one query fetches; at least 1.
    pub batch: usize,
    /// Maximum number of concurrent queries for one level; at least 1.
    pub concurrency: usize,
    /// For how long a transaction of the server may last.
    pub transaction_timeout: Duration,
}

impl RemoteOptions {
    /// Returns the options for a kind of server in its default configuration.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        RemoteOptions {
            dialect,
            default_graph: dialect.default_graph(),
            features: dialect.features(),
            batch: 1_000,
            concurrency: 4,
            transaction_timeout: Duration::from_secs(60),
        }
    }
}

/// A store behind a SPARQL endpoint.
///
/// A selection is one query. The values of a level take one query per [`RemoteOptions::batch`]
/// nodes.
pub struct RemoteStore {
    endpoint: Arc<dyn SparqlEndpoint>,
    options: RemoteOptions,
    #[cfg(feature = "remote")]
    writer: Option<PlainWriter>,
}

impl RemoteStore {
    /// Creates a store over an endpoint.
    #[must_use]
    pub fn new(endpoint: Arc<dyn SparqlEndpoint>, options: RemoteOptions) -> Self {
        RemoteStore {
            endpoint,
            options,
            #[cfg(feature = "remote")]
            writer: None,
        }
    }

    /// Makes the store one that is written to by guarded updates.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn with_updates(mut self, endpoint: Arc<dyn UpdateEndpoint>) -> Self {
        self.writer = Some(PlainWriter::new(endpoint, &self.options));
        self
    }

    /// Lets two writers race so many times, in a graph of their own that is removed afterwards. If both
    /// win a race, the store refuses to be written to from then on.
    ///
    /// # Errors
    /// When the store cannot be written to, or fails.
    #[cfg(feature = "remote")]
    pub async fn probe_isolation(
        &self,
        rounds: u32,
        context: &CallContext,
    ) -> Result<IsolationReport, StoreError> {
        match &self.writer {
            Some(writer) => writer.probe_isolation(rounds, context).await,
            None => Err(StoreError::Unsupported(
                "the store cannot be written to".to_owned(),
            )),
        }
    }

    /// Runs a query whose rows have `width` terms.
    async fn rows(
        &self,
        pattern: GraphPattern,
        width: usize,
        dataset: &Dataset,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        context.check()?;
        let options = &self.options;
        let query = options
            .dialect
            .query(options.default_graph, pattern, dataset);
        context.count_call();
        let started = Instant::now();
        let request = EndpointQuery {
            query: &query,
            dataset,
        };
        let rows = self.endpoint.select(request, context).await?;
        if rows.width != width || !rows.terms.len().is_multiple_of(width) {
            return Err(malformed("a result has other columns than its query"));
        }
        if let Some(trace) = &context.trace {
            let text = Some(query.to_string());
            trace.record("query", text, rows.terms.len() / width, started);
        }
        Ok(rows)
    }

    /// Fetches the objects with the values that their order compares, and sorts them locally.
    async fn select_ordered(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Vec<NamedNode>, StoreError> {
        let (nodes, facts) = self.nodes_with_facts(selection, context).await?;
        let mut cache = KeyCache::default();
        sorted_page(&facts, nodes, &selection.order, selection.page, &mut cache)
    }

    /// Fetches all distinct objects with the values that their order compares.
    async fn nodes_with_facts<'c>(
        &self,
        selection: &Selection,
        context: &'c CallContext,
    ) -> Result<(Vec<NamedNode>, Facts<'c>), StoreError> {
        let wanted = wanted(&selection.order, None);
        let pattern = sparql::nodes_with_facts(&selection.condition, &wanted);
        let rows = self.rows(pattern, 3, &selection.dataset, context).await?;
        let mut facts = Facts::new(context);
        let mut nodes = Vec::new();
        for row in numbered(rows) {
            match (row?, wanted.as_slice()) {
                ((Term::NamedNode(node), 0, None), _) => nodes.push(node),
                ((node, number @ 1.., Some(value)), wanted) if number <= wanted.len() => {
                    facts.add(node, &wanted[number - 1].step, value);
                }
                _ => return Err(malformed("a result has rows that its query cannot give")),
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        Ok((nodes, facts))
    }

    /// Fetches the values of one batch of nodes for some of the slots, each with its facts.
    async fn hydrate_batch(
        &self,
        nodes: &[ObjectRef],
        slots: &[(&Slot, Vec<Fact>)],
        dataset: &Dataset,
        context: &CallContext,
    ) -> Result<Vec<Column>, StoreError> {
        let queries: Vec<SlotQuery<'_>> = slots
            .iter()
            .map(|(slot, facts)| SlotQuery {
                step: &slot.step,
                condition: slot.condition.as_ref(),
                facts,
            })
            .collect();
        let pattern = sparql::values_of(nodes, &queries);
        let rows = self.rows(pattern, 3, dataset, context).await?;
        let mut known = Facts::new(context);
        let values = sorted_out(rows, nodes, &queries, &mut known)?;
        let columns = slots.iter().zip(values).map(|((slot, _), values)| {
            let mut column = Column::with_capacity(nodes.len());
            let mut cache = KeyCache::default();
            for mut values in values {
                drop_repeated(&mut values, 0);
                if let Some(page) = &slot.page {
                    values = sorted_values(&known, values, page, &mut cache)?;
                }
                column.values.append(&mut values);
                column.end_node();
            }
            Ok(column)
        });
        columns.collect()
    }
}

/// Assigns the values in rows to their slots and nodes, and adds facts about values to `known`.
fn sorted_out(
    rows: Rows,
    nodes: &[ObjectRef],
    slots: &[SlotQuery<'_>],
    known: &mut Facts<'_>,
) -> Result<Vec<Vec<Vec<Term>>>, StoreError> {
    let positions: HashMap<&NamedNode, usize> =
        nodes.iter().map(ObjectRef::node).zip(0..).collect();
    let steps: Vec<_> = slots.iter().flat_map(|slot| slot.facts).collect();
    let mut values = vec![vec![Vec::new(); nodes.len()]; slots.len()];
    for row in numbered(rows) {
        let (node, number, Some(value)) = row? else {
            return Err(malformed("a result lacks a value"));
        };
        if let Some(slot) = values.get_mut(number) {
            let position = match &node {
                Term::NamedNode(node) => positions.get(node),
                _ => None,
            };
            let &position =
                position.ok_or_else(|| malformed("a result has nodes not asked for"))?;
            if !matches!(value, Term::BlankNode(_)) {
                slot[position].push(value);
            }
        } else {
            let fact = steps
                .get(number - slots.len())
                .ok_or_else(|| malformed("a result has a number not asked for"))?;
            known.add(node, &fact.step, value);
        }
    }
    Ok(values)
}

#[async_trait]
impl GraphStore for RemoteStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Vec<ObjectRef>, StoreError> {
        if selects_nothing(selection) || takes_nothing(selection.page) {
            return Ok(Vec::new());
        }
        if !selection.order.is_empty() {
            let nodes = self.select_ordered(selection, context).await?;
            return Ok(object_refs(nodes));
        }
        let pattern = sparql::nodes_page(&selection.condition, selection.page);
        let rows = self.rows(pattern, 1, &selection.dataset, context).await?;
        let mut nodes: Vec<NamedNode> = named_nodes(rows.terms.into_iter().flatten()).collect();
        // Not every store sorts strings by code point within a page, and a stable order of lists is
        // worth the sorting time.
        nodes.sort_unstable();
        Ok(object_refs(nodes))
    }

    async fn count(&self, selection: &Selection, context: &CallContext) -> Result<u64, StoreError> {
        if selects_nothing(selection) {
            return Ok(0);
        }
        if self.options.dialect.miscounts_values() && joins_values(&selection.condition) {
            let pattern = sparql::nodes_page(&selection.condition, Page::default());
            let rows = self.rows(pattern, 1, &selection.dataset, context).await?;
            return Ok(named_nodes(rows.terms.into_iter().flatten()).count() as u64);
        }
        let pattern = sparql::count_of(&selection.condition);
        let rows = self.rows(pattern, 1, &selection.dataset, context).await?;
        match rows.terms.as_slice() {
            [Some(Term::Literal(count))] => count
                .value()
                .parse()
                .map_err(|_| malformed("a count is no number")),
            // RDF4J returns no row when it detects early that nothing can match.
            [] => Ok(0),
            _ => Err(malformed("a count is not one number")),
        }
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        let order = &selection.order;
        let mut builder = WindowBuilder::new(order, window);
        if selects_nothing(selection) {
            return Ok(builder.finish());
        }
        let (nodes, facts) = self.nodes_with_facts(selection, context).await?;
        for (position, id) in nodes.into_iter().enumerate() {
            if position % CHECK_EVERY == 0 {
                context.check()?;
            }
            let keys = keys(&facts, &id, order)?;
            let id = id.into();
            builder.offer(Position { keys, id });
        }
        Ok(builder.finish())
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        let asked = request.slots.iter().filter(|slot| can_have_values(slot));
        let asked: Vec<(&Slot, Vec<Fact>)> = asked
            .map(|slot| match &slot.page {
                None => (slot, Vec::new()),
                Some(page) => (slot, wanted(&page.order, page.members.as_ref())),
            })
            .collect();
        let mut fetches = Vec::new();
        if !asked.is_empty() {
            for nodes in request.nodes.chunks(self.options.batch.max(1)) {
                let fetch = self.hydrate_batch(nodes, &asked, request.dataset, context);
                fetches.push(fetch.boxed());
            }
        }
        let fetched: Vec<Vec<Column>> = stream::iter(fetches)
            .buffered(self.options.concurrency.max(1))
            .try_collect()
            .await?;
        let mut columns: Vec<Column> = request
            .slots
            .iter()
            .map(|_| Column::with_capacity(request.nodes.len()))
            .collect();
        for batch in fetched {
            let filled = columns.iter_mut().zip(request.slots);
            let filled = filled.filter(|(_, slot)| can_have_values(slot));
            for ((column, _), part) in filled.zip(batch) {
                column.append(part);
            }
        }
        let unasked = columns.iter_mut().zip(request.slots);
        for (column, _) in unasked.filter(|(_, slot)| !can_have_values(slot)) {
            request.nodes.iter().for_each(|_| column.end_node());
        }
        Ok(Hydrated { columns })
    }

    fn features(&self) -> StoreFeatures {
        self.options.features.clone()
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.endpoint.probe(context).await
    }

    #[cfg(feature = "remote")]
    fn writer(&self) -> Option<&dyn WriteStore> {
        let writer = self.writer.as_ref()?;
        Some(writer)
    }
}

#[async_trait]
impl Solutions for RemoteStore {
    async fn solutions(
        &self,
        pattern: GraphPattern,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let width = width(&pattern).ok_or_else(|| malformed("a pattern projects nothing"))?;
        self.rows(pattern, width, &Dataset::default(), context)
            .await
    }
}

/// Tells whether no object can be selected, so that no server needs to be asked: the condition is
/// false by its form, as a list of no ids is, or the dataset lists no graph at all, which no dataset
/// clause can say.
fn selects_nothing(selection: &Selection) -> bool {
    selection.condition.is_false() || selection.dataset.graphs.as_ref().is_some_and(Vec::is_empty)
}

/// Tells whether some value can be in a slot.
fn can_have_values(slot: &Slot) -> bool {
    !slot
        .condition
        .as_ref()
        .is_some_and(ValueCondition::is_false)
}

/// Returns whether the query of a condition joins a list of terms.
fn joins_values(condition: &NodeCondition) -> bool {
    match condition {
        NodeCondition::OneOf(_) | NodeCondition::Iri(_) => true,
        NodeCondition::Instance(test) => {
            test.alternatives.iter().any(|(_, types)| types.len() != 1)
        }
        NodeCondition::All(parts) => parts.iter().any(joins_values),
        NodeCondition::Values { condition, .. } => match condition.as_ref() {
            ValueCondition::Node(inner) => joins_values(inner),
            ValueCondition::Term(_) => false,
        },
        // These become filters.
        NodeCondition::Any(_) | NodeCondition::Not(_) => false,
    }
}

fn takes_nothing(page: Page) -> bool {
    page.limit == Some(0)
}

/// Reads rows of a node, a number and a value.
fn numbered(rows: Rows) -> impl Iterator<Item = Result<(Term, usize, Option<Term>), StoreError>> {
    let mut terms = rows.terms.into_iter();
    std::iter::from_fn(move || {
        let (node, number, value) = (terms.next()?, terms.next()?, terms.next()?);
        let number = match number {
            Some(Term::Literal(number)) => number.value().parse().ok(),
            _ => None,
        };
        Some(match (node, number) {
            (Some(node), Some(number)) => Ok((node, number, value)),
            _ => Err(malformed("a result has a row without node or number")),
        })
    })
}

fn malformed(what: &'static str) -> StoreError {
    StoreError::Failed(what.into())
}
