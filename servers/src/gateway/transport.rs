//! How requests of clients reach subgraphs: those of this process without a socket, all others over HTTP.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph as SupergraphSubgraph;
use federation::transport::http::HttpTransport;
use federation::transport::{SubgraphRequest, SubgraphTransport, TransportError};
use graphql_service::{Limits, Request, RequestContext, Response, Slots, Weight};

use super::local::LocalSubgraph;
use super::subgraph::{Source, Subgraph};

/// Length up to which a request is parsed, and an answer put together, on an async worker.
const SHORT: usize = 32 << 10;

/// The subgraphs of a gateway.
pub(super) struct Subgraphs {
    http: HttpTransport,
    local: HashMap<String, Arc<dyn LocalSubgraph>>,
    slots: Arc<Slots>,
}

impl Subgraphs {
    pub(super) fn new(http: HttpTransport, subgraphs: &[Subgraph], slots: Arc<Slots>) -> Self {
        let local = subgraphs
            .iter()
            .filter_map(|subgraph| match &subgraph.source {
                Source::Local(local) => Some((subgraph.name.clone(), Arc::clone(local))),
                Source::Remote(_) => None,
            });
        Subgraphs {
            http,
            local: local.collect(),
            slots,
        }
    }

    /// Calls a service of this process. It sees the caller of the client, who is verified already.
    async fn call(
        &self,
        local: &dyn LocalSubgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let service = local.service().await.ok_or(TransportError::NotConnected)?;
        let body = request.body;
        let parsed = match body.len() <= SHORT {
            true => parse(&body),
            false => self.in_slot(context, move || parse(&body)).await?,
        }?;
        let mut context = context.clone();
        // The key is for the mutation of the client as a whole, and this may be a part of it.
        context.idempotency_key = None;
        context.freshness.note(None);
        let response = service.respond(parsed, context.clone()).await;
        request.allowance.take(response.body.len())?;
        match response.body.len() <= SHORT {
            true => Ok(response.body.to_bytes()),
            false => {
                let joined = move || joined(response);
                self.in_slot(&context, joined).await
            }
        }
    }

    async fn in_slot<T: Send + 'static>(
        &self,
        context: &RequestContext,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, TransportError> {
        let done = self
            .slots
            .run(Weight::Medium, context.deadline, move |_| work());
        done.await.map_err(|error| match context.deadline {
            Some(deadline) if deadline <= Instant::now() => TransportError::Deadline,
            _ => TransportError::Connection(Box::new(error)),
        })
    }
}

/// Reads a request. Representations are as many as an answer is long; the limit on the answer bounds them.
fn parse(body: &[u8]) -> Result<Request, TransportError> {
    let limits = Limits::default().variable_values(usize::MAX);
    let parsed = Request::from_json(body, &limits);
    parsed.map_err(|error| TransportError::Connection(Box::new(error)))
}

fn joined(response: Response) -> Bytes {
    response.body.to_bytes()
}

#[async_trait]
impl SubgraphTransport for Subgraphs {
    async fn send(
        &self,
        subgraph: &SupergraphSubgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        match self.local.get(&subgraph.name) {
            Some(local) => self.call(local.as_ref(), request, context).await,
            None => self.http.send(subgraph, request, context).await,
        }
    }
}
