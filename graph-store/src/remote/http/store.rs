//! A store on a server over HTTP, queried in the dialect of its kind.

use std::sync::Arc;

use async_trait::async_trait;
use spargebra::algebra::GraphPattern;
use tokio::sync::OnceCell;

use super::endpoint::HttpEndpoint;
use super::values::ServerKind;
use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::{Hydrated, HydrationRequest, ObjectRef, Selection, Window};
use crate::remote::{Dialect, RemoteOptions, RemoteStore, Rows, Solutions, SparqlEndpoint};
use crate::store::{GraphStore, StoreFeatures, StoreInfo, Windowed};

/// A [`RemoteStore`] over an [`HttpEndpoint`].
///
/// If the kind of the server is not configured, it is detected when the server first answers; until
/// then [`GraphStore::features`] returns those of a server of unknown kind.
pub struct HttpStore {
    endpoint: Arc<HttpEndpoint>,
    store: OnceCell<RemoteStore>,
}

impl HttpStore {
    /// Creates a store over an endpoint; does not connect yet.
    #[must_use]
    pub fn new(endpoint: Arc<HttpEndpoint>) -> Self {
        let store = match endpoint.known_kind() {
            Some(kind) => OnceCell::new_with(Some(over(&endpoint, kind))),
            None => OnceCell::new(),
        };
        HttpStore { endpoint, store }
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
    let mut options = options(kind);
    options.features.repository = endpoint.repository().map(str::to_owned);
    let endpoint: Arc<HttpEndpoint> = Arc::clone(endpoint);
    RemoteStore::new(endpoint, options)
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
    ) -> Result<Vec<ObjectRef>, StoreError> {
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
