//! Updates over HTTP, and reads from the server that they go to.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use call_context::CallContext;
use futures::future::BoxFuture;
use reqwest::Method;
use spargebra::Update;

use super::cluster::Cluster;
use super::endpoint::HttpEndpoint;
use super::error::HttpError;
use super::exchange::{Change, Query, update_type};
use super::failover::Purpose;
use super::results::projection;
use super::values::ResultFormat;
use crate::error::StoreError;
use crate::remote::{
    EndpointQuery, Rows, SparqlEndpoint, UpdateEndpoint, UpdateError, UpdateSession,
};
use crate::store::StoreInfo;

/// An endpoint whose servers take updates.
pub(super) struct HttpUpdates(pub(super) Arc<HttpEndpoint>);

impl UpdateEndpoint for HttpUpdates {
    fn session(&self) -> Arc<dyn UpdateSession> {
        Arc::new(HttpSession::new(&self.0, None))
    }
}

/// Stays with the server that answered first.
pub(super) struct HttpSession {
    endpoint: Arc<HttpEndpoint>,
    server: OnceLock<usize>,
}

impl HttpSession {
    /// Begins a session, with the server at a position if one is given.
    pub(super) fn new(endpoint: &Arc<HttpEndpoint>, server: Option<usize>) -> Self {
        HttpSession {
            endpoint: Arc::clone(endpoint),
            server: server.map_or_else(OnceLock::new, OnceLock::from),
        }
    }
}

#[async_trait]
impl SparqlEndpoint for HttpSession {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let wanted = &projection(query.query)?;
        let text = query.text;
        let endpoint = &*self.endpoint;
        let query = Query {
            text,
            dataset: query.dataset,
            format: ResultFormat::Json,
        };
        let read = move |exchange| -> BoxFuture<'_, _> {
            Box::pin(endpoint.select_by(exchange, query, wanted))
        };
        let pinned = self.server.get().copied();
        let read = endpoint.repeat_on(pinned, Purpose::Write, context, &read);
        let read = crate::remote::write::within(context, async {
            read.await.map_err(|error| match pinned {
                Some(_) => endpoint.cluster().interrupted(error),
                None => error.into_store_error(),
            })
        });
        let (server, rows) = read.await?;
        self.server.get_or_init(|| server);
        Ok(rows)
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.endpoint.probe(context).await
    }
}

#[async_trait]
impl UpdateSession for HttpSession {
    async fn update(&self, update: &Update, context: &CallContext) -> Result<(), UpdateError> {
        let endpoint = &*self.endpoint;
        let kind = endpoint
            .server_kind(context)
            .await
            .map_err(UpdateError::NotExecuted)?;
        let cluster = endpoint.cluster();
        let server = *self.server.get_or_init(|| cluster.fit());
        let Some(url) = cluster.servers[server].update_address(kind) else {
            return Err(UpdateError::NotExecuted(read_only()));
        };
        let text = update.to_string();
        let sent = || Change {
            method: Method::POST,
            url: url.clone(),
            content_type: update_type(kind),
            text: &text,
            operation: "update",
        };
        let mut is_refused = false;
        let update = crate::remote::write::within(context, async {
            let done = changed(cluster, server, context, &sent).await;
            is_refused = done.as_ref().is_err_and(HttpError::is_refusal);
            done.map_err(|error| {
                if is_refused {
                    cluster.interrupted(error)
                } else {
                    error.into_store_error()
                }
            })
        });
        match update.await {
            Ok(()) => Ok(()),
            Err(error) if is_refused => Err(UpdateError::NotExecuted(error)),
            Err(error) => Err(UpdateError::Unknown(error)),
        }
    }
}

/// Returns the error of an endpoint that no update can be sent to.
pub(super) fn read_only() -> StoreError {
    StoreError::Unsupported("no address is configured that takes updates of the store".to_owned())
}

/// Sends a change to a server, and sends it again only while the server certainly did not carry it out, and no one can
/// begin again on another one.
pub(super) async fn changed<'c>(
    cluster: &Arc<Cluster>,
    server: usize,
    context: &CallContext,
    change: &(dyn Fn() -> Change<'c> + Sync),
) -> Result<(), HttpError> {
    let options = &cluster.options;
    let mut retries = 0;
    loop {
        cluster.check_fit(server)?;
        let sent = cluster.on(server, context).change(change());
        let error = match cluster.stay(server, sent).await {
            Ok(_) => {
                cluster.servers[server].set_back();
                return Ok(());
            }
            Err(error) => error,
        };
        if options.fails_over() || !error.is_undone() || retries == options.max_retries {
            return Err(error);
        }
        retries += 1;
        tracing::warn!(%error, "sending a change to the SPARQL server again");
        tokio::time::sleep(options.retry_interval).await;
    }
}
