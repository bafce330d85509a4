//! The endpoint itself: deadlines, queries and checks of its servers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use call_context::CallContext;
use futures::future::BoxFuture;
use oxrdf::Variable;
use reqwest::Method;
use spargebra::Update;

use super::body::Body;
use super::cluster::Cluster;
use super::error::{HttpError, OptionsError};
use super::exchange::{Change, Exchange, Query, update_type};
use super::failover::{Purpose, repeated};
use super::options::ConnectionOptions;
use super::results::{RowReader, projection, read_rows};
use super::session::read_only;
use super::values::{ResultFormat, ServerKind};
use crate::error::StoreError;
use crate::remote::{EndpointQuery, Rows, SparqlEndpoint};
use crate::store::StoreInfo;

/// A SPARQL endpoint over HTTP: one server, or several that hold the same data.
///
/// ```no_run
/// use graph_store::remote::http::{ConnectionOptions, HttpEndpoint};
///
/// let endpoint = HttpEndpoint::new(ConnectionOptions {
///     addresses: "http://localhost:7200".parse().expect("an address"),
///     repository: Some("films".to_owned()),
///     ..ConnectionOptions::default()
/// })?;
/// # Ok::<(), graph_store::remote::http::OptionsError>(())
/// ```
pub struct HttpEndpoint {
    cluster: Arc<Cluster>,
    /// A result arrived in lines without an end marker, so this format is not requested again.
    unmarked: AtomicBool,
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint")
            .field("options", &self.cluster.options)
            .field("kind", &self.cluster.kind.get())
            .finish_non_exhaustive()
    }
}

impl HttpEndpoint {
    /// Prepares an endpoint; does not connect yet.
    ///
    /// # Errors
    /// When the options contradict each other, or TLS cannot be set up on this machine.
    pub fn new(options: ConnectionOptions) -> Result<Self, OptionsError> {
        Ok(HttpEndpoint {
            cluster: Arc::new(Cluster::new(options)?),
            unmarked: AtomicBool::new(false),
        })
    }

    /// Returns the kind of the servers; detects it if it is neither configured nor known yet.
    ///
    /// # Errors
    /// When no server answers in time.
    pub async fn server_kind(&self, context: &CallContext) -> Result<ServerKind, StoreError> {
        if let Some(kind) = self.known_kind() {
            return Ok(kind);
        }
        let cluster = &*self.cluster;
        let attempt = move |position| -> BoxFuture<'_, _> {
            Box::pin(cluster.kind_by(cluster.on(position, context)))
        };
        let read = repeated(&self.cluster, None, Purpose::Read, &attempt);
        within(context, read).await
    }

    /// Returns the kind of the servers as far as it is known.
    #[must_use]
    pub fn known_kind(&self) -> Option<ServerKind> {
        self.cluster.kind.get().copied()
    }

    /// Returns the repository or dataset, if it has a name.
    #[must_use]
    pub fn repository(&self) -> Option<&str> {
        self.options().repository.as_deref()
    }

    /// Returns the options.
    pub(super) fn options(&self) -> &ConnectionOptions {
        &self.cluster.options
    }

    pub(super) fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// Runs a request that can be repeated on the server at a position or, if none is given, on the servers in turn;
    /// returns the position too.
    pub(super) async fn repeat_on<'a, T: Send>(
        &'a self,
        position: Option<usize>,
        purpose: Purpose,
        context: &'a CallContext,
        request: &'a (dyn Fn(Exchange<'a>) -> BoxFuture<'a, Result<T, HttpError>> + Sync),
    ) -> Result<(usize, T), HttpError> {
        let attempt = |position| -> BoxFuture<'a, Result<(usize, T), HttpError>> {
            let request = request(self.cluster.on(position, context));
            Box::pin(async move { Ok((position, request.await?)) })
        };
        repeated(&self.cluster, position, purpose, &attempt).await
    }

    /// Sends a query, and reads its result.
    pub(super) async fn select_by(
        &self,
        exchange: Exchange<'_>,
        mut query: Query<'_>,
        wanted: &[Variable],
    ) -> Result<Rows, HttpError> {
        let kind = self.cluster.kind_by(exchange).await?;
        loop {
            if self.unmarked.load(Ordering::Relaxed) {
                query.format = ResultFormat::Json;
            }
            let body = exchange.query(kind, query).await?;
            let body = body
                .limited(self.options().max_result_bytes)?
                .counted(exchange.context);
            match read_rows(body, query.format, wanted).await {
                Err(HttpError::Unmarked { address }) if query.format == ResultFormat::Tsv => {
                    self.unmarked.store(true, Ordering::Relaxed);
                    tracing::warn!(
                        address,
                        "results as TSV have no marked end; JSON from now on"
                    );
                }
                read => return read,
            }
        }
    }

    /// Sends a query whose result is read row by row, however large it is, as long as it arrives.
    ///
    /// The result is JSON, whose end is marked.
    pub(super) async fn rows<'a>(
        &'a self,
        query: Query<'a>,
        wanted: &[Variable],
        context: &'a CallContext,
    ) -> Result<RowReader<'a>, HttpError> {
        let cluster = &*self.cluster;
        let attempt = move |position| -> BoxFuture<'a, Result<Body<'a>, HttpError>> {
            let exchange = cluster.on(position, context);
            Box::pin(async move {
                let kind = cluster.kind_by(exchange).await?;
                exchange.query(kind, query).await
            })
        };
        let body = repeated(&self.cluster, None, Purpose::Read, &attempt).await?;
        RowReader::open(body, query.format, wanted).await
    }

    /// Carries out a harmless update as a health check: once, on the first server that has not failed lately, and
    /// within the timeout of health checks.
    ///
    /// # Errors
    /// When the server takes no updates from this user, or does not answer in time.
    pub async fn check_update(
        &self,
        update: &Update,
        context: &CallContext,
    ) -> Result<(), StoreError> {
        let cluster = &self.cluster;
        let position = cluster.fit();
        let exchange = cluster.check_on(position, context);
        let text = update.to_string();
        let kind = match self.known_kind() {
            Some(kind) => kind,
            None => {
                let kind = cluster.check_within(position, cluster.kind_by(exchange));
                within(context, kind).await?
            }
        };
        let url = exchange.server.updates_alone(kind).ok_or_else(read_only)?;
        let updated = exchange.change(Change {
            method: Method::POST,
            url,
            content_type: update_type(kind),
            text: &text,
            operation: "update",
        });
        let updated = cluster.check_within(position, updated);
        within(context, async { updated.await.map(drop) }).await
    }
}

#[async_trait]
impl SparqlEndpoint for HttpEndpoint {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let wanted = projection(query.query)?;
        let sent = Query {
            text: query.text,
            dataset: query.dataset,
            format: self.options().result_format,
        };
        let attempt = |position| -> BoxFuture<'_, _> {
            let exchange = self.cluster.on(position, context);
            Box::pin(self.select_by(exchange, sent, &wanted))
        };
        let read = repeated(&self.cluster, None, Purpose::Read, &attempt);
        within(context, read).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        within(context, self.cluster.check_all(context)).await
    }
}

/// Runs a read until its deadline or cancellation; dropping it closes its connection.
pub(super) async fn within<T>(
    context: &CallContext,
    read: impl Future<Output = Result<T, HttpError>>,
) -> Result<T, StoreError> {
    let read = async { read.await.map_err(HttpError::into_store_error) };
    crate::remote::write::within(context, read).await
}
