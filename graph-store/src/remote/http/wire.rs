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
use super::failover::Purpose;
use super::options::bound;
use super::results::{projection, read_rows};
use super::session::changed;
use super::values::{ResultFormat, ServerKind};
use crate::error::StoreError;
use crate::query::Dataset;
use crate::remote::Rows;
use crate::remote::write::{PAUSE, Part, sooner};

/// The setting that makes RDF4J compare what was read with what is there; its other parameter,
/// `isolation-level`, changes nothing.
const SERIALIZABLE: (&str, &str) = (
    "transaction-setting__org.eclipse.rdf4j.IsolationLevel",
    "SERIALIZABLE",
);

const UPDATE: &str = "application/sparql-update; charset=utf-8";

/// How long a look for what a transaction writes takes, where no option says it.
const LOOK: Duration = Duration::from_secs(5);

/// An open transaction of a server.
pub(super) struct Wire {
    endpoint: Arc<HttpEndpoint>,
    server: usize,
    kind: ServerKind,
    url: Url,
}

/// Looks for what only a transaction writes, on the server at a position or on whichever answers.
pub(super) type IsWritten<'a> =
    dyn Fn(Option<usize>) -> BoxFuture<'a, Result<bool, StoreError>> + Sync + 'a;

/// What a failed request of a transaction means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Someone else changed what was read.
    Conflict,
    /// The server did not carry it out.
    Refused,
    /// The server tried, and said that it failed.
    Failed,
    /// No one knows.
    Lost,
}

impl Failure {
    pub(super) fn of(error: &HttpError) -> Self {
        // The class of the exception, which is a part of the message.
        if error.text().contains("SailConflictException") {
            return Failure::Conflict;
        }
        match error {
            // A proxy may have sent it before, when its answer was lost.
            error if is_unknown(error) => Failure::Lost,
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
        context: &CallContext,
    ) -> Result<Self, HttpError> {
        let open = |exchange| -> BoxFuture<'_, _> { Box::pin(open(endpoint, exchange)) };
        let opened = endpoint.repeat_on(None, Purpose::Write, context, &open);
        let (server, (kind, url)) = opened.await?;
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

    /// Carries out an update that can be repeated, outside of all transactions.
    pub(super) async fn update_alone(
        endpoint: &HttpEndpoint,
        update: &Update,
        context: &CallContext,
    ) -> Result<(), HttpError> {
        let cluster = endpoint.cluster();
        let text = &update.to_string();
        let update = move |exchange| -> BoxFuture<'_, _> {
            Box::pin(async move {
                let kind = cluster.kind_by(exchange).await?;
                let statements = exchange.server.updates_alone(kind);
                let change = Change {
                    method: Method::POST,
                    url: statements.expect("servers with transactions take updates"),
                    content_type: UPDATE,
                    text,
                    operation: "update",
                };
                exchange.change(change).await.map(drop)
            })
        };
        let updated = endpoint.repeat_on(None, Purpose::Write, context, &update);
        updated.await.map(drop)
    }

    /// Runs a request of the transaction, and says what its failure means for the transaction.
    pub(super) async fn run<T>(
        &self,
        context: &CallContext,
        request: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, StoreError> {
        crate::remote::write::within(context, async {
            request.await.map_err(|error| match Failure::of(&error) {
                Failure::Conflict => StoreError::Conflict,
                _ if is_unknown(&error) => StoreError::Interrupted(Box::new(error)),
                _ => self.endpoint.cluster().interrupted(error),
            })
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
        let cluster = self.endpoint.cluster();
        cluster.check_fit(self.server)?;
        let read = async {
            let exchange = cluster.on(self.server, context);
            let body = exchange
                .query_within(self.url.clone(), self.kind, query)
                .await?
                .limited(cluster.options.max_result_bytes)?;
            read_rows(body.counted(context), ResultFormat::Json, &wanted).await
        };
        cluster.stay(self.server, read).await
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
        let (action, operation, content_type, text) = match part {
            Part::Update(text) => ("UPDATE", "update", UPDATE, text),
            Part::Added(quads) => ("ADD", "add", "application/n-quads; charset=utf-8", quads),
        };
        self.act(action, operation, content_type, text, context)
            .await
    }

    pub(super) async fn commit(&self, context: &CallContext) -> Result<(), HttpError> {
        self.act("COMMIT", "commit", "", "", context).await
    }

    async fn act(
        &self,
        action: &str,
        operation: &'static str,
        content_type: &'static str,
        text: &str,
        context: &CallContext,
    ) -> Result<(), HttpError> {
        changed(self.endpoint.cluster(), self.server, context, &|| Change {
            method: Method::PUT,
            url: self.action(action),
            content_type,
            text,
            operation,
        })
        .await
    }

    /// Returns whether the server of the transaction has failed, and another takes over.
    pub(super) fn has_failed(&self) -> bool {
        let cluster = self.endpoint.cluster();
        cluster.options.fails_over() && cluster.servers[self.server].has_failed()
    }

    /// Rolls the transaction back, if it is still open; afterwards it is not.
    pub(super) async fn end(&self, context: &CallContext) -> Result<(), HttpError> {
        let cluster = self.endpoint.cluster();
        let ended = cluster.on(self.server, context).change(Change {
            method: Method::DELETE,
            url: self.url.clone(),
            content_type: "",
            text: "",
            operation: "rollback",
        });
        match cluster.stay(self.server, ended).await {
            Ok(_) => Ok(()),
            Err(error) if is_unknown(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Rolls the transaction back, however often that must be asked for, until it has ended by itself. What is `held` meanwhile is
    /// given up as soon as the server has failed and another takes over.
    pub(super) async fn end_in_time<T>(&self, lasts: Duration, held: T) {
        let mut held = Some(held);
        let context = CallContext::new().with_timeout(lasts);
        while let Err(error) = within(&context, self.end(&context)).await {
            if self.has_failed() {
                held.take();
            }
            if context.check().is_err() {
                tracing::warn!(%error, "a transaction of the SPARQL server ends by its time-out");
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Commits the transaction. Looks for what it wrote when the server is silent for long.
    pub(super) async fn commit_or_find<'a>(
        &'a self,
        is_written: &IsWritten<'a>,
        context: &CallContext,
    ) -> Result<(), HttpError> {
        let silence = self.endpoint.options().health_check_timeout;
        let Some(silence) = bound(silence) else {
            return self.commit(context).await;
        };
        let found = async {
            loop {
                tokio::time::sleep(silence).await;
                if matches!(self.look(is_written).await, Ok(true)) {
                    break;
                }
            }
        };
        tokio::select! {
            biased;
            committed = self.commit(context) => committed,
            () = found => Ok(()),
        }
    }

    /// Finds out what became of a commit whose answer was lost: ends the transaction, and looks for what it wrote until the
    /// deadline, or until the time is over for which writes are repeated when servers fail.
    pub(super) async fn settle<'a>(
        &'a self,
        is_written: &IsWritten<'a>,
        context: &CallContext,
    ) -> Result<bool, StoreError> {
        let options = self.endpoint.options();
        let context = &if options.fails_over() {
            // It is looked for once at least.
            sooner(context, options.unavailable_write_timeout.max(LOOK))
        } else {
            context.clone()
        };
        crate::remote::write::within(context, async {
            let mut is_over = false;
            loop {
                // A server ends a transaction after what it is doing for it, so there is nothing more
                // to come once it has answered.
                if !is_over {
                    match self.soon(within(context, self.end(context))).await {
                        Ok(()) => is_over = true,
                        Err(error) => tracing::debug!(%error, "a transaction is to be ended"),
                    }
                }
                match self.look(is_written).await {
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

    /// Looks for what the transaction writes: on its server or, if that fails, on others, which may not have it yet.
    async fn look<'a>(&'a self, is_written: &IsWritten<'a>) -> Result<bool, StoreError> {
        let error = match self.soon(is_written(Some(self.server))).await {
            Ok(is_written) => return Ok(is_written),
            Err(error) => error,
        };
        if self.endpoint.options().fails_over()
            && matches!(self.soon(is_written(None)).await, Ok(true))
        {
            return Ok(true);
        }
        Err(error)
    }

    /// Waits no longer for an answer than a health check does.
    async fn soon<T>(
        &self,
        asked: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let time = bound(self.endpoint.options().health_check_timeout).unwrap_or(LOOK);
        match tokio::time::timeout(time, asked).await {
            Ok(answered) => answered,
            Err(_) => Err(StoreError::Unavailable("it does not answer in time".into())),
        }
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
    let kind = endpoint.cluster().kind_by(exchange).await?;
    let transactions = below(&exchange.server.query_address(kind), &["transactions"]);
    let mut url = transactions.clone();
    url.query_pairs_mut()
        .append_pair(SERIALIZABLE.0, SERIALIZABLE.1);
    let opened = exchange.change(Change {
        method: Method::POST,
        url,
        content_type: "",
        text: "",
        operation: "begin",
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
