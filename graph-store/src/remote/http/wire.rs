//! A transaction of RDF4J's protocol, request by request.

use std::sync::Arc;
use std::time::Duration;

use call_context::CallContext;
use futures::future::BoxFuture;
use outbound::address::below;
use reqwest::header::LOCATION;
use reqwest::{Method, Url};
use spargebra::{Query as Select, Update};

use super::endpoint::{HttpEndpoint, within};
use super::error::HttpError;
use super::exchange::{Change, Exchange, Query, header};
use super::results::{projection, read_rows};
use super::session::changed;
use super::values::{ResultFormat, ServerKind};
use crate::error::StoreError;
use crate::query::Dataset;
use crate::remote::Rows;
use crate::remote::write::{PAUSE, Part};

/// The setting that makes RDF4J compare what was read with what is there; its other parameter,
/// `isolation-level`, changes nothing.
const SERIALIZABLE: (&str, &str) = (
    "transaction-setting__org.eclipse.rdf4j.IsolationLevel",
    "SERIALIZABLE",
);

const UPDATE: &str = "application/sparql-update; charset=utf-8";

/// An open transaction of a server.
pub(super) struct Wire {
    endpoint: Arc<HttpEndpoint>,
    server: usize,
    kind: ServerKind,
    url: Url,
}

/// What a failed request of a transaction means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Somebody else changed what was read.
    Conflict,
    /// The server did not carry it out.
    Refused,
    /// The server tried, and said that it failed.
    Failed,
    /// Nobody knows.
    Lost,
}

impl Failure {
    pub(super) fn of(error: &HttpError) -> Self {
        // The class of the exception, which is a part of the message.
        if error.text().contains("SailConflictException") {
            return Failure::Conflict;
        }
        match error {
            error if error.is_refusal() => Failure::Refused,
            HttpError::Status { status, .. } if status.as_u16() == 500 => Failure::Failed,
            _ => Failure::Lost,
        }
    }
}

impl Wire {
    /// Opens a transaction on one of the servers.
    pub(super) async fn begin(
        endpoint: &Arc<HttpEndpoint>,
        server: Option<usize>,
        context: &CallContext,
    ) -> Result<Self, HttpError> {
        let open = |exchange| -> BoxFuture<'_, _> { Box::pin(open(endpoint, exchange)) };
        let (server, (kind, url)) = endpoint.read_on(server, context, &open).await?;
        Ok(Wire {
            endpoint: Arc::clone(endpoint),
            server,
            kind,
            url,
        })
    }

    pub(super) fn endpoint(&self) -> &HttpEndpoint {
        &self.endpoint
    }

    /// Returns the position of the server.
    pub(super) fn server(&self) -> usize {
        self.server
    }

    /// Carries out an update outside of all transactions.
    pub(super) async fn update_alone(
        endpoint: &HttpEndpoint,
        update: &Update,
        context: &CallContext,
    ) -> Result<(), HttpError> {
        let exchange = endpoint.on(endpoint.fit_server(), context);
        let kind = endpoint.kind_by(exchange).await?;
        let statements = exchange.server.updates_alone(kind);
        let statements = statements.expect("servers with transactions take updates");
        let text = update.to_string();
        changed(endpoint, exchange, &|| Change {
            method: Method::POST,
            url: statements.clone(),
            content_type: UPDATE,
            text: &text,
        })
        .await
    }

    /// Runs a query within the transaction.
    pub(super) async fn query(
        &self,
        select: &Select,
        dataset: &Dataset,
        context: &CallContext,
    ) -> Result<Rows, HttpError> {
        let wanted = projection(select).expect("queries of stores project variables");
        let query = Query {
            text: &select.to_string(),
            dataset,
            format: ResultFormat::Json,
        };
        let exchange = self.endpoint.on(self.server, context);
        let body = exchange.query_within(self.url.clone(), self.kind, query);
        let body = body
            .await?
            .limited(self.endpoint.options().max_result_bytes)?;
        read_rows(body.counted(context), ResultFormat::Json, &wanted).await
    }

    /// Runs an update within the transaction.
    pub(super) async fn update(
        &self,
        update: &Update,
        context: &CallContext,
    ) -> Result<(), HttpError> {
        self.send(&Part::Update(update.to_string()), context).await
    }

    /// Sends a part of a change within the transaction.
    pub(super) async fn send(&self, part: &Part, context: &CallContext) -> Result<(), HttpError> {
        let (action, content_type, text) = match part {
            Part::Update(text) => ("UPDATE", UPDATE, text),
            Part::Added(quads) => ("ADD", "application/n-quads; charset=utf-8", quads),
        };
        self.act(action, content_type, text, context).await
    }

    pub(super) async fn commit(&self, context: &CallContext) -> Result<(), HttpError> {
        self.act("COMMIT", "", "", context).await
    }

    async fn act(
        &self,
        action: &str,
        content_type: &'static str,
        text: &str,
        context: &CallContext,
    ) -> Result<(), HttpError> {
        let exchange = self.endpoint.on(self.server, context);
        changed(&self.endpoint, exchange, &|| Change {
            method: Method::PUT,
            url: self.action(action),
            content_type,
            text,
        })
        .await
    }

    /// Rolls the transaction back, if it is still open; afterwards it is not.
    pub(super) async fn end(&self, context: &CallContext) -> Result<(), HttpError> {
        let exchange = self.endpoint.on(self.server, context);
        let ended = exchange.change(Change {
            method: Method::DELETE,
            url: self.url.clone(),
            content_type: "",
            text: "",
        });
        match ended.await {
            Ok(_) => Ok(()),
            Err(error) if is_unknown(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Rolls the transaction back, however often that must be asked for, until it has ended by itself.
    pub(super) async fn end_in_time(&self, lasts: Duration) {
        let context = CallContext::new().with_timeout(lasts);
        while let Err(error) = within(&context, self.end(&context)).await {
            if context.check().is_err() {
                tracing::warn!(%error, "a transaction of the SPARQL server ends by its time-out");
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Finds out what became of a commit whose answer was lost: ends the transaction, and looks for what it wrote until the
    /// deadline.
    pub(super) async fn settle<'a>(
        &'a self,
        is_written: &(dyn Fn() -> BoxFuture<'a, Result<bool, StoreError>> + Sync),
        context: &CallContext,
    ) -> Result<bool, StoreError> {
        crate::remote::write::within(context, async {
            let mut is_over = false;
            loop {
                // A server ends a transaction after what it is doing for it, so there is nothing more
                // to come once it has answered.
                if !is_over {
                    match self.end(context).await {
                        Ok(()) => is_over = true,
                        Err(error) => tracing::debug!(%error, "a transaction is to be ended"),
                    }
                }
                match is_written().await {
                    Ok(true) => return Ok(true),
                    Ok(false) if is_over => return Ok(false),
                    Ok(false) => {}
                    Err(error) => tracing::debug!(%error, "what a commit wrote is looked for"),
                }
                tokio::time::sleep(PAUSE).await;
            }
        })
        .await
    }

    fn action(&self, action: &str) -> Url {
        let mut url = self.url.clone();
        url.query_pairs_mut().append_pair("action", action);
        url
    }
}

/// Returns whether an answer says that the transaction has ended, or was lost with its server.
fn is_unknown(error: &HttpError) -> bool {
    let text = error.text();
    error.status().is_some_and(|status| status.as_u16() == 404)
        || text.contains("not registered")
        || text.contains("not a valid transaction id")
}

async fn open(
    endpoint: &HttpEndpoint,
    exchange: Exchange<'_>,
) -> Result<(ServerKind, Url), HttpError> {
    let kind = endpoint.kind_by(exchange).await?;
    let transactions = below(&exchange.server.query_address(kind), &["transactions"]);
    let mut url = transactions.clone();
    url.query_pairs_mut()
        .append_pair(SERIALIZABLE.0, SERIALIZABLE.1);
    let opened = exchange.change(Change {
        method: Method::POST,
        url,
        content_type: "",
        text: "",
    });
    let opened = opened.await?;
    let location = header(opened.response().headers(), LOCATION);
    // A server behind a proxy may not know its own address, and credentials must not go elsewhere.
    let id = location
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    if id.is_empty() {
        return Err(HttpError::Malformed {
            address: exchange.server.name(),
            cause: "a transaction without an address".to_owned(),
        });
    }
    Ok((kind, below(&transactions, &[id])))
}
