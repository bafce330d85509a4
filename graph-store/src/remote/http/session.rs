//! Updates over HTTP, and reads from the server that they go to.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use call_context::CallContext;
use futures::future::BoxFuture;
use reqwest::Method;
use spargebra::Update;

use super::endpoint::{HttpEndpoint, within};
use super::error::{HttpError, Meaning};
use super::exchange::{Change, Exchange, Query, update_type};
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
        Arc::new(HttpSession {
            endpoint: Arc::clone(&self.0),
            server: OnceLock::new(),
        })
    }
}

/// Stays with the server that answered first.
struct HttpSession {
    endpoint: Arc<HttpEndpoint>,
    server: OnceLock<usize>,
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
        let server = self.server.get().copied();
        let read = within(context, endpoint.read_on(server, context, &read));
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
        let kind = endpoint.server_kind(context).await;
        let kind = kind.map_err(UpdateError::NotExecuted)?;
        let server = *self.server.get_or_init(|| endpoint.fit_server());
        let Some(url) = endpoint.server(server).update_address(kind) else {
            return Err(UpdateError::NotExecuted(read_only()));
        };
        let text = update.to_string();
        let sent = || Change {
            method: Method::POST,
            url: url.clone(),
            content_type: update_type(kind),
            text: &text,
        };
        let mut refused = None;
        let update = async {
            let exchange = endpoint.on(server, context);
            let done = changed(endpoint, exchange, &sent).await;
            refused = done.as_ref().err().map(HttpError::is_refusal);
            done
        };
        match within(context, update).await {
            Ok(()) => Ok(()),
            Err(error) if refused == Some(true) => Err(UpdateError::NotExecuted(error)),
            Err(error) => Err(UpdateError::Unknown(error)),
        }
    }
}

/// Returns the error of an endpoint that no update can be sent to.
pub(super) fn read_only() -> StoreError {
    StoreError::Unsupported("no address is configured that takes updates of the store".to_owned())
}

/// Sends a change, and sends it again only while the server certainly did not carry it out.
pub(super) async fn changed<'c>(
    endpoint: &HttpEndpoint,
    exchange: Exchange<'_>,
    change: &(dyn Fn() -> Change<'c> + Sync),
) -> Result<(), HttpError> {
    let options = endpoint.options();
    let mut retries = 0;
    loop {
        let error = match exchange.change(change()).await {
            Ok(_) => {
                exchange.server.set_back();
                return Ok(());
            }
            Err(error) => error,
        };
        if !error.is_undone() || retries == options.max_retries {
            if error.meaning() == Meaning::Down && options.fails_over() {
                exchange.server.set_aside(&error);
            }
            return Err(error);
        }
        retries += 1;
        tracing::warn!(%error, "sending a change to the SPARQL server again");
        tokio::time::sleep(options.retry_interval).await;
    }
}
