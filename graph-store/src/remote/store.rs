//! A store behind a SPARQL endpoint.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use call_context::{CallContext, Size};
use futures::FutureExt;
use futures::stream::{self, StreamExt, TryStreamExt};
use oxrdf::Term;
use spargebra::Query;
use spargebra::algebra::GraphPattern;

use super::dialect::{DefaultGraph, Dialect, TreeForm};
#[cfg(feature = "remote")]
use super::endpoint::UpdateEndpoint;
use super::endpoint::{EndpointQuery, Rows, SparqlEndpoint};
use super::facts::wanted;
use super::page::{FirstObjects, first_objects, ordered_page};
use super::results::{self, AskedSlots, malformed};
use super::solutions::{Solutions, width};
use super::tree::{self, can_have_values};
#[cfg(feature = "remote")]
use super::write::{IsolationReport, PlainWriter};
use crate::error::StoreError;
use crate::query::{
    Column, Dataset, Hydrated, HydrationRequest, NodeCondition, ObjectRef, Objects, Page,
    Selection, Slot, Take, Tree, TreeLevel, TreeRequest, ValueCondition, Window,
};
use crate::sparql::{self, Fact, Found, SlotQuery, TreeQuery};
#[cfg(feature = "remote")]
use crate::store::WriteStore;
use crate::store::order::named_nodes;
use crate::store::{GraphStore, StoreFeatures, StoreInfo, TreeStore, WindowBuilder, Windowed};

/// Options of a remote store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOptions {
    /// The kind of server.
    pub dialect: Dialect,
    /// What the default graph of the server holds.
    pub default_graph: DefaultGraph,
    /// What a request can choose; includes the name of the repository.
    pub features: StoreFeatures,
    /// The form in which several levels are read at once; `None` for one after the other.
    pub tree_form: Option<TreeForm>,
    /// Maximum number of nodes whose values one query fetches; at least 1.
    pub batch: usize,
    /// Maximum number of concurrent queries for one level; at least 1.
    pub concurrency: usize,
    /// For how long a transaction of the server may last.
    pub transaction_timeout: Duration,
    /// How long the answer to a commit is waited for before it is looked for what the commit wrote.
    pub commit_silence: Duration,
    /// How long the outcome of a commit is looked for whose answer was lost, unless the deadline is sooner.
    pub outcome_timeout: Duration,
}

impl RemoteOptions {
    /// Returns the options for a kind of server in its default configuration.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        RemoteOptions {
            dialect,
            default_graph: dialect.default_graph(),
            features: dialect.features(),
            tree_form: dialect.tree_form(),
            batch: 1_000,
            concurrency: 4,
            transaction_timeout: Duration::from_secs(60),
            commit_silence: Duration::from_secs(5),
            outcome_timeout: Duration::MAX,
        }
    }
}

/// A store behind a SPARQL endpoint.
///
/// A selection is one query. Few objects are read together with those that they lead to, in the form of
/// [`RemoteOptions::tree_form`]; the values of a level take at most one query per [`RemoteOptions::batch`]
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

    /// Runs a query for the solutions of a pattern, which is a projection.
    async fn rows(
        &self,
        pattern: GraphPattern,
        dataset: &Dataset,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let (query, text) = self.built(dataset, move || pattern)();
        self.rows_of(query, text, dataset, context).await
    }

    /// Returns what builds a query and its text.
    fn built(
        &self,
        dataset: &Dataset,
        pattern: impl FnOnce() -> GraphPattern + Send + 'static,
    ) -> impl FnOnce() -> (Query, String) + Send + 'static {
        let (dialect, default_graph) = (self.options.dialect, self.options.default_graph);
        let dataset = dataset.clone();
        move || {
            let query = dialect.query(default_graph, pattern(), &dataset);
            let text = query.to_string();
            (query, text)
        }
    }

    /// Runs a query with its text.
    async fn rows_of(
        &self,
        query: Query,
        text: String,
        dataset: &Dataset,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let width = match &query {
            Query::Select { pattern, .. } => width(pattern),
            _ => None,
        };
        let width = width.ok_or_else(|| malformed("a pattern projects nothing"))?;
        context.check()?;
        context.count_call();
        let started = Instant::now();
        let request = EndpointQuery {
            query: &query,
            text: &text,
            dataset,
        };
        let rows = self.endpoint.select(request, context).await?;
        if rows.width != width || !rows.terms.len().is_multiple_of(width) {
            return Err(malformed("a result has other columns than its query"));
        }
        if let Some(trace) = &context.trace {
            trace.record("query", Some(text), rows.terms.len() / width, started);
        }
        Ok(rows)
    }

    /// Fetches all objects with the values that an order compares.
    async fn rows_with(
        &self,
        facts: &[Fact],
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let condition = self.options.dialect.arranged(&selection.condition);
        let pattern = sparql::nodes_with_facts(&condition, facts);
        self.rows(pattern, &selection.dataset, context).await
    }

    /// Fetches the objects with the values that their order compares, and sorts them locally.
    async fn select_ordered(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        let facts = wanted(&selection.order, None);
        let rows = self.rows_with(&facts, selection, context).await?;
        let (order, page) = (selection.order.clone(), selection.page);
        let own = context.clone();
        let size = rows.terms.len();
        let sort = move || results::ordered(rows, &facts, &order, page, &own);
        context.run_sized(Size::Terms(size), sort).await?
    }

    /// Runs the query of a tree; returns no rows if there are too many.
    async fn rows_of_tree(
        &self,
        query: &Arc<TreeQuery>,
        is_nested: bool,
        dataset: &Dataset,
        context: &CallContext,
    ) -> Result<Option<Rows>, StoreError> {
        let asked = Arc::clone(query);
        let pattern = move || sparql::tree_of(&asked, is_nested);
        let build = self.built(dataset, pattern);
        let (query, text) = context
            .run_sized(Size::Terms(tree::size_of(query)), build)
            .await?;
        match self.rows_of(query, text, dataset, context).await {
            Err(StoreError::ResultTooLarge { .. }) => Ok(None),
            rows => rows.map(Some),
        }
    }

    /// Reads a tree; returns none if its query has too many rows.
    async fn tree_of(
        &self,
        query: TreeQuery,
        form: TreeForm,
        dataset: &Dataset,
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError> {
        let query = Arc::new(query);
        let rows = self.rows_of_tree(&query, form == TreeForm::Nested, dataset, context);
        let Some(rows) = rows.await? else {
            return Ok(None);
        };
        let (size, own) = (rows.terms.len(), context.clone());
        let sort_out = move || tree::from_rows(&rows, &query, form, &own);
        context
            .run_sized(Size::Terms(size), sort_out)
            .await?
            .map(Some)
    }

    /// Lets the server cut the first `objects` of an order, and reads levels from them; returns `None` if it cannot be
    /// trusted with that.
    async fn first_of_order(
        &self,
        selection: &Selection,
        objects: usize,
        levels: &[TreeLevel<'_>],
        context: &CallContext,
    ) -> Result<Option<(FirstObjects, Tree)>, StoreError> {
        let dialect = self.options.dialect;
        let page = ordered_page(selection, objects, dialect, &context.accept_language);
        let Some(page) = page.filter(|_| objects <= MOST_CUT) else {
            return Ok(None);
        };
        let query = Arc::new(tree::query_from(Found::Ordered(page.clone()), levels));
        let rows = self.rows_of_tree(&query, true, &selection.dataset, context);
        let Some(rows) = rows.await? else {
            return Ok(None);
        };
        let (order, size, own) = (selection.order.clone(), rows.terms.len(), context.clone());
        let sort_out = move || {
            let first = first_objects(&rows, query.columns(), &page, &order, &own)?;
            let first = first.filter(|first| first.is_complete || first.positions.len() >= objects);
            let Some(first) = first else { return Ok(None) };
            let tree = tree::from_rows(&rows, &query, TreeForm::Nested, &own)?;
            Ok::<_, StoreError>(Some((first, tree)))
        };
        context.run_sized(Size::Terms(size), sort_out).await?
    }

    /// Lets the server cut a page of an order, and reads levels from it.
    async fn page_of_order(
        &self,
        selection: &Selection,
        levels: &[TreeLevel<'_>],
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError> {
        let page = selection.page;
        let Some(limit) = page.limit else {
            return Ok(None);
        };
        let objects = limit.saturating_add(page.offset.unwrap_or(0));
        let objects = usize::try_from(objects).unwrap_or(usize::MAX);
        let found = self.first_of_order(selection, objects, levels, context);
        Ok(found.await?.map(|(first, mut tree)| {
            let range = page.range(first.positions.len());
            let positions = first
                .positions
                .into_iter()
                .skip(range.start)
                .take(range.len());
            tree.roots = positions.map(|position| position.id).collect();
            tree
        }))
    }

    /// Returns the first window of an order, which the server cuts.
    async fn first_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Option<Windowed>, StoreError> {
        let Window {
            after: None,
            before: None,
            take: Take::First(limit),
        } = *window
        else {
            return Ok(None);
        };
        // One more shows whether there are others.
        let objects = limit.saturating_add(1);
        let found = self.first_of_order(selection, objects, OBJECTS_ONLY, context);
        Ok(found.await?.map(|(mut first, _)| {
            let more = first.positions.len() > limit;
            first.positions.truncate(limit);
            let (objects, keys): (Vec<_>, _) = first
                .positions
                .into_iter()
                .map(|position| (position.id, position.keys))
                .unzip();
            Windowed {
                objects: objects.into(),
                keys,
                more,
                precedes: false,
                follows: false,
            }
        }))
    }

    /// Reads levels from the objects of a selection without an order, if there are few.
    async fn few_by_id(
        &self,
        selection: &Selection,
        levels: &[TreeLevel<'_>],
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError> {
        let few = FEW.min(self.options.batch);
        if selection.page.is_whole() && lists_more(&selection.condition, few) {
            return Ok(None);
        }
        let found = Found::ById {
            condition: self.options.dialect.arranged(&selection.condition),
            page: selection.page,
            most: few + 1,
        };
        let query = tree::query_from(found, levels);
        let tree = self.tree_of(query, TreeForm::Nested, &selection.dataset, context);
        Ok(tree.await?.filter(|tree| tree.roots.len() <= few))
    }

    /// Fetches the values of one batch of nodes for some of the slots, each with its facts.
    async fn hydrate_batch(
        &self,
        nodes: &[ObjectRef],
        slots: Arc<AskedSlots>,
        dataset: &Dataset,
        context: &CallContext,
    ) -> Result<Vec<Column>, StoreError> {
        let nodes: Arc<[ObjectRef]> = nodes.into();
        let branches = slots.iter().map(|(_, facts)| 1 + facts.len());
        // Each branch of the query lists the nodes.
        let size = nodes.len() * branches.sum::<usize>();
        let (own, asked) = (Arc::clone(&nodes), Arc::clone(&slots));
        let build = self.built(dataset, move || values_of(&own, &asked));
        let (query, text) = context.run_sized(Size::Terms(size), build).await?;
        let rows = self.rows_of(query, text, dataset, context).await?;
        let size = rows.terms.len();
        let own = context.clone();
        let sort_out = move || results::columns(rows, &nodes, &slots, &own);
        context.run_sized(Size::Terms(size), sort_out).await?
    }
}

/// Maximum number of objects up to the end of a page that the server cuts.
const MOST_CUT: usize = 100_000;

/// Maximum number of objects of a selection that are read together with their values.
const FEW: usize = 1_000;

/// The levels of a request for objects without their values.
const OBJECTS_ONLY: &[TreeLevel<'static>] = &[TreeLevel {
    parent: None,
    is_apart: false,
    slots: &[],
}];

/// Returns a query for the values of nodes for some slots, and for facts about them.
fn values_of(nodes: &[ObjectRef], slots: &[(Slot, Vec<Fact>)]) -> GraphPattern {
    let queries = slots.iter().map(|(slot, facts)| SlotQuery {
        step: &slot.step,
        of: slot.of.as_ref(),
        condition: slot.condition.as_ref(),
        facts,
    });
    sparql::values_of(nodes, &queries.collect::<Vec<_>>())
}

#[async_trait]
impl GraphStore for RemoteStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        if selects_nothing(selection) || takes_nothing(selection.page) {
            return Ok(Objects::default());
        }
        if !selection.order.is_empty() {
            let page = self.page_of_order(selection, OBJECTS_ONLY, context);
            return match page.await? {
                Some(tree) => Ok(tree.roots.into()),
                None => self.select_ordered(selection, context).await,
            };
        }
        let condition = self.options.dialect.arranged(&selection.condition);
        let pattern = sparql::nodes_page(&condition, selection.page);
        let rows = self.rows(pattern, &selection.dataset, context).await?;
        let size = rows.terms.len();
        let objects = move || results::by_iri(rows);
        Ok(context.run_sized(Size::Terms(size), objects).await?)
    }

    async fn count(&self, selection: &Selection, context: &CallContext) -> Result<u64, StoreError> {
        if selects_nothing(selection) {
            return Ok(0);
        }
        let condition = self.options.dialect.arranged(&selection.condition);
        if self.options.dialect.miscounts_values() && joins_values(&condition) {
            let pattern = sparql::nodes_page(&condition, Page::default());
            let rows = self.rows(pattern, &selection.dataset, context).await?;
            let size = rows.terms.len();
            let count = move || named_nodes(rows.terms.into_iter().flatten()).count() as u64;
            return Ok(context.run_sized(Size::Terms(size), count).await?);
        }
        let pattern = sparql::count_of(&condition);
        let rows = self.rows(pattern, &selection.dataset, context).await?;
        match rows.terms.as_slice() {
            [Some(Term::Literal(count))] => count
                .value()
                .parse()
                .map_err(|_| malformed("a count is not a number")),
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
        if selects_nothing(selection) {
            return Ok(WindowBuilder::new(&selection.order, window).finish());
        }
        if let Some(windowed) = self.first_window(selection, window, context).await? {
            return Ok(windowed);
        }
        let facts = wanted(&selection.order, None);
        let rows = self.rows_with(&facts, selection, context).await?;
        let (order, window, own) = (selection.order.clone(), window.clone(), context.clone());
        let size = rows.terms.len();
        let cut = move || results::windowed(rows, &facts, &order, &window, &own);
        context.run_sized(Size::Terms(size), cut).await?
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        let asked = request.slots.iter().filter(|slot| can_have_values(slot));
        let asked: AskedSlots = asked
            .map(|slot| match &slot.page {
                None => (slot.clone(), Vec::new()),
                Some(page) => (slot.clone(), wanted(&page.order, page.members.as_ref())),
            })
            .collect();
        let nodes = request.nodes.to_refs();
        let mut fetches = Vec::new();
        if !asked.is_empty() {
            let asked = Arc::new(asked);
            for nodes in nodes.chunks(self.options.batch.max(1)) {
                let fetch = self.hydrate_batch(nodes, Arc::clone(&asked), request.dataset, context);
                fetches.push(fetch.boxed());
            }
        }
        let fetched: Vec<Vec<Column>> = stream::iter(fetches)
            .buffered(self.options.concurrency.max(1))
            .try_collect()
            .await?;
        let nodes = request.nodes.len();
        let values = fetched.iter().flatten().map(|column| column.values.len());
        let size = nodes + values.sum::<usize>();
        let is_asked: Vec<bool> = request.slots.iter().map(can_have_values).collect();
        let join = move || results::joined(fetched, &is_asked, nodes);
        Ok(context.run_sized(Size::Terms(size), join).await?)
    }

    fn features(&self) -> StoreFeatures {
        self.options.features.clone()
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.endpoint.probe(context).await
    }

    fn trees(&self) -> Option<&dyn TreeStore> {
        Some(self)
    }

    #[cfg(feature = "remote")]
    fn writer(&self) -> Option<&dyn WriteStore> {
        let writer = self.writer.as_ref()?;
        Some(writer)
    }
}

#[async_trait]
impl TreeStore for RemoteStore {
    async fn read_tree(
        &self,
        request: &TreeRequest<'_>,
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError> {
        let Some(form) = self.options.tree_form else {
            return Ok(None);
        };
        if request.roots.len() > self.options.batch {
            return Ok(None);
        }
        if reads_nothing(request) {
            return Ok(Some(tree::nothing(request.levels)));
        }
        // If there is too much, the levels may be small enough one by one.
        let query = tree::query_of(request);
        self.tree_of(query, form, request.dataset, context).await
    }

    async fn select_tree(
        &self,
        selection: &Selection,
        levels: &[TreeLevel<'_>],
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError> {
        if self.options.tree_form != Some(TreeForm::Nested) {
            return Ok(None);
        }
        if selects_nothing(selection) || takes_nothing(selection.page) {
            return Ok(Some(tree::nothing(levels)));
        }
        if selection.order.is_empty() {
            return self.few_by_id(selection, levels, context).await;
        }
        // What is skipped is read, too.
        let Page { offset, limit } = selection.page;
        let few = FEW.min(self.options.batch) as u64;
        let skipped = offset.unwrap_or(0);
        if limit.is_none_or(|limit| limit > few || skipped > limit) {
            return Ok(None);
        }
        if let Some(tree) = self.page_of_order(selection, levels, context).await? {
            return Ok(Some(tree));
        }
        // Without a tree the caller would select the objects, and have the server try to cut the page once more.
        let found = self.select_ordered(selection, context).await?;
        let request = TreeRequest {
            roots: &found.into_refs(),
            condition: None,
            levels,
            dataset: &selection.dataset,
        };
        self.read_tree(&request, context).await
    }

    /// In the flat form a server would join the objects of a level with all that their properties have anywhere.
    fn reads_apart(&self) -> bool {
        self.options.tree_form == Some(TreeForm::Nested)
    }
}

#[async_trait]
impl Solutions for RemoteStore {
    async fn solutions(
        &self,
        pattern: GraphPattern,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        self.rows(pattern, &Dataset::default(), context).await
    }
}

/// Returns whether no object can be selected, so that no server needs to be asked: the condition is
/// false by its form, as a list of no ids is, or the dataset lists no graph at all, which no dataset
/// clause can say.
fn selects_nothing(selection: &Selection) -> bool {
    selection.condition.is_false() || selection.dataset.graphs.as_ref().is_some_and(Vec::is_empty)
}

/// Returns whether no object and no value can be read, so that no server needs to be asked.
fn reads_nothing(request: &TreeRequest<'_>) -> bool {
    request.condition.is_some_and(NodeCondition::is_false)
        || request.dataset.graphs.as_ref().is_some_and(Vec::is_empty)
}

/// Returns whether a condition lists more ids than that, of which most will satisfy it.
fn lists_more(condition: &NodeCondition, than: usize) -> bool {
    match condition {
        NodeCondition::OneOf(ids) => ids.len() > than,
        NodeCondition::All(parts) => parts.iter().any(|part| lists_more(part, than)),
        _ => false,
    }
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
