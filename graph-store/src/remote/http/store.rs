//! A store on a server over HTTP, queried in the dialect of its kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use call_context::CallContext;
use spargebra::algebra::GraphPattern;
use tokio::sync::OnceCell;

use super::endpoint::HttpEndpoint;
use super::options::bound;
use super::values::ServerKind;
use super::writer::Writer;
use crate::error::StoreError;
use crate::query::{
    Hydrated, HydrationRequest, Objects, Selection, Tree, TreeLevel, TreeRequest, Window,
};
use crate::remote::write::not_isolated;
use crate::remote::{
    Dialect, IsolationReport, RemoteOptions, RemoteStore, Rows, Solutions, SparqlEndpoint,
};
use crate::store::{
    ExportStore, GraphStore, StoreFeatures, StoreInfo, Transaction, TreeStore, Windowed, WriteStore,
};
use crate::write::{ChangePosition, ChangeRecord, ChangesSince, RecordQuery};

/// A [`RemoteStore`] over an [`HttpEndpoint`].
///
/// If the kind of the server is not configured, it is detected when the server first answers; until
/// then [`GraphStore::features`] returns those of a server of unknown kind.
pub struct HttpStore {
    pub(super) endpoint: Arc<HttpEndpoint>,
    store: OnceCell<RemoteStore>,
    writer: OnceCell<Writer>,
    /// Cleared when two writers were seen to win a race.
    is_isolated: AtomicBool,
}

impl HttpStore {
    /// Creates a store over an endpoint; does not connect yet.
    #[must_use]
    pub fn new(endpoint: Arc<HttpEndpoint>) -> Self {
        let store = match endpoint.known_kind() {
            Some(kind) => OnceCell::new_with(Some(over(&endpoint, kind))),
            None => OnceCell::new(),
        };
        HttpStore {
            store,
            writer: OnceCell::new(),
            is_isolated: AtomicBool::new(endpoint.options().is_isolated),
            endpoint,
        }
    }

    /// Lets two writers race so many times, in a graph of their own that is removed afterwards. If both
    /// win a race, the store refuses to be written to from then on.
    ///
    /// # Errors
    /// When the store cannot be written to, or fails.
    pub async fn probe_isolation(
        &self,
        rounds: u32,
        context: &CallContext,
    ) -> Result<IsolationReport, StoreError> {
        let writer = self.writer_of_kind(context).await?;
        let report = writer.probe_isolation(rounds, context).await?;
        if !report.is_isolated() {
            self.is_isolated.store(false, Ordering::Relaxed);
        }
        Ok(report)
    }

    async fn writer_of_kind(&self, context: &CallContext) -> Result<&Writer, StoreError> {
        let writer = self.writer.get_or_try_init(|| async {
            let kind = self.endpoint.server_kind(context).await?;
            let options = options_of(&self.endpoint, kind);
            Ok(Writer::new(&self.endpoint, kind, options))
        });
        writer.await
    }

    async fn store(&self, context: &CallContext) -> Result<&RemoteStore, StoreError> {
        let found_out = self.store.get_or_try_init(|| async {
            let kind = self.endpoint.server_kind(context).await?;
            Ok(over(&self.endpoint, kind))
        });
        found_out.await
    }
}

fn over(endpoint: &Arc<HttpEndpoint>, kind: ServerKind) -> RemoteStore {
    let options = options_of(endpoint, kind);
    let endpoint: Arc<HttpEndpoint> = Arc::clone(endpoint);
    RemoteStore::new(endpoint, options)
}

pub(super) fn options_of(endpoint: &HttpEndpoint, kind: ServerKind) -> RemoteOptions {
    let mut options = options(kind);
    options.features.repository = endpoint.repository().map(str::to_owned);
    let connection = endpoint.options();
    options.transaction_timeout = connection.transaction_timeout;
    options.commit_silence = bound(connection.health_check_timeout).unwrap_or(Duration::MAX);
    if connection.fails_over() {
        options.outcome_timeout = connection.unavailable_write_timeout;
    }
    options
}

fn options(kind: ServerKind) -> RemoteOptions {
    RemoteOptions::new(match kind {
        ServerKind::Rdf4j => Dialect::Rdf4j,
        ServerKind::GraphDb => Dialect::GraphDb,
        ServerKind::Fuseki => Dialect::Fuseki,
        ServerKind::Sparql11 => Dialect::Sparql11,
    })
}

#[async_trait]
impl GraphStore for HttpStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.store(context).await?.select(selection, context).await
    }

    async fn count(&self, selection: &Selection, context: &CallContext) -> Result<u64, StoreError> {
        self.store(context).await?.count(selection, context).await
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        let store = self.store(context).await?;
        store.select_window(selection, window, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.store(context).await?.hydrate(request, context).await
    }

    fn features(&self) -> StoreFeatures {
        match self.store.get() {
            Some(store) => store.features(),
            None => Dialect::Sparql11.features(),
        }
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        let info = self.endpoint.probe(context).await?;
        self.store(context).await?;
        Ok(info)
    }

    fn trees(&self) -> Option<&dyn TreeStore> {
        Some(self)
    }

    /// Returns a writer unless the server is known to take no updates.
    fn writer(&self) -> Option<&dyn WriteStore> {
        let kind = self.endpoint.known_kind();
        let takes_none = |kind| match kind {
            ServerKind::Rdf4j | ServerKind::GraphDb => false,
            kind => self.endpoint.cluster().servers[0]
                .update_address(kind)
                .is_none(),
        };
        (!kind.is_some_and(takes_none)).then_some(self as &dyn WriteStore)
    }

    fn exporter(&self) -> Option<&dyn ExportStore> {
        Some(self)
    }
}

#[async_trait]
impl TreeStore for HttpStore {
    async fn read_tree(
        &self,
        request: &TreeRequest<'_>,
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError> {
        let store = self.store(context).await?;
        store.read_tree(request, context).await
    }

    async fn select_tree(
        &self,
        selection: &Selection,
        levels: &[TreeLevel<'_>],
        context: &CallContext,
    ) -> Result<Option<Tree>, StoreError> {
        let store = self.store(context).await?;
        store.select_tree(selection, levels, context).await
    }

    fn reads_apart(&self) -> bool {
        self.store.get().is_some_and(RemoteStore::reads_apart)
    }
}

#[async_trait]
impl WriteStore for HttpStore {
    async fn begin(&self, context: &CallContext) -> Result<Box<dyn Transaction>, StoreError> {
        if !self.is_isolated.load(Ordering::Relaxed) {
            return Err(not_isolated());
        }
        let writer = self.writer_of_kind(context).await?;
        writer.store()?.begin(context).await
    }

    async fn records(
        &self,
        query: &RecordQuery,
        context: &CallContext,
    ) -> Result<Vec<ChangeRecord>, StoreError> {
        let writer = self.writer_of_kind(context).await?;
        writer.store()?.records(query, context).await
    }

    async fn position(&self, context: &CallContext) -> Result<ChangePosition, StoreError> {
        let writer = self.writer_of_kind(context).await?;
        writer.store()?.position(context).await
    }

    async fn changes_since(
        &self,
        position: &ChangePosition,
        limit: usize,
        context: &CallContext,
    ) -> Result<ChangesSince, StoreError> {
        let writer = self.writer_of_kind(context).await?;
        writer
            .store()?
            .changes_since(position, limit, context)
            .await
    }

    async fn last_sequence(&self, context: &CallContext) -> Result<u64, StoreError> {
        let writer = self.writer_of_kind(context).await?;
        writer.store()?.last_sequence(context).await
    }

    async fn forget_records(
        &self,
        before: SystemTime,
        context: &CallContext,
    ) -> Result<u64, StoreError> {
        let writer = self.writer_of_kind(context).await?;
        writer.store()?.forget_records(before, context).await
    }

    fn is_durable(&self) -> bool {
        true
    }
}

#[async_trait]
impl Solutions for HttpStore {
    async fn solutions(
        &self,
        pattern: GraphPattern,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        self.store(context).await?.solutions(pattern, context).await
    }
}
