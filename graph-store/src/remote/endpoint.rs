//! The transport interface of a remote store.

use std::sync::Arc;

use async_trait::async_trait;
use call_context::CallContext;
use oxrdf::Term;
use spargebra::{Query, Update};

use crate::error::StoreError;
use crate::query::Dataset;
use crate::store::StoreInfo;

/// A query for an endpoint, and the dataset that it reads.
#[derive(Clone, Copy, Debug)]
pub struct EndpointQuery<'a> {
    /// A SELECT query. Its dataset clause, if any, is already in the endpoint's dialect.
    pub query: &'a Query,
    /// The query as it is sent.
    pub text: &'a str,
    /// The dataset of the request, for protocol parameters such as inference.
    pub dataset: &'a Dataset,
}

/// The solutions of a SELECT query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Number of terms in a row, one per variable in the order of the projection.
    pub width: usize,
    /// Terms of all rows, one row after the other; `None` where a variable is unbound.
    pub terms: Vec<Option<Term>>,
}

/// A SPARQL endpoint: queries in, complete results out.
///
/// Implementations are responsible for connections, retries, fail-over, authentication and result
/// formats. A result is complete or an error: a truncated result is never returned as a complete
/// one.
#[async_trait]
pub trait SparqlEndpoint: Send + Sync + 'static {
    /// Runs a SELECT query; stops when the deadline of `context` passes or it is cancelled.
    ///
    /// # Errors
    /// When the endpoint cannot be reached, refuses the query, or its result is not complete.
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError>;

    /// Checks that the endpoint answers queries.
    ///
    /// # Errors
    /// When it does not.
    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError>;
}

/// A SPARQL endpoint that takes updates, each of which is executed as a whole or not at all.
pub trait UpdateEndpoint: Send + Sync + 'static {
    /// Starts a session, in which all is read from and written to one server.
    fn session(&self) -> Arc<dyn UpdateSession>;
}

/// Reads from and writes to one server.
#[async_trait]
pub trait UpdateSession: SparqlEndpoint {
    /// Executes an update. An implementation sends it again only if it certainly was not executed.
    ///
    /// # Errors
    /// Returns whether the update can have been executed, or still can be.
    async fn update(&self, update: &Update, context: &CallContext) -> Result<(), UpdateError>;
}

/// Why an update has no answer that says that it was executed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// It was not executed and never will be.
    #[error("the update was not executed")]
    NotExecuted(#[source] StoreError),
    /// It may have been executed, or be executed later.
    #[error("it is unknown whether the update was executed")]
    Unknown(#[source] StoreError),
}

impl UpdateError {
    /// Returns what went wrong, for an update that can be repeated whether it was executed or not.
    #[cfg(feature = "remote")]
    pub(super) fn into_store_error(self) -> StoreError {
        match self {
            UpdateError::NotExecuted(error) | UpdateError::Unknown(error) => error,
        }
    }
}
