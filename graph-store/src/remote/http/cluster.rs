//! The servers of an endpoint: which of them are asked, and how each of them is.
//!
//! A server that failed is not sent requests again before a check of its own has found that it answers, so no request
//! waits to find that out. Checks are begun by the requests that pass the server by, one at a time, as often as the
//! options say; and by requests that ended while the server was silent.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use call_context::CallContext;
use futures::future::join_all;
use tokio::runtime::Handle;

use super::client::Channel;
use super::detect::{any_statement, detect};
use super::error::{HttpError, Meaning, OptionsError};
use super::exchange::{Exchange, Query};
use super::options::{ConnectionOptions, bound};
use super::results::{projection, read_rows};
use super::server::Server;
use super::values::{ResultFormat, ServerKind, ServerType};
use crate::error::StoreError;
use crate::query::Dataset;
use crate::store::{ServerState, StoreInfo};

/// Largest result of a check, which is a row or none.
const RESULT: u64 = 64 << 10;

/// How long a check takes where its timeout is disabled: no one would look again at a server that never answers one.
const LONGEST_CHECK: Duration = Duration::from_secs(60);

/// How long a request has waited for a server whose silence is looked into when the request is dropped.
const SILENCE: Duration = Duration::from_secs(1);

/// Servers that hold the same data.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) options: ConnectionOptions,
    pub(super) servers: Vec<Server>,
    /// What the servers are, once one has said so.
    pub(super) kind: OnceLock<ServerKind>,
    requests: Channel,
    checks: Channel,
}

impl Cluster {
    pub(super) fn new(options: ConnectionOptions) -> Result<Self, OptionsError> {
        options.validate()?;
        let bases = options.addresses.urls().iter();
        let updates = options.update_addresses.urls().iter().map(Some);
        let servers = bases.zip(updates.chain(std::iter::repeat(None)));
        let (requests, checks) = Channel::pair(&options)?;
        Ok(Cluster {
            requests,
            checks,
            servers: servers
                .map(|(base, updates)| Server::new(base, updates, &options))
                .collect::<Result<_, _>>()?,
            kind: match options.server {
                ServerType::Auto => OnceLock::new(),
                ServerType::Known(kind) => OnceLock::from(kind),
            },
            options,
        })
    }

    /// Returns how to communicate with the server at a position.
    pub(super) fn on<'a>(&'a self, position: usize, context: &'a CallContext) -> Exchange<'a> {
        Exchange {
            server: &self.servers[position],
            channel: &self.requests,
            context,
            system: self.system(),
        }
    }

    /// Returns the name of the kind of the servers, as far as it is known.
    fn system(&self) -> &'static str {
        self.kind.get().map_or("sparql", |kind| kind.as_str())
    }

    /// Returns how to check the server at a position.
    pub(super) fn check_on<'a>(
        &'a self,
        position: usize,
        context: &'a CallContext,
    ) -> Exchange<'a> {
        Exchange {
            channel: &self.checks,
            ..self.on(position, context)
        }
    }

    /// Returns the position of the first server that has not failed, or of the main one.
    pub(super) fn fit(&self) -> usize {
        let is_fit = |server: &Server| !server.has_failed();
        self.servers.iter().position(is_fit).unwrap_or_default()
    }

    /// Returns the positions of the servers in the order in which they are asked: those that have not failed, or all of
    /// them if there is none.
    pub(super) fn order(self: &Arc<Self>) -> Vec<usize> {
        let has_failed = |position: &usize| self.servers[*position].has_failed();
        let (failed, fit): (Vec<_>, Vec<_>) = (0..self.servers.len()).partition(has_failed);
        if fit.is_empty() {
            return failed;
        }
        for position in failed {
            if self.servers[position].is_due() {
                self.look_at(position);
            }
        }
        fit
    }

    /// Fails if a server has failed and another takes over for it: nothing is to be sent to it.
    pub(super) fn check_fit(&self, position: usize) -> Result<(), HttpError> {
        let has_failed = |server: &Server| server.has_failed();
        let server = &self.servers[position];
        if has_failed(server) && !self.servers.iter().all(has_failed) {
            let address = server.name();
            return Err(HttpError::Skipped { address });
        }
        Ok(())
    }

    /// Returns whether an error says that a server lacks the repository, so that it is left out.
    pub(super) fn is_missing(&self, error: &HttpError) -> bool {
        error.is_not_found() && self.options.fails_over() && !self.options.force_connection
    }

    /// Returns the error of a transaction, of which nothing is written, for the failure of a request that is part of it.
    pub(super) fn interrupted(&self, error: HttpError) -> StoreError {
        if self.options.fails_over() && error.meaning() == Meaning::Down {
            StoreError::Interrupted(Box::new(error))
        } else {
            error.into_store_error()
        }
    }

    /// Records that a server failed or lacks the repository, if that is what the error of a request outside of a
    /// transaction means. Returns whether it is.
    pub(super) fn note_apart(&self, position: usize, error: &HttpError) -> bool {
        let leaves_out = error.meaning() == Meaning::Down || self.is_missing(error);
        if leaves_out {
            self.servers[position].set_aside(error);
        }
        leaves_out
    }

    /// Waits for what a server answers to a request that no other can answer, since it is part of a transaction. Where
    /// another server takes over, it is [watched](Self::watched), and a server that fails is left out.
    pub(super) async fn stay<T>(
        self: &Arc<Self>,
        position: usize,
        request: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        if !self.options.fails_over() {
            return request.await;
        }
        let answered = Box::pin(self.watched(position, request)).await;
        answered.inspect_err(|error| {
            if error.meaning() == Meaning::Down {
                self.servers[position].set_aside(error);
            }
        })
    }

    /// Returns the kind of the server of an exchange.
    pub(super) async fn kind_by(&self, exchange: Exchange<'_>) -> Result<ServerKind, HttpError> {
        if let Some(kind) = self.kind.get() {
            return Ok(*kind);
        }
        // No one waits for what another server does not answer.
        let kind = detect(exchange).await?;
        if self.kind.set(kind).is_ok() {
            let (address, kind) = (exchange.server.name(), kind.as_str());
            tracing::info!(address, kind, "the SPARQL server said what it is");
        }
        Ok(kind)
    }

    /// Checks a server; while its kind is unknown, tries to detect it each time. Returns whether it holds anything.
    async fn check(&self, position: usize, context: &CallContext) -> Result<bool, HttpError> {
        let exchange = self.check_on(position, context);
        let read = async {
            let select = any_statement();
            let wanted = projection(&select).expect("the query for any statement has a projection");
            let query = Query {
                text: &select.to_string(),
                dataset: &Dataset::default(),
                format: ResultFormat::Json,
            };
            let kind = self.kind_by(exchange).await?;
            let body = exchange.query(kind, query).await?.limited(RESULT)?;
            read_rows(body, query.format, &wanted).await
        };
        let rows = self.check_within(position, read).await?;
        Ok(!rows.terms.is_empty())
    }

    /// Ends a check when its time is up, and records what it says about the server.
    pub(super) async fn check_within<T>(
        &self,
        position: usize,
        check: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        let server = &self.servers[position];
        let timeout = bound(self.options.health_check_timeout).unwrap_or(LONGEST_CHECK);
        let checked = match tokio::time::timeout(timeout, check).await {
            Ok(checked) => checked,
            Err(_) => Err(HttpError::Slow {
                address: server.name(),
                timeout,
            }),
        };
        server.note_check(!matches!(&checked, Err(error) if error.meaning() == Meaning::Down));
        match &checked {
            Ok(_) => server.set_back(),
            Err(error) if self.note_apart(position, error) => {}
            // It answers, without the repository, and is used nevertheless.
            Err(error) if error.is_not_found() && self.options.force_connection => {
                server.set_back()
            }
            // It answers something else than it should. It is not checked again at once: servers lock out whoever repeats
            // wrong credentials.
            Err(error) if server.has_failed() => server.set_aside(error),
            Err(_) => {}
        }
        checked
    }

    /// Checks all servers.
    pub(super) async fn check_all(&self, context: &CallContext) -> Result<StoreInfo, HttpError> {
        let checks = (0..self.servers.len()).map(|position| self.check(position, context));
        let checked = join_all(checks).await;
        let mut servers = Vec::new();
        let mut is_filled = None;
        let mut failure = None;
        for (server, checked) in self.servers.iter().zip(checked) {
            servers.push(ServerState {
                address: server.name(),
                trouble: checked.as_ref().err().map(HttpError::trouble),
            });
            match checked {
                Ok(found) => {
                    is_filled.get_or_insert(found);
                }
                Err(error) => {
                    if self.servers.len() > 1 {
                        tracing::warn!(%error, "a SPARQL server failed its check");
                    }
                    // One that is down may have the repository that another lacks.
                    let is_down = error.meaning() == Meaning::Down;
                    if is_down || failure.is_none() {
                        failure = Some(error);
                    }
                }
            }
        }
        let Some(is_filled) = is_filled else {
            return Err(failure.expect("the options have at least one address"));
        };
        Ok(StoreInfo {
            provider: self.system().to_owned(),
            statements: (!is_filled).then_some(0),
            servers,
        })
    }

    /// Waits for what a server answers. Looks meanwhile whether the server answers at all, and gives up when it does
    /// not.
    pub(super) async fn watched<T>(
        self: &Arc<Self>,
        position: usize,
        request: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        let Some(silence) = bound(self.options.health_check_timeout) else {
            return request.await;
        };
        let (server, begun) = (&self.servers[position], Instant::now());
        let looking = async {
            loop {
                tokio::time::sleep(silence).await;
                let asked = Instant::now();
                // Few requests take so long that this is begun.
                let look = async {
                    let _turn = server.turn().await;
                    // Another request may have found it out meanwhile.
                    if server.answered_check(asked).is_none() {
                        // The server remembers the outcome.
                        let _ = self.check(position, &CallContext::new()).await;
                    }
                };
                Box::pin(look).await;
                if server.answered_check(asked) == Some(false) {
                    // That is no answer to the request, which may have been carried out.
                    return HttpError::Silent {
                        address: server.name(),
                        timeout: silence,
                    };
                }
                // What is asked takes long.
            }
        };
        let mut waiting = Waiting {
            cluster: self,
            position,
            since: begun,
            is_over: false,
        };
        let answered = tokio::select! {
            biased;
            answered = request => answered,
            error = looking => Err(error),
        };
        waiting.is_over = true;
        answered
    }

    /// Checks a server in a task of its own, unless it is being checked.
    fn look_at(self: &Arc<Self>, position: usize) {
        let free_turn = self.servers[position].free_turn();
        let (Ok(runtime), Some(turn)) = (Handle::try_current(), free_turn) else {
            return;
        };
        let cluster = Arc::clone(self);
        runtime.spawn(async move {
            // The server remembers the outcome.
            let _ = cluster.check(position, &CallContext::new()).await;
            drop(turn);
        });
    }
}

/// A request that waits for a server; when it is dropped, its deadline may have passed in vain.
struct Waiting<'a> {
    cluster: &'a Arc<Cluster>,
    position: usize,
    since: Instant,
    is_over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.since.elapsed() >= SILENCE {
            self.cluster.look_at(self.position);
        }
    }
}
