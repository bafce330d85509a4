//! The server: reads, changes that are compared and made in one transaction, and the repository when it is missing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use graph_store::query::Dataset;
use graph_store::remote::http::{HttpEndpoint, HttpStore, ServerKind, ServerTransaction};
use graph_store::remote::{EndpointQuery, Rows, SparqlEndpoint};
use graph_store::{CallContext, StoreError};
use oxrdf::NamedNode;
use spargebra::{Query, Update};
use tokio::sync::{Mutex, OnceCell};
use uuid::Uuid;

use super::algebra;
use super::failure::{self, is_denied, is_missing, is_passing};
use super::options::{Rdf4jOptionsError, Rdf4jSchemaOptions};
use super::template::{Template, templates};
use crate::store::SchemaStoreError;

/// How often a change is repeated that conflicts with those of others.
const CONFLICTS: u32 = 30;

/// The longest pause before a change is repeated that has conflicted.
const PAUSE: Duration = Duration::from_millis(100);

/// Races that decide whether a server is trusted that could not be tested with.
const RACES: u32 = 3;

/// A server, and the repository in it.
pub(super) struct Server {
    endpoint: Arc<HttpEndpoint>,
    options: Rdf4jSchemaOptions,
    /// One call at a time creates the repository.
    creation: Mutex<()>,
    /// Whether the server keeps transactions apart, once that is known.
    isolation: OnceCell<bool>,
}

/// A change that follows from what was read.
pub(super) struct Change<T> {
    /// What is written; nothing if all is as it should be.
    pub(super) update: Option<Update>,
    /// What only this change leaves behind, by which it is found if the answer to its commit is lost.
    pub(super) mark: Mark,
    pub(super) result: T,
}

/// What a change leaves behind.
pub(super) enum Mark {
    /// A node with a revision.
    Revision(NamedNode, String),
    /// A node about which nothing is stored any more.
    Absent(NamedNode),
}

impl Mark {
    /// Returns whether it is there because something was written.
    fn is_written(&self) -> bool {
        match self {
            Mark::Revision(..) => true,
            Mark::Absent(_) => false,
        }
    }

    fn query(&self) -> Query {
        match self {
            Mark::Revision(node, revision) => algebra::has_revision(node, revision),
            Mark::Absent(node) => algebra::is_absent(node),
        }
    }
}

/// Why an attempt to make a change failed.
enum Failure {
    /// It must not be made, or no one knows whether it was.
    Final(SchemaStoreError),
    /// No transaction was begun; the client has repeated that as its options say.
    Begin(StoreError),
    /// The transaction failed, and nothing was written.
    Undone(StoreError),
}

impl Server {
    pub(super) fn new(mut options: Rdf4jSchemaOptions) -> Result<Self, Rdf4jOptionsError> {
        options.validate()?;
        let repository = options.repository().to_owned();
        options.connection.repository = Some(repository);
        Ok(Server {
            endpoint: Arc::new(HttpEndpoint::new(options.connection.clone())?),
            options,
            creation: Mutex::default(),
            isolation: OnceCell::new(),
        })
    }

    /// Runs a query, and returns its rows.
    pub(super) async fn select(&self, query: &Query) -> Result<Rows, SchemaStoreError> {
        let context = &self.context();
        match self.read(query, context).await {
            Err(error) if is_missing(&error) => {
                self.create_repository(error, context).await?;
                self.read(query, context).await
            }
            read => read,
        }
        .map_err(|error| self.failed(error))
    }

    /// Makes a change that follows from what a query finds, in one transaction. It is repeated, with its query, while it
    /// conflicts with those of others, and as the options say when the server fails before it is committed.
    pub(super) async fn change<T: Send>(
        &self,
        query: &Query,
        plan: impl Fn(Rows) -> Result<Change<T>, SchemaStoreError> + Send + Sync,
    ) -> Result<T, SchemaStoreError> {
        let context = &self.context();
        let connection = &self.options.connection;
        let (mut is_created, mut conflicts, mut retries, mut failed) = (false, 0, 0, None);
        loop {
            let failure = match self.attempt(query, &plan, context).await {
                Ok(result) => return Ok(result),
                Err(failure) => failure,
            };
            match failure {
                Failure::Final(error) => return Err(error),
                Failure::Begin(error) | Failure::Undone(error)
                    if is_missing(&error) && !is_created =>
                {
                    is_created = true;
                    self.create_repository(error, context).await?;
                }
                Failure::Undone(StoreError::Conflict) if conflicts < CONFLICTS => {
                    conflicts += 1;
                    self.pause(random_part(PAUSE), context).await?;
                }
                Failure::Undone(error)
                    if self.is_passing(&error) && self.may_repeat(retries, failed) =>
                {
                    retries += 1;
                    failed.get_or_insert_with(Instant::now);
                    tracing::warn!(%error, "retrying a change to the schema store");
                    self.pause(connection.retry_interval, context).await?;
                }
                Failure::Begin(error) | Failure::Undone(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Looks whether the repository can be read and written to, and creates it if it is missing. Returns what is wrong with
    /// some of the servers.
    pub(super) async fn probe(&self) -> Result<Vec<String>, SchemaStoreError> {
        let timeout = self.options.connection.health_check_timeout;
        let timeout = if timeout.is_zero() {
            self.options.timeout
        } else {
            timeout.min(self.options.timeout)
        };
        // One to find out how all servers are, and one to write to one of them.
        let timeout = if self.options.connection.fails_over() {
            3 * timeout
        } else {
            timeout
        };
        let context = &CallContext::new().with_timeout(timeout);
        let troubles = match self.endpoint.probe(context).await {
            Err(error) if is_missing(&error) => {
                self.create_repository(error, context).await?;
                Vec::new()
            }
            probed => probed.map_err(|error| self.failed(error))?.troubles(),
        };
        self.check_kind(context)
            .await
            .map_err(|error| self.failed(error))?;
        let nothing = algebra::nothing();
        let updated = self.endpoint.check_update(&nothing, context);
        updated.await.map_err(|error| self.failed(error))?;
        Ok(troubles)
    }

    /// Returns whether the repository is there.
    pub(super) async fn exists(&self) -> Result<bool, SchemaStoreError> {
        self.can_be_read(&self.context()).await
    }

    fn context(&self) -> CallContext {
        CallContext::new().with_timeout(self.options.timeout)
    }

    fn failed(&self, error: StoreError) -> SchemaStoreError {
        failure::of(error, &self.options.connection.retry_http_codes)
    }

    fn is_passing(&self, error: &StoreError) -> bool {
        is_passing(error, &self.options.connection.retry_http_codes)
    }

    async fn read(&self, query: &Query, context: &CallContext) -> Result<Rows, StoreError> {
        let dataset = Dataset {
            include_inferred: false,
            expand_same_as: false,
            ..Dataset::default()
        };
        self.check_kind(context).await?;
        let query = EndpointQuery {
            query,
            text: &query.to_string(),
            dataset: &dataset,
        };
        self.endpoint.select(query, context).await
    }

    /// Refuses servers that do not speak RDF4J's protocol.
    async fn check_kind(&self, context: &CallContext) -> Result<ServerKind, StoreError> {
        match self.endpoint.server_kind(context).await? {
            kind @ (ServerKind::Rdf4j | ServerKind::GraphDb) => Ok(kind),
            ServerKind::Fuseki | ServerKind::Sparql11 => Err(StoreError::Unsupported(
                "schemas cannot be stored there: the server does not speak RDF4J's protocol; is its address the one above \
                 `/repositories`?"
                    .to_owned(),
            )),
        }
    }

    /// Refuses servers that let two transactions change the same.
    async fn check_isolation(&self, context: &CallContext) -> Result<(), StoreError> {
        let kind = self.check_kind(context).await?;
        let isolation = self.isolation.get_or_try_init(|| async {
            if kind == ServerKind::Rdf4j {
                return Ok::<_, StoreError>(true);
            }
            let store = HttpStore::new(Arc::clone(&self.endpoint));
            // The races are large, and everything that asks for the kind of a server would be as large with them.
            let report = Box::pin(store.probe_isolation(RACES, context)).await?;
            Ok(report.is_isolated())
        });
        if *isolation.await? {
            return Ok(());
        }
        Err(StoreError::NotIsolated(
            "schemas cannot be stored there: the server does not isolate concurrent transactions"
                .to_owned(),
        ))
    }

    async fn attempt<T>(
        &self,
        query: &Query,
        plan: &(impl Fn(Rows) -> Result<Change<T>, SchemaStoreError> + Sync),
        context: &CallContext,
    ) -> Result<T, Failure> {
        self.check_isolation(context)
            .await
            .map_err(Failure::Begin)?;
        let mut transaction = self.endpoint.begin(context).await.map_err(Failure::Begin)?;
        let made = self.make(&mut transaction, query, plan, context).await;
        // What has failed is rolled back before it is repeated.
        transaction.roll_back().await;
        made
    }

    async fn make<T>(
        &self,
        transaction: &mut ServerTransaction,
        query: &Query,
        plan: &(impl Fn(Rows) -> Result<Change<T>, SchemaStoreError> + Sync),
        context: &CallContext,
    ) -> Result<T, Failure> {
        let rows = transaction.select(query, context).await;
        let planned = plan(rows.map_err(Failure::Undone)?);
        let (update, change) = match planned {
            Ok(mut change) => match change.update.take() {
                Some(update) => (update, change),
                None => return end_unchanged(transaction, context, Ok(change.result)).await,
            },
            Err(error) => return end_unchanged(transaction, context, Err(error)).await,
        };
        let updated = transaction.update(&update, context).await;
        updated.map_err(Failure::Undone)?;
        let lost = match transaction.commit(&most_of(context)).await {
            Ok(()) => return Ok(change.result),
            Err(StoreError::OutcomeUnknown(source)) => source,
            Err(error) => return Err(Failure::Undone(error)),
        };
        tracing::warn!(error = %lost, "checking the outcome of a change to the schema store");
        let (mark, is_written) = (change.mark.query(), change.mark.is_written());
        match transaction.settle(&mark, is_written, context).await {
            Ok(true) => Ok(change.result),
            Ok(false) => Err(Failure::Undone(StoreError::Failed(lost))),
            Err(_) => Err(Failure::Final(SchemaStoreError::OutcomeUnknown(lost))),
        }
    }

    /// Returns whether a change is made again that has been so often, and failed for the first time at some moment.
    fn may_repeat(&self, retries: u32, failed: Option<Instant>) -> bool {
        let connection = &self.options.connection;
        if !connection.fails_over() {
            return retries < connection.max_retries;
        }
        failed.is_none_or(|failed| failed.elapsed() < connection.unavailable_write_timeout)
    }

    async fn pause(&self, time: Duration, context: &CallContext) -> Result<(), SchemaStoreError> {
        let end = Instant::now() + time;
        let end = context.deadline.map_or(end, |deadline| end.min(deadline));
        tokio::time::sleep_until(end.into()).await;
        let checked = context.check();
        checked.map_err(|ended| self.failed(ended.into()))
    }

    /// Creates the repository, since the server has said that it is missing.
    async fn create_repository(
        &self,
        missing: StoreError,
        context: &CallContext,
    ) -> Result<(), SchemaStoreError> {
        let repository = self.options.repository();
        if !self.options.may_create() {
            let source = CreationError::Disabled {
                repository: repository.to_owned(),
                source: missing,
            };
            return Err(SchemaStoreError::Failed(source.into()));
        }
        let creation = async {
            let _turn = self.creation.lock().await;
            // It may have been another call's turn before.
            if self.can_be_read(context).await? {
                return Ok(());
            }
            let kind = self
                .check_kind(context)
                .await
                .map_err(|error| self.failed(error))?;
            let mut refused = Vec::new();
            for template in templates(&self.options, kind) {
                match self.create(&template, context).await? {
                    Ok(()) => return Ok(()),
                    Err(reason) => refused.push(format!("{}: {reason}", template.title)),
                }
            }
            Err(SchemaStoreError::Failed(
                CreationError::Refused {
                    repository: repository.to_owned(),
                    reasons: refused.join("; "),
                }
                .into(),
            ))
        };
        let end = context.deadline.unwrap_or_else(Instant::now);
        match tokio::time::timeout_at(end.into(), creation).await {
            Ok(created) => created,
            Err(_) => Err(SchemaStoreError::Unavailable(missing.into())),
        }
    }

    /// Tries a configuration; returns why it does not fit, if it does not.
    async fn create(
        &self,
        template: &Template,
        context: &CallContext,
    ) -> Result<Result<(), String>, SchemaStoreError> {
        let (repository, title) = (self.options.repository(), template.title);
        let created = self.endpoint.create_repository(&template.text, context);
        if let Err(error) = created.await {
            if is_denied(&error) {
                return Err(self.failed(error));
            }
            // Another process may have been faster, or the answer was lost.
            if self.can_be_read(context).await? {
                return Ok(Ok(()));
            }
            if self.is_passing(&error) || matches!(error, StoreError::Call(_)) {
                return Err(self.failed(error));
            }
            tracing::debug!(
                repository,
                title,
                error = said(&error),
                "a configuration is refused"
            );
            return Ok(Err(said(&error)));
        }
        // A server may take a configuration that it cannot open.
        let error = match self.read(&algebra::anything(), context).await {
            Ok(_) => {
                tracing::info!(repository, title, "the repository of schemas is created");
                return Ok(Ok(()));
            }
            Err(error) => error,
        };
        if is_denied(&error) || self.is_passing(&error) || matches!(error, StoreError::Call(_)) {
            return Err(self.failed(error));
        }
        match self.endpoint.remove_repository(context).await {
            Ok(()) => Ok(Err(said(&error))),
            Err(stays) => Err(SchemaStoreError::Failed(
                CreationError::Unusable {
                    repository: repository.to_owned(),
                    reason: said(&stays),
                    source: error,
                }
                .into(),
            )),
        }
    }

    /// Returns whether the repository answers queries; fails if it exists and does not.
    async fn can_be_read(&self, context: &CallContext) -> Result<bool, SchemaStoreError> {
        match self.read(&algebra::anything(), context).await {
            Ok(_) => Ok(true),
            Err(error) if is_missing(&error) => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }
}

/// Ends a transaction that has only read.
///
/// It is committed: RDF4J 3.7 never frees the memory of one that has read from a native store and is rolled back.
async fn end_unchanged<T>(
    transaction: &mut ServerTransaction,
    context: &CallContext,
    result: Result<T, SchemaStoreError>,
) -> Result<T, Failure> {
    if let Err(error) = transaction.commit(context).await {
        tracing::debug!(%error, "a transaction that has only read is rolled back");
    }
    result.map_err(Failure::Final)
}

/// Why there is no repository.
#[derive(Debug, thiserror::Error)]
enum CreationError {
    #[error(
        "there is no repository `{repository}` on the server of schemas, and its creation is disabled: create it, or enable \
         its creation"
    )]
    Disabled {
        repository: String,
        source: StoreError,
    },
    #[error(
        "the server of schemas does not create the repository `{repository}`: create it yourself, or configure how it is \
         created ({reasons})"
    )]
    Refused { repository: String, reasons: String },
    #[error(
        "the repository `{repository}` was created on the server of schemas, but cannot be opened \
         and is not removed ({reason}): remove it, and correct the configuration"
    )]
    Unusable {
        repository: String,
        reason: String,
        source: StoreError,
    },
}

/// Returns what a server said, for logs.
fn said(error: &StoreError) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}

/// Leaves some of the time for finding out what became of a commit.
fn most_of(context: &CallContext) -> CallContext {
    let now = Instant::now();
    let left = context.deadline.map_or(Duration::ZERO, |deadline| {
        deadline.saturating_duration_since(now)
    });
    context.clone().with_deadline(now + left * 3 / 4)
}

/// Returns some part of a time, so that those who conflict do not do so again.
fn random_part(time: Duration) -> Duration {
    let random = Uuid::new_v4().as_fields().0;
    time.mul_f64(f64::from(random) / f64::from(u32::MAX))
}
