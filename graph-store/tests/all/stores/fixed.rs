//! A store over an endpoint whose results are given.

use std::sync::Arc;

use async_trait::async_trait;
use graph_store::remote::{
    Dialect, EndpointQuery, RemoteOptions, RemoteStore, Rows, SparqlEndpoint,
};
use graph_store::{CallContext, StoreError, StoreInfo};
use oxrdf::{NamedNode, Term};

/// An endpoint that gives the same rows to every query, or has more of them than fit.
struct Fixed(Option<Rows>);

#[async_trait]
impl SparqlEndpoint for Fixed {
    async fn select(
        &self,
        _query: EndpointQuery<'_>,
        _context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let too_large = StoreError::ResultTooLarge { limit: 1 };
        self.0.clone().ok_or(too_large)
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Err(StoreError::Failed("nothing to probe".into()))
    }
}

/// Returns a store that finds these rows, `width` terms each, whatever it asks for; more of them than fit if there are
/// none.
pub(super) fn store(width: usize, terms: Option<Vec<Option<Term>>>) -> RemoteStore {
    let rows = terms.map(|terms| Rows { width, terms });
    RemoteStore::new(Arc::new(Fixed(rows)), RemoteOptions::new(Dialect::Rdf4j))
}

pub(super) fn e(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

pub(super) fn iri(name: &str) -> Option<Term> {
    Some(e(name).into())
}
