//! The embedded store: Oxigraph, in memory by default.
//!
//! Objects are selected by SPARQL; values are read by walking the index, which costs no query.
//! Ordering is done here, since the store would sort everything before it cuts a page.

mod direct;

use std::collections::HashSet;
use std::time::Instant;

use async_trait::async_trait;
use oxigraph::sparql::{CancellationToken, QueryEvaluationError, QueryResults, SparqlEvaluator};
use oxigraph::store::{StorageError, Store};
use oxrdf::{GraphName, GraphNameRef, NamedNode, NamedOrBlankNodeRef, Term, TermRef};
use spargebra::Query;

use super::order::{
    CHECK_EVERY, KeyCache, Neighbours, drop_repeated, named_nodes, sorted_page, sorted_values,
};
use super::{
    Column, GraphStore, Hydrated, HydrationRequest, Slot, SlotPage, StoreError, StoreInfo,
};
use crate::plan::{Dataset, Selection, Step, TypeTest, ValueCondition};
use crate::request::RequestContext;
use crate::sparql;

/// An Oxigraph store.
pub struct OxigraphStore {
    store: Store,
}

impl OxigraphStore {
    /// Wraps a store, whatever is loaded into it.
    #[must_use]
    pub fn new(store: Store) -> Self {
        OxigraphStore { store }
    }

    /// Returns the store itself.
    #[must_use]
    pub fn inner(&self) -> &Store {
        &self.store
    }
}

#[async_trait]
impl GraphStore for OxigraphStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &RequestContext,
    ) -> Result<Vec<NamedNode>, StoreError> {
        context.count_call();
        let walker = Walker::new(&self.store, &selection.dataset, context);
        let started = Instant::now();
        let nodes = match walker.select_directly(&selection.condition)? {
            Some(nodes) => {
                walker.record("look-ups", None, nodes.len(), started);
                nodes
            }
            None => {
                let query = sparql::select_nodes(&selection.condition, &selection.dataset);
                named_nodes(walker.evaluate(query, &selection.dataset)?).collect()
            }
        };
        if selection.order.is_empty() && selection.page.is_whole() {
            return Ok(nodes);
        }
        let mut cache = KeyCache::default();
        sorted_page(&walker, nodes, &selection.order, selection.page, &mut cache)
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &RequestContext,
    ) -> Result<Hydrated, StoreError> {
        context.count_call();
        let walker = Walker::new(&self.store, request.dataset, context);
        let started = Instant::now();
        let columns: Vec<Column> = request
            .slots
            .iter()
            .map(|slot| walker.column(request.nodes, slot, request.dataset))
            .collect::<Result<_, _>>()?;
        let values = columns.iter().map(|column| column.values.len()).sum();
        walker.record("walks", None, values, started);
        Ok(Hydrated { columns })
    }

    fn is_blocking(&self) -> bool {
        true
    }

    async fn probe(&self, _context: &RequestContext) -> Result<StoreInfo, StoreError> {
        // Counting costs a walk over everything; whether there is anything costs nothing.
        let is_empty = self.store.is_empty().map_err(failed)?;
        Ok(StoreInfo {
            provider: "in-memory".to_owned(),
            statements: is_empty.then_some(0),
        })
    }
}

fn failed(error: StorageError) -> StoreError {
    StoreError::Failed(Box::new(error))
}

/// Reads one dataset for one request.
struct Walker<'a> {
    store: &'a Store,
    context: &'a RequestContext,
    /// Exactly these graphs; `None` for all.
    graphs: Option<Vec<GraphName>>,
    /// A triple may occur in several of the graphs.
    may_repeat: bool,
}

impl<'a> Walker<'a> {
    fn new(store: &'a Store, dataset: &Dataset, context: &'a RequestContext) -> Self {
        let graphs = dataset.graphs.as_ref().map(|graphs| {
            graphs
                .iter()
                .cloned()
                .map(GraphName::NamedNode)
                .collect::<Vec<_>>()
        });
        let may_repeat = match &graphs {
            Some(graphs) => graphs.len() > 1,
            None => store.named_graphs().next().is_some(),
        };
        Walker {
            store,
            context,
            graphs,
            may_repeat,
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        self.context.check()
    }

    /// Adds a step to the trace of the request, when somebody wants it.
    fn record(&self, work: &'static str, sparql: Option<String>, rows: usize, started: Instant) {
        if let Some(trace) = &self.context.trace {
            trace.record(work, sparql, rows, started);
        }
    }

    /// Runs a query with one column and returns its terms.
    fn evaluate(&self, query: Query, dataset: &Dataset) -> Result<Vec<Term>, StoreError> {
        self.check()?;
        let started = Instant::now();
        let text = self.context.trace.is_some().then(|| query.to_string());
        let token = CancellationToken::new();
        let _watch = Watch::start(self.context, token.clone());
        let mut prepared = SparqlEvaluator::new()
            .with_cancellation_token(token)
            .for_query(query);
        if dataset.graphs.is_none() {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let results = prepared
            .on_store(self.store)
            .execute()
            .map_err(|e| self.query_error(e))?;
        let QueryResults::Solutions(solutions) = results else {
            return Err(StoreError::Failed("the query is not a SELECT".into()));
        };
        let mut terms = Vec::new();
        for solution in solutions {
            let solution = solution.map_err(|e| self.query_error(e))?;
            terms.extend(solution.get(0).cloned());
        }
        self.record("query", text, terms.len(), started);
        Ok(terms)
    }

    fn query_error(&self, error: QueryEvaluationError) -> StoreError {
        match error {
            QueryEvaluationError::Cancelled => self.check().err().unwrap_or(StoreError::Cancelled),
            other => StoreError::Failed(Box::new(other)),
        }
    }

    /// Appends the distinct values of one step, blank nodes left out.
    fn walk(
        &self,
        node: &NamedNode,
        step: &Step,
        values: &mut Vec<Term>,
    ) -> Result<(), StoreError> {
        let start = values.len();
        match &self.graphs {
            None => self.walk_graph(node, step, None, values)?,
            Some(graphs) => {
                for graph in graphs {
                    self.walk_graph(node, step, Some(graph.as_ref()), values)?;
                }
            }
        }
        if self.may_repeat && values.len() - start > 1 {
            drop_repeated(values, start);
        }
        Ok(())
    }

    fn walk_graph(
        &self,
        node: &NamedNode,
        step: &Step,
        graph: Option<GraphNameRef<'_>>,
        values: &mut Vec<Term>,
    ) -> Result<(), StoreError> {
        let subject: NamedOrBlankNodeRef<'_> = node.into();
        let object: TermRef<'_> = node.into();
        let (subject, object) = if step.inverse {
            (None, Some(object))
        } else {
            (Some(subject), None)
        };
        let predicate = Some(step.predicate.as_ref());
        for quad in self
            .store
            .quads_for_pattern(subject, predicate, object, graph)
        {
            let quad = quad.map_err(failed)?;
            let value = if step.inverse {
                quad.subject.into()
            } else {
                quad.object
            };
            if !matches!(value, Term::BlankNode(_)) {
                values.push(value);
            }
        }
        Ok(())
    }

    fn column(
        &self,
        nodes: &[NamedNode],
        slot: &Slot,
        dataset: &Dataset,
    ) -> Result<Column, StoreError> {
        let mut column = Column::with_capacity(nodes.len());
        for (position, node) in nodes.iter().enumerate() {
            if position % CHECK_EVERY == 0 {
                self.check()?;
            }
            self.walk(node, &slot.step, &mut column.values)?;
            column.end_node();
        }
        if let Some(condition) = &slot.condition {
            column = self.filtered(column, condition, dataset)?;
        }
        if let Some(page) = &slot.page {
            column = self.paged(column, page)?;
        }
        Ok(column)
    }

    fn filtered(
        &self,
        column: Column,
        condition: &ValueCondition,
        dataset: &Dataset,
    ) -> Result<Column, StoreError> {
        if let ValueCondition::Node(condition) = condition
            && direct::is_direct(condition)
        {
            return self.filtered_directly(column, condition);
        }
        let distinct: HashSet<&Term> = column.values.iter().collect();
        if distinct.is_empty() {
            return Ok(column);
        }
        let query = sparql::select_values(distinct, condition, dataset);
        let kept: HashSet<Term> = self.evaluate(query, dataset)?.into_iter().collect();
        rebuilt(column, |mut values| {
            values.retain(|value| kept.contains(value));
            Ok(values)
        })
    }

    fn paged(&self, column: Column, page: &SlotPage) -> Result<Column, StoreError> {
        let mut cache = KeyCache::default();
        rebuilt(column, |values| {
            sorted_values(self, values, page, &mut cache)
        })
    }
}

impl Neighbours for Walker<'_> {
    fn context(&self) -> &RequestContext {
        self.context
    }

    fn walk(
        &self,
        node: &NamedNode,
        step: &Step,
        values: &mut Vec<Term>,
    ) -> Result<(), StoreError> {
        Walker::walk(self, node, step, values)
    }

    fn is_instance(&self, node: &NamedNode, test: &TypeTest) -> Result<bool, StoreError> {
        Walker::is_instance(self, node, test)
    }
}

/// Rebuilds a column from the changed values of each object.
fn rebuilt(
    column: Column,
    mut change: impl FnMut(Vec<Term>) -> Result<Vec<Term>, StoreError>,
) -> Result<Column, StoreError> {
    let mut out = Column::with_capacity(column.offsets.len());
    let mut values = column.values.into_iter();
    for pair in column.offsets.windows(2) {
        let length = (pair[1] - pair[0]) as usize;
        out.values
            .extend(change(values.by_ref().take(length).collect())?);
        out.end_node();
    }
    Ok(out)
}

/// Passes the deadline and the cancellation of a request on to a running query.
struct Watch(Option<tokio::task::AbortHandle>);

impl Watch {
    fn start(context: &RequestContext, token: CancellationToken) -> Self {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return Watch(None);
        };
        let cancellation = context.cancellation.clone();
        let deadline = context.deadline;
        let task = runtime.spawn(async move {
            match deadline {
                None => cancellation.cancelled().await,
                Some(deadline) => {
                    let ended = cancellation.cancelled();
                    // Either way the query is to stop.
                    let _ = tokio::time::timeout_at(deadline.into(), ended).await;
                }
            }
            token.cancel();
        });
        Watch(Some(task.abort_handle()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}
