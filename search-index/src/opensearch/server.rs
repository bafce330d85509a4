//! The engine: what each of its calls sends, and what it makes of the answers.

use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;
use bytes::Bytes;
use call_context::Size;
use graph_store::CallContext;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::aliases::{Described, actions, write_alias};
use super::analyzers::Installed;
use super::answer::{Form, Shards};
use super::bulk::{self, Outcome};
use super::client::Client;
use super::exchange::{Repeat, Reply, Request};
use super::failure::{Failure, TOO_MANY_BUCKETS};
use super::health::{Allocation, ClusterHealth, ShardsHealth};
use super::ids;
use super::options::{OpenSearchOptions, OptionsError, bound};
use super::{clauses, totals};
use crate::dsl::{FieldSort, Search, Sort, SortMode, TotalHits};
use crate::engine::{
    Answer, Binding, Built, BulkOperation, EngineError, EngineHealth, EngineInfo, IndexCondition,
    IndexState, Mark, PhysicalName, Rejected, SearchEngine, Switch,
};
use crate::mapping::{Analyzers, Dialect, Owner, PATTERN};

/// Most documents of a page; the engine has this limit unless its settings raise it.
const MAX_PAGE: usize = 10_000;

/// A cluster of OpenSearch.
///
/// ```no_run
/// use search_index::engine::SearchEngine;
/// use search_index::opensearch::{OpenSearch, OpenSearchOptions};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let addresses = "http://one:9200, http://two:9200".parse()?;
/// let engine = OpenSearch::new(OpenSearchOptions::new(addresses, "demo"))?;
/// let info = engine.info(&Default::default()).await?;
/// println!("{} {}", info.name, info.version);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OpenSearch {
    client: Client,
    known: RwLock<Option<Known>>,
}

/// What is known of a cluster that was asked.
#[derive(Clone, Debug)]
struct Known {
    info: EngineInfo,
    dialect: Dialect,
}

impl OpenSearch {
    /// Creates an engine; no node is called yet.
    ///
    /// # Errors
    /// When the options contradict each other, or an authority is no certificate.
    pub fn new(options: OpenSearchOptions) -> Result<Self, OptionsError> {
        Ok(OpenSearch {
            client: Client::new(options)?,
            known: RwLock::default(),
        })
    }

    async fn run(&self, request: Request<'_>, context: &CallContext) -> Result<Reply, Failure> {
        let result = self.client.run(request, context).await;
        if matches!(&result, Err(failure) if failure.is_outage()) {
            // When it is back it may be another.
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
        result
    }

    /// Sends a request that is about one index.
    async fn on(
        &self,
        name: &PhysicalName,
        request: Request<'_>,
        context: &CallContext,
    ) -> Result<Reply, EngineError> {
        let result = self.run(request, context).await;
        result.map_err(|failure| of_index(failure, name))
    }

    async fn known(&self, context: &CallContext) -> Result<Known, EngineError> {
        let known = self
            .known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let known = self.ask(context).await?;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known.clone());
        Ok(known)
    }

    async fn ask(&self, context: &CallContext) -> Result<Known, EngineError> {
        #[derive(Deserialize)]
        struct Root {
            version: Version,
        }
        #[derive(Deserialize)]
        struct Version {
            number: String,
            distribution: Option<String>,
        }
        let root: Root = self.run(Request::get(&[]), context).await?.json()?;
        let Version {
            number,
            distribution,
        } = root.version;
        let dialect = match (distribution.as_deref(), number.split('.').next()) {
            (Some("opensearch"), Some("2")) => Dialect::OpenSearch2,
            (Some("opensearch"), Some("3")) => Dialect::OpenSearch3,
            (distribution, _) => {
                let found = distribution.unwrap_or("an unnamed distribution");
                return Err(EngineError::Unsupported(format!(
                    "the search engine is {found} {number}; OpenSearch 2 or 3 is needed"
                )));
            }
        };
        let analyzers = self.analyzers(context).await?;
        Ok(Known {
            info: EngineInfo::new("opensearch", number, analyzers),
            dialect,
        })
    }

    async fn analyzers(&self, context: &CallContext) -> Result<Analyzers, EngineError> {
        let request = Request::get(&["_nodes", "plugins"]).waits(&["timeout"]);
        let names = "nodes.*.plugins.name,nodes.*.modules.name";
        match self
            .run(request.query(&[("filter_path", names)]), context)
            .await
        {
            Ok(reply) => Ok(reply.json::<Installed>()?.analyzers()),
            // Not every user may ask; an analyzer that is missing after all is refused with its index.
            Err(failure)
                if failure
                    .said()
                    .is_some_and(|(status, _)| status == StatusCode::FORBIDDEN) =>
            {
                Ok(Analyzers::distribution())
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Returns the indexes that a pattern finds by their names or by their aliases.
    async fn described(
        &self,
        pattern: &str,
        view: View,
        context: &CallContext,
    ) -> Result<Vec<IndexState>, Failure> {
        let path = [pattern];
        let query = [
            ("expand_wildcards", "all"),
            ("ignore_unavailable", "true"),
            ("allow_no_indices", "true"),
            (
                "filter_path",
                "*.aliases,*.mappings._meta,*.settings.index.uuid",
            ),
            ("local", "true"),
        ];
        let request = match view {
            View::OfCluster => Request::get(&path).query(&query[..4]).waits(MANAGER),
            View::OfNode => Request::get(&path).query(&query),
        };
        match self.run(request, context).await {
            Ok(reply) => Ok(reply.json::<Described>()?.states()),
            Err(failure) if failure.is_not_found() => Ok(Vec::new()),
            Err(failure) => Err(failure),
        }
    }

    /// Checks that an index is there and is this application's; returns its mark.
    async fn check_ours(
        &self,
        name: &PhysicalName,
        context: &CallContext,
    ) -> Result<Mark, EngineError> {
        let application = &self.client.options().application;
        // The manager of the cluster need not be there while what it last said is known; it is asked
        // where that is not enough.
        for view in [View::OfNode, View::OfCluster] {
            let states = self.described(name.as_str(), view, context).await?;
            let state = states.into_iter().find(|state| state.name == *name);
            match (state, view) {
                (
                    Some(IndexState {
                        mark: Some(mark), ..
                    }),
                    _,
                ) if mark.application == *application => {
                    return Ok(mark);
                }
                (_, View::OfNode) => {}
                (Some(_), View::OfCluster) => {
                    let name = name.to_string();
                    return Err(EngineError::NotOurs { name });
                }
                (None, View::OfCluster) => {}
            }
        }
        let name = name.to_string();
        Err(EngineError::NotFound { name })
    }

    /// Reads an answer, elsewhere if it is large.
    async fn read<T: Send + 'static>(
        &self,
        reply: Reply,
        context: &CallContext,
        read: impl FnOnce(&Bytes) -> Result<T, String> + Send + 'static,
    ) -> Result<T, EngineError> {
        let size = Size::Results(reply.body.len());
        let body = reply.body.clone();
        let result = context.run_sized(size, move || read(&body)).await?;
        result.map_err(|cause| reply.malformed(cause).into())
    }
}

#[async_trait]
impl SearchEngine for OpenSearch {
    async fn info(&self, context: &CallContext) -> Result<EngineInfo, EngineError> {
        Ok(self.known(context).await?.info)
    }

    async fn health(
        &self,
        of: &[PhysicalName],
        context: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        // A name that is not there would be waited for; a pattern is not, and is never too long.
        let path = ["_cluster", "health", PATTERN];
        let query = [("level", "indices")];
        let (path, query) = match of {
            [] => (&path[..2], &query[..0]),
            _ => (&path[..], &query[..]),
        };
        let request = Request {
            timeout: bound(self.client.options().health_check_timeout),
            repeat: Repeat::IfUndone,
            waits: BOTH,
            ..Request::get(path).query(query)
        };
        let health: ClusterHealth = self.run(request, context).await?.json()?;
        Ok(health.judge(of))
    }

    async fn indexes(&self, context: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        Ok(self.described(PATTERN, View::OfCluster, context).await?)
    }

    async fn condition(
        &self,
        name: &PhysicalName,
        context: &CallContext,
    ) -> Result<IndexCondition, EngineError> {
        let timeout = bound(self.client.options().health_check_timeout);
        let path = ["_cluster", "health", name.as_str()];
        let request = Request {
            timeout,
            waits: BOTH,
            ..Request::get(&path).query(&[("level", "shards")])
        };
        let health: ShardsHealth = self.run(request, context).await?.json()?;
        let mut condition = IndexCondition::Available;
        for shard in health.without_primary(name) {
            let body = json!({"index": name.as_str(), "shard": shard, "primary": true});
            let path = ["_cluster", "allocation", "explain"];
            let request = Request {
                timeout,
                ..Request::send(Method::POST, &path, body.to_string())
            };
            let explained: Allocation = self.run(request, context).await?.json()?;
            match explained.condition(shard) {
                IndexCondition::Available => {}
                lost @ IndexCondition::Lost(_) => return Ok(lost),
                waiting => condition = waiting,
            }
        }
        Ok(condition)
    }

    async fn create(
        &self,
        index: Binding<'_>,
        owner: &Owner,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        let dialect = self.known(context).await?.dialect;
        let name = index.name.as_str();
        let mut body = index.definition.body(dialect, owner);
        body["aliases"] = json!({ write_alias(name): {"is_hidden": true} });
        let body = body.to_string();
        let path = [name];
        let request = Request::send(Method::PUT, &path, body)
            .repeat(Repeat::IfUndone)
            .waits(BOTH);
        let failure = match self.run(request, context).await {
            Ok(reply) => {
                #[derive(Deserialize)]
                struct Created {
                    acknowledged: bool,
                }
                return match reply.json::<Created>()? {
                    Created { acknowledged: true } => Ok(()),
                    Created { .. } => Err(reply.malformed("the index is not created yet").into()),
                };
            }
            Err(failure) => failure,
        };
        match failure.said() {
            Some((_, said))
                if said.class == "resource_already_exists_exception"
                    || said.reason.contains("already exists as alias") =>
            {
                let name = name.to_owned();
                Err(EngineError::NotOurs { name })
            }
            Some((StatusCode::BAD_REQUEST, said)) => Err(EngineError::Unsupported(format!(
                "the search engine refuses the index of `{}`{said}",
                index.definition.name
            ))),
            _ => Err(failure.into()),
        }
    }

    async fn delete(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        match self.check_ours(name, context).await {
            Ok(_) => {}
            Err(EngineError::NotFound { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
        let path = [name.as_str()];
        let request = Request {
            method: Method::DELETE,
            waits: BOTH,
            ..Request::get(&path)
        };
        match self.on(name, request, context).await {
            Ok(_) | Err(EngineError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn bulk(
        &self,
        index: Binding<'_>,
        writes: &[BulkOperation],
        version: u64,
        context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        // Writing to an index that is not there would make one, without a mapping; writing to an alias does not.
        self.check_ours(index.name, context).await?;
        let alias = write_alias(index.name.as_str());
        let path = [alias.as_str(), "_bulk"];
        let outcome = "items.*.status,items.*.error";
        let query = [("filter_path", outcome), ("require_alias", "true")];
        let body = bulk::body(writes, version).await;
        let mut request = Request::send(Method::POST, &path, body).waits(&["timeout"]);
        request.content_type = "application/x-ndjson";
        let reply = self.on(index.name, request.query(&query), context).await?;
        let number = writes.len();
        let read = move |body: &Bytes| {
            let outcome: Outcome =
                serde_json::from_slice(body).map_err(|error| error.to_string())?;
            outcome.rejected(number)
        };
        self.read(reply, context, read).await
    }

    async fn refresh(&self, name: &PhysicalName, context: &CallContext) -> Result<(), EngineError> {
        #[derive(Deserialize)]
        struct Refreshed {
            #[serde(rename = "_shards")]
            shards: Shards,
        }
        // What was acknowledged is durable already.
        let path = [name.as_str(), "_refresh"];
        let request = Request {
            method: Method::POST,
            ..Request::get(&path)
        };
        let reply = self.on(name, request, context).await?;
        let refreshed: Refreshed = reply.json()?;
        let checked = refreshed.shards.check();
        checked.map_err(|cause| reply.incomplete(cause).into())
    }

    async fn note_built(
        &self,
        name: &PhysicalName,
        built: &Built,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        let mut mark = self.check_ours(name, context).await?;
        mark.built = Some(built.clone());
        // What stands there is replaced as a whole, and all fields stay.
        let body = json!({ "_meta": mark }).to_string();
        let path = [name.as_str(), "_mapping"];
        let request = Request::send(Method::PUT, &path, body).waits(BOTH);
        self.on(name, request, context).await.map(drop)
    }

    async fn switch(&self, switches: &[Switch], context: &CallContext) -> Result<(), EngineError> {
        let application = &self.client.options().application;
        let wanted = async || {
            let indexes = self.described(PATTERN, View::OfCluster, context).await?;
            actions(switches, &indexes, application)
        };
        let mut tries = 0;
        loop {
            let actions = wanted().await?;
            if actions.is_empty() {
                return Ok(());
            }
            let body = json!({ "actions": actions }).to_string();
            let request = Request::send(Method::POST, &["_aliases"], body)
                .repeat(Repeat::IfUndone)
                .waits(BOTH);
            let Err(failure) = self.run(request, context).await else {
                return Ok(());
            };
            // Another instance has moved or deleted something since it was looked at.
            let is_outdated = failure.is_moved_alias() || failure.is_not_found();
            if is_outdated && tries < MAX_LOOKS {
                tries += 1;
                continue;
            }
            // The answer was lost, and maybe nothing else.
            let is_done =
                failure.is_outage() && matches!(wanted().await, Ok(left) if left.is_empty());
            return if is_done { Ok(()) } else { Err(failure.into()) };
        }
    }

    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        context: &CallContext,
    ) -> Result<Answer, EngineError> {
        check_modes(search)?;
        let form = Form::new(index.definition, search);
        let has_total = search.total_hits != TotalHits::Off;
        let mut search = search.clone();
        clauses::answerable(&mut search, index.definition)?;
        totals::counted(&mut search, index.definition);
        if let Some(after) = search.search_after.take_if(|after| after.contains(&None)) {
            search.search_after = Some(sent_after(&after, &form)?);
        }
        let body = form.body(&search);
        let path = [index.name.as_str(), "_search"];
        let request = Request::send(Method::POST, &path, body).query(WHOLE);
        let reply = self
            .run(request, context)
            .await
            .map_err(|failure| refusal_of_search(failure, index.name))?;
        let answer = self
            .read(reply, context, move |body| form.read(body))
            .await?;
        Ok(Answer {
            total: answer.total.filter(|_| has_total),
            ..answer
        })
    }

    async fn count(&self, name: &PhysicalName, context: &CallContext) -> Result<u64, EngineError> {
        #[derive(Deserialize)]
        struct Counted {
            count: u64,
            #[serde(rename = "_shards")]
            shards: Shards,
        }
        let path = [name.as_str(), "_count"];
        let reply = self.on(name, Request::get(&path), context).await?;
        let counted: Counted = reply.json()?;
        match counted.shards.check() {
            Ok(()) => Ok(counted.count),
            Err(cause) => Err(reply.incomplete(cause).into()),
        }
    }

    async fn ids(
        &self,
        name: &PhysicalName,
        after: Option<&str>,
        size: usize,
        context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        let mut ids: Vec<String> = Vec::new();
        while ids.len() < size {
            let page = (size - ids.len()).min(MAX_PAGE);
            let after = ids.last().map(String::as_str).or(after);
            let found = self.page_of_ids(name, after, page, context).await?;
            let is_last = found.len() < page;
            ids.extend(found);
            if is_last {
                break;
            }
        }
        Ok(ids)
    }
}

/// How often aliases are looked at again that have been moved by others before they were moved here.
const MAX_LOOKS: u32 = 3;

/// Who says which indexes there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// The manager of the cluster.
    OfCluster,
    /// Any node, as it last heard.
    OfNode,
}

/// Waits for the manager of the cluster, where there is none.
const MANAGER: &[&str] = &["cluster_manager_timeout"];

/// Waits for the manager of the cluster, and until what it orders is done.
const BOTH: &[&str] = &["cluster_manager_timeout", "timeout"];

/// Asks for a whole answer or none.
const WHOLE: &[(&str, &str)] = &[("allow_partial_search_results", "false")];

/// Refuses a sort key that the engine would refuse in words of its own, as the embedded engine does.
fn check_modes(search: &Search) -> Result<(), EngineError> {
    for sort in &search.sort {
        if let Sort::Field(FieldSort {
            field,
            mode: Some(SortMode::Median),
            nested: Some(_),
            ..
        }) = sort
        {
            return Err(EngineError::Unsupported(format!(
                "the sort key `{field}` is one of nested objects, which have no median"
            )));
        }
    }
    Ok(())
}

/// The classes of the errors of a search with too many clauses.
const TOO_MANY_CLAUSES: [&str; 2] = ["too_many_clauses", "too_many_nested_clauses"];

/// Distinguishes searches that ask for too much from failures of the engine.
fn refusal_of_search(failure: Failure, name: &PhysicalName) -> EngineError {
    let Some((status, said)) = failure.said() else {
        return of_index(failure, name);
    };
    let refusal = if said.is_of(TOO_MANY_BUCKETS) {
        "the aggregations have more buckets than OpenSearch holds (`search.max_buckets`)".to_owned()
    } else if TOO_MANY_CLAUSES.iter().any(|class| said.is_of(class)) {
        "the search has more clauses or similar terms than OpenSearch takes (`indices.query.bool.max_clause_count`)"
            .to_owned()
    } else if said
        .reason
        .contains("must not match same docs with parent filter")
    {
        "a clause about embedded objects is inside of one about the same objects".to_owned()
    } else if status == StatusCode::BAD_REQUEST {
        format!("the search engine refuses the search{said}")
    } else {
        return of_index(failure, name);
    };
    EngineError::Unsupported(refusal)
}

/// Distinguishes a missing index from other failures.
fn of_index(failure: Failure, name: &PhysicalName) -> EngineError {
    if failure.is_not_found() {
        let name = name.to_string();
        return EngineError::NotFound { name };
    }
    failure.into()
}

/// Returns `search_after` as the engine takes it.
fn sent_after(
    after: &[Option<crate::dsl::Value>],
    form: &Form,
) -> Result<Vec<Option<crate::dsl::Value>>, EngineError> {
    if after.len() != form.sort().len() {
        let message = "`search_after` does not have one value for each sort key";
        return Err(EngineError::Unsupported(message.to_owned()));
    }
    let values = after.iter().zip(form.sort());
    Ok(values
        .map(|(value, key)| value.clone().or_else(|| key.missing()))
        .collect())
}

impl OpenSearch {
    async fn page_of_ids(
        &self,
        name: &PhysicalName,
        after: Option<&str>,
        size: usize,
        context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        let path = [name.as_str(), "_search"];
        let filter = ("filter_path", "timed_out,_shards,hits.hits.sort");
        let query = [WHOLE[0], filter];
        let request = Request::send(Method::POST, &path, ids::body(after, size)).query(&query);
        let reply = self.on(name, request, context).await?;
        self.read(reply, context, ids::read).await
    }
}
