//! A SPARQL endpoint in the same process: it gets the text of queries, as a server would.

use async_trait::async_trait;
use graph_store::remote::{EndpointQuery, Rows, SparqlEndpoint};
use graph_store::{CallContext, StoreError, StoreInfo};
use oxigraph::sparql::{CancellationToken, QueryResults, SparqlEvaluator};
use oxigraph::store::Store;

/// An endpoint over a store in memory.
pub(super) struct InProcess {
    pub(super) store: Store,
    /// The default graph is the union of all graphs.
    pub(super) is_union: bool,
}

#[async_trait]
impl SparqlEndpoint for InProcess {
    async fn select(
        &self,
        query: EndpointQuery<'_>,
        context: &CallContext,
    ) -> Result<Rows, StoreError> {
        let text = query.query.to_string();
        let token = CancellationToken::new();
        let watch = watch(context.clone(), token.clone());
        let evaluator = SparqlEvaluator::new().with_cancellation_token(token);
        let mut prepared = evaluator
            .parse_query(&text)
            .unwrap_or_else(|error| panic!("not a query: {error}\n{text}"));
        let has_clause = text.contains("FROM <");
        if self.is_union && !has_clause {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let (store, context) = (self.store.clone(), context.clone());
        // The thread that runs the request must stay free to see the deadline pass.
        let rows = tokio::task::spawn_blocking(move || {
            let failed = |error| match context.check() {
                Err(ended) => ended,
                Ok(()) => StoreError::Failed(Box::new(error)),
            };
            let results = prepared.on_store(&store).execute().map_err(failed)?;
            let QueryResults::Solutions(solutions) = results else {
                panic!("not a SELECT: {text}");
            };
            let width = solutions.variables().len();
            let mut terms = Vec::new();
            for solution in solutions {
                let solution = solution.map_err(failed)?;
                terms.extend((0..width).map(|column| solution.get(column).cloned()));
            }
            Ok(Rows { width, terms })
        });
        let rows = rows.await.expect("a query does not panic");
        watch.abort();
        rows
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Ok(StoreInfo {
            provider: "in-process".to_owned(),
            statements: None,
        })
    }
}

/// Cancels a query when nobody waits for it any more.
fn watch(context: CallContext, token: CancellationToken) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let ended = context.cancellation.cancelled();
        match context.deadline {
            None => ended.await,
            Some(deadline) => {
                let _ = tokio::time::timeout_at(deadline.into(), ended).await;
            }
        }
        token.cancel();
    })
}
