//! What a remote store needs of the transport below it.

use async_trait::async_trait;
use oxrdf::Term;
use spargebra::Query;

use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::Dataset;
use crate::store::StoreInfo;

/// A query for an endpoint, and what it reads.
#[derive(Clone, Copy, Debug)]
pub struct EndpointQuery<'a> {
    /// A SELECT query. Its dataset clause, if any, is already what the endpoint's dialect wants.
    pub query: &'a Query,
    /// What the request reads; for arguments of the protocol such as inference.
    pub dataset: &'a Dataset,
}

/// The solutions of a SELECT query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Number of terms in a row: the variables of the query, in the order of its projection.
    pub width: usize,
    /// Terms of all rows, one row after the other; `None` where a variable is unbound.
    pub terms: Vec<Option<Term>>,
}

/// A SPARQL endpoint: queries in, complete results out.
///
/// Implementations own connections, retries, fail-over, authentication and result formats. A result
/// is complete or an error: a result that breaks off is never returned as if it were the whole.
#[async_trait]
pub trait SparqlEndpoint: Send + Sync + 'static {
    /// Runs a SELECT query; gives up when the deadline of `context` passes or it is cancelled.
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
