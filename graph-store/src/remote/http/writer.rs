//! Writes to a store on a server over HTTP, in the way of its kind.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use call_context::CallContext;
use tokio::sync::OnceCell;

use super::endpoint::{HttpEndpoint, within};
use super::error::HttpError;
use super::session::{HttpUpdates, read_only};
use super::transaction::Rdf4jTransaction;
use super::values::ServerKind;
use super::wire::{Failure, Wire};
use crate::error::StoreError;
use crate::remote::write::{
    Gaps, IsolationReport, Log, PlainWriter, Queue, claims, data, fresh_graph, not_isolated,
    removal, update, winners,
};
use crate::remote::{EndpointQuery, RemoteOptions, Rows, SparqlEndpoint, UpdateEndpoint};
use crate::store::{StoreInfo, Transaction, WriteStore};
use crate::write::{ChangePosition, ChangeRecord, ChangesSince, RecordQuery};

/// Attempts to forget records, which conflict with writers elsewhere.
const ATTEMPTS: usize = 5;

/// Races that decide whether a server is trusted that could not be tested with.
const RACES: u32 = 3;

/// The writer of a store whose server is of a known kind.
pub(super) enum Writer {
    /// By transactions of RDF4J's protocol.
    Transactions(Transactions),
    /// By guarded updates.
    Updates(PlainWriter),
    /// The server takes no updates.
    None,
}

impl Writer {
    pub(super) fn new(
        endpoint: &Arc<HttpEndpoint>,
        kind: ServerKind,
        options: RemoteOptions,
    ) -> Self {
        match kind {
            ServerKind::Rdf4j | ServerKind::GraphDb => Writer::Transactions(Transactions {
                endpoint: Arc::clone(endpoint),
                gaps: Gaps::new(options.transaction_timeout),
                options,
                queue: Queue::default(),
                isolation: match kind {
                    ServerKind::Rdf4j => OnceCell::new_with(Some(true)),
                    // Not tested with: it has to prove it.
                    _ => OnceCell::new(),
                },
            }),
            _ if endpoint.cluster().servers[0].update_address(kind).is_none() => Writer::None,
            _ => {
                let updates: Arc<dyn UpdateEndpoint> = Arc::new(HttpUpdates(Arc::clone(endpoint)));
                Writer::Updates(PlainWriter::new(updates, &options))
            }
        }
    }

    /// Returns what writes, if anything does.
    pub(super) fn store(&self) -> Result<&dyn WriteStore, StoreError> {
        match self {
            Writer::Transactions(transactions) => Ok(transactions),
            Writer::Updates(updates) => Ok(updates),
            Writer::None => Err(read_only()),
        }
    }

    pub(super) async fn probe_isolation(
        &self,
        rounds: u32,
        context: &CallContext,
    ) -> Result<IsolationReport, StoreError> {
        match self {
            Writer::Transactions(transactions) => transactions.probe(rounds, context).await,
            Writer::Updates(updates) => updates.probe_isolation(rounds, context).await,
            Writer::None => Err(read_only()),
        }
    }
}

/// Writes by transactions of the server.
pub(super) struct Transactions {
    endpoint: Arc<HttpEndpoint>,
    options: RemoteOptions,
    queue: Queue,
    /// Whether the server keeps transactions apart, once that is known.
    isolation: OnceCell<bool>,
    gaps: Gaps,
}

impl Transactions {
    fn log(&self) -> Log<'_> {
        Log {
            endpoint: &*self.endpoint,
        }
    }

    /// Lets transactions race that both look before they write.
    async fn probe(
        &self,
        rounds: u32,
        context: &CallContext,
    ) -> Result<IsolationReport, StoreError> {
        let graph = fresh_graph();
        let race = async {
            let mut report = IsolationReport::default();
            for round in 0..rounds {
                let (one, other) = futures::join!(
                    Racer::start(&self.endpoint, &graph, round, context),
                    Racer::start(&self.endpoint, &graph, round, context),
                );
                let (one, other) = match (one, other) {
                    (Ok(one), Ok(other)) => (one, other),
                    (Ok(open), Err(error)) | (Err(error), Ok(open)) => {
                        open.end(context).await;
                        return Err(error);
                    }
                    (Err(error), Err(_)) => return Err(error),
                };
                let (one, other) = futures::join!(one.finish(1), other.finish(2));
                let committed = usize::from(one?) + usize::from(other?);
                let found = winners(&*self.endpoint, &graph, round, context).await?;
                report.count(committed.max(found));
            }
            Ok(report)
        };
        let report: Result<_, StoreError> = race.await;
        let removed = self.remove(&graph, context).await;
        let report = report?;
        removed?;
        Ok(report)
    }

    async fn remove(
        &self,
        graph: &oxrdf::NamedNode,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        within(context, async {
            let wire = Wire::begin(&self.endpoint, context).await?;
            if let Err(error) = wire.update(&removal(graph), context).await {
                // The error says more than what follows from it.
                let _ = wire.end(context).await;
                return Err(error);
            }
            commit(&wire, context).await
        })
        .await
    }

    async fn forget_some(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<Option<u64>, StoreError> {
        let old = self.log().old(before, context).await?;
        if old.nodes.is_empty() {
            return Ok(None);
        }
        let records = old.records;
        let forget = old.forget();
        let mut attempts = 0;
        loop {
            let mut is_conflict = false;
            let forgotten = within(context, async {
                let wire = Wire::begin(&self.endpoint, context).await?;
                let forgotten = match wire.update(&forget, context).await {
                    Ok(()) => commit(&wire, context).await,
                    Err(error) => {
                        let _ = wire.end(context).await;
                        Err(error)
                    }
                };
                let failure = forgotten.as_ref().err().map(Failure::of);
                is_conflict = failure == Some(Failure::Conflict);
                forgotten
            });
            match forgotten.await {
                Ok(()) => return Ok(Some(records)),
                Err(_) if is_conflict && attempts < ATTEMPTS => attempts += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// Commits a transaction that nothing depends on; ends it if that fails.
async fn commit(wire: &Wire, context: &CallContext) -> Result<(), HttpError> {
    let committed = wire.commit(context).await;
    if committed.is_err() {
        let _ = wire.end(context).await;
    }
    committed
}

/// A writer of a race.
struct Racer<'a> {
    wire: Wire,
    graph: &'a oxrdf::NamedNode,
    round: u32,
    context: &'a CallContext,
}

impl<'a> Racer<'a> {
    /// Looks whether the nodes of the round are free.
    async fn start(
        endpoint: &Arc<HttpEndpoint>,
        graph: &'a oxrdf::NamedNode,
        round: u32,
        context: &'a CallContext,
    ) -> Result<Self, StoreError> {
        let wire = within(context, Wire::begin(endpoint, context)).await?;
        let racer = Racer {
            wire,
            graph,
            round,
            context,
        };
        match winners(&racer.wire, graph, round, context).await {
            Ok(_) => Ok(racer),
            Err(error) => {
                racer.end(context).await;
                Err(error)
            }
        }
    }

    async fn end(self, context: &CallContext) {
        if let Err(error) = within(context, self.wire.end(context)).await {
            tracing::warn!(%error, "a transaction of the SPARQL server ends by its time-out");
        }
    }

    /// Claims the nodes; returns whether the server said that it committed that.
    async fn finish(self, writer: i64) -> Result<bool, StoreError> {
        let data = data(&claims(self.graph, self.round, writer));
        let claim = update(vec![spargebra::GraphUpdateOperation::InsertData { data }]);
        let mut is_conflict = false;
        let finished = within(self.context, async {
            let finished = match self.wire.update(&claim, self.context).await {
                Ok(()) => self.wire.commit(self.context).await,
                Err(error) => Err(error),
            };
            let failure = finished.as_ref().err().map(Failure::of);
            is_conflict = failure == Some(Failure::Conflict);
            finished
        });
        match finished.await {
            Ok(()) => Ok(true),
            Err(error) => {
                let context = self.context;
                self.end(context).await;
                if is_conflict { Ok(false) } else { Err(error) }
            }
        }
    }
}

#[async_trait]
impl SparqlEndpoint for Wire {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        within(context, self.query(query.query, query.dataset, context)).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.endpoint().probe(context).await
    }
}

#[async_trait]
impl WriteStore for Transactions {
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError> {
        let isolation = self.isolation.get_or_try_init(|| async {
            let report = self.probe(RACES, context).await?;
            Ok::<_, StoreError>(report.is_isolated())
        });
        if !*isolation.await? {
            return Err(not_isolated());
        }
        let (endpoint, options) = (&self.endpoint, &self.options);
        let begun = Rdf4jTransaction::begin(endpoint, options, &self.queue, context);
        Ok(Box::new(begun.await?))
    }

    async fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        self.log().records(query, &self.gaps, context).await
    }

    async fn position(&self, context: &CallContext) -> Result<ChangePosition, StoreError> {
        self.log().position(&self.gaps, context).await
    }

    async fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError> {
        self.log()
            .changes_since(position, limit, &self.gaps, context)
            .await
    }

    async fn last_sequence(&self, context: &CallContext) -> Result<u64, StoreError> {
        self.log().last(context).await
    }

    async fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        let _turn = self.queue.turn(context).await?;
        let mut forgotten = 0;
        while let Some(records) = self.forget_some(before, context).await? {
            forgotten += records;
        }
        Ok(forgotten)
    }

    fn is_durable(&self) -> bool {
        true
    }
}
