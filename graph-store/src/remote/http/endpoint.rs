//! The endpoint itself: deadlines, server kind, queries and health checks.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use call_context::CallContext;
use futures::future::{BoxFuture, join_all};
use oxrdf::Variable;
use reqwest::Method;
use spargebra::Update;
use tokio::sync::OnceCell;

use super::body::Body;
use super::client::Channel;
use super::detect::{any_statement, detect};
use super::error::{HttpError, Meaning, OptionsError};
use super::exchange::{Change, Exchange, Query, update_type};
use super::failover;
use super::options::{ConnectionOptions, bound};
use super::results::{RowReader, projection, read_rows};
use super::server::Server;
use super::session::read_only;
use super::values::{ResultFormat, ServerKind, ServerType};
use crate::error::StoreError;
use crate::query::Dataset;
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
    options: ConnectionOptions,
    queries: Channel,
    checks: Channel,
    servers: Vec<Server>,
    kind: OnceCell<ServerKind>,
    /// A result arrived in lines without an end marker, so this format is not requested again.
    unmarked: AtomicBool,
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint")
            .field("options", &self.options)
            .field("kind", &self.kind.get())
            .finish_non_exhaustive()
    }
}

impl HttpEndpoint {
    /// Prepares an endpoint; does not connect yet.
    ///
    /// # Errors
    /// When the options contradict each other, or TLS cannot be set up on this machine.
    pub fn new(options: ConnectionOptions) -> Result<Self, OptionsError> {
        options.validate()?;
        let bases = options.addresses.urls().iter();
        let updates = options.update_addresses.urls().iter().map(Some);
        let servers = bases.zip(updates.chain(std::iter::repeat(None)));
        let (queries, checks) = Channel::pair(&options)?;
        Ok(HttpEndpoint {
            queries,
            checks,
            servers: servers
                .map(|(base, updates)| Server::new(base, updates, &options))
                .collect::<Result<_, _>>()?,
            kind: match options.server {
                ServerType::Auto => OnceCell::new(),
                ServerType::Known(kind) => OnceCell::new_with(Some(kind)),
            },
            unmarked: AtomicBool::new(false),
            options,
        })
    }

    /// Returns the kind of the servers; detects it if it is neither configured nor known yet.
    ///
    /// # Errors
    /// When no server answers in time.
    pub async fn server_kind(&self, context: &CallContext) -> Result<ServerKind, StoreError> {
        if let Some(kind) = self.kind.get() {
            return Ok(*kind);
        }
        let attempt = |server| -> BoxFuture<'_, _> {
            Box::pin(self.kind_by(self.exchange(server, &self.queries, context)))
        };
        within(
            context,
            failover::read(&self.servers, &self.options, &attempt),
        )
        .await
    }

    /// Returns the kind of the servers as far as it is known.
    #[must_use]
    pub fn known_kind(&self) -> Option<ServerKind> {
        self.kind.get().copied()
    }

    /// Returns the repository or dataset, if it has a name.
    #[must_use]
    pub fn repository(&self) -> Option<&str> {
        self.options.repository.as_deref()
    }

    /// Returns the options.
    pub(super) fn options(&self) -> &ConnectionOptions {
        &self.options
    }

    /// Returns the server at a position.
    pub(super) fn server(&self, position: usize) -> &Server {
        &self.servers[position]
    }

    /// Returns the position of the first server that has not failed lately.
    pub(super) fn fit_server(&self) -> usize {
        let fit = |server: &Server| !server.is_aside();
        self.servers.iter().position(fit).unwrap_or_default()
    }

    /// Returns how to communicate with the server at a position.
    pub(super) fn on<'a>(&'a self, position: usize, context: &'a CallContext) -> Exchange<'a> {
        self.exchange(&self.servers[position], &self.queries, context)
    }

    /// Runs a read on the server at a position or, if none is given, on the servers in turn; returns the
    /// position too.
    pub(super) async fn read_on<'a, T: Send>(
        &'a self,
        position: Option<usize>,
        context: &'a CallContext,
        read: &'a (dyn Fn(Exchange<'a>) -> BoxFuture<'a, Result<T, HttpError>> + Sync),
    ) -> Result<(usize, T), HttpError> {
        let attempt = |server: &'a Server| -> BoxFuture<'a, Result<(usize, T), HttpError>> {
            let found = self
                .servers
                .iter()
                .position(|other| std::ptr::eq(other, server));
            let read = read(self.exchange(server, &self.queries, context));
            Box::pin(async move { Ok((found.unwrap_or_default(), read.await?)) })
        };
        let servers = match position {
            Some(position) => std::slice::from_ref(&self.servers[position]),
            None => &self.servers[..],
        };
        failover::read(servers, &self.options, &attempt).await
    }

    fn exchange<'a>(
        &'a self,
        server: &'a Server,
        channel: &'a Channel,
        context: &'a CallContext,
    ) -> Exchange<'a> {
        Exchange {
            server,
            channel,
            context,
        }
    }

    /// Returns the kind of the server of an exchange.
    pub(super) async fn kind_by(&self, exchange: Exchange<'_>) -> Result<ServerKind, HttpError> {
        let detected = self.kind.get_or_try_init(|| async {
            let kind = detect(exchange).await?;
            let address = exchange.server.name();
            tracing::info!(
                address,
                kind = kind.as_str(),
                "the SPARQL server said what it is"
            );
            Ok(kind)
        });
        detected.await.copied()
    }

    /// Sends a query, and reads its result.
    pub(super) async fn select_by(
        &self,
        exchange: Exchange<'_>,
        mut query: Query<'_>,
        wanted: &[Variable],
    ) -> Result<Rows, HttpError> {
        let kind = self.kind_by(exchange).await?;
        loop {
            if self.unmarked.load(Ordering::Relaxed) {
                query.format = ResultFormat::Json;
            }
            let body = exchange.query(kind, query).await?;
            let body = body
                .limited(self.options.max_result_bytes)?
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
        let attempt = move |server| -> BoxFuture<'a, Result<Body<'a>, HttpError>> {
            let exchange = self.exchange(server, &self.queries, context);
            Box::pin(async move {
                let kind = self.kind_by(exchange).await?;
                exchange.query(kind, query).await
            })
        };
        let body = failover::read(&self.servers, &self.options, &attempt).await?;
        RowReader::open(body, query.format, wanted).await
    }

    /// Checks one server; while its kind is unknown, tries to detect it each time.
    async fn check(&self, server: &Server, context: &CallContext) -> Result<bool, HttpError> {
        let exchange = self.exchange(server, &self.checks, context);
        let select = any_statement();
        let wanted = projection(&select).expect("the query for any statement has a projection");
        let query = Query {
            text: &select.to_string(),
            dataset: &Dataset::default(),
            format: ResultFormat::Json,
        };
        let checked = self.select_by(exchange, query, &wanted);
        let checked = self.check_within(server, checked).await;
        checked.map(|rows| rows.terms.is_empty())
    }

    /// Ends a health check when its time is up, and records what it says about the server.
    async fn check_within<T>(
        &self,
        server: &Server,
        check: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        let checked = match bound(self.options.health_check_timeout) {
            None => check.await,
            Some(timeout) => match tokio::time::timeout(timeout, check).await {
                Ok(checked) => checked,
                Err(_) => Err(HttpError::Slow {
                    address: server.name(),
                    timeout,
                }),
            },
        };
        match &checked {
            Ok(_) => server.set_back(),
            Err(error) if error.meaning() == Meaning::Down => server.set_aside(error),
            Err(_) => {}
        }
        checked
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
        let server = self.server(self.fit_server());
        let exchange = self.exchange(server, &self.checks, context);
        let text = update.to_string();
        let kind = within(context, self.check_within(server, self.kind_by(exchange))).await?;
        let url = server.updates_alone(kind).ok_or_else(read_only)?;
        let updated = exchange.change(Change {
            method: Method::POST,
            url,
            content_type: update_type(kind),
            text: &text,
        });
        let updated = self.check_within(server, updated);
        within(context, async { updated.await.map(drop) }).await
    }

    async fn check_all(&self, context: &CallContext) -> Result<StoreInfo, HttpError> {
        let checks = self
            .servers
            .iter()
            .map(|server| self.check(server, context));
        let mut failure = None;
        for checked in join_all(checks).await {
            match checked {
                Ok(is_empty) => {
                    let kind = self.kind.get().map_or("sparql", |kind| kind.as_str());
                    return Ok(StoreInfo {
                        provider: kind.to_owned(),
                        statements: is_empty.then_some(0),
                    });
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.expect("the options have at least one address"))
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
            format: self.options.result_format,
        };
        let attempt = |server| -> BoxFuture<'_, _> {
            let exchange = self.exchange(server, &self.queries, context);
            Box::pin(self.select_by(exchange, sent, &wanted))
        };
        within(
            context,
            failover::read(&self.servers, &self.options, &attempt),
        )
        .await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        within(context, self.check_all(context)).await
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
