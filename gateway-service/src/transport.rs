//! How requests of clients reach subgraphs: those of this process without a socket, all others over HTTP.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use federation::supergraph::Subgraph as SupergraphSubgraph;
use federation::transport::http::HttpTransport;
use federation::transport::{
    SubgraphEvents, SubgraphRequest, SubgraphSubscription, SubgraphTransport, TracedRequest,
    TransportError, events_of_service, request_of,
};
use futures::StreamExt;
use graphql_service::{Request, RequestContext, Service, Size, SlotError, Slots};
use service_metrics::Peer;

use super::local::LocalSubgraph;
use super::metrics::Metrics;
use super::subgraph::{Source, Subgraph};

/// The subgraphs of a gateway.
pub(super) struct Subgraphs {
    http: HttpTransport,
    local: HashMap<String, Arc<dyn LocalSubgraph>>,
    /// The servers of those over HTTP, for metrics.
    peers: HashMap<String, Peer>,
    slots: Arc<Slots>,
    metrics: Arc<Metrics>,
}

impl Subgraphs {
    pub(super) fn new(
        http: HttpTransport,
        subgraphs: &[Subgraph],
        slots: Arc<Slots>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let local = subgraphs
            .iter()
            .filter_map(|subgraph| match &subgraph.source {
                Source::Local(local) => Some((subgraph.name.clone(), Arc::clone(local))),
                Source::Remote(_) => None,
            });
        let peers = subgraphs
            .iter()
            .filter_map(|subgraph| match &subgraph.source {
                Source::Remote(remote) => {
                    let peer = Peer::of_url(remote.address.as_str());
                    Some((subgraph.name.clone(), peer))
                }
                Source::Local(_) => None,
            });
        Subgraphs {
            http,
            peers: peers.collect(),
            local: local.collect(),
            slots,
            metrics,
        }
    }

    /// Reads a request to a service of this process, which sees the caller of the client, who is verified already.
    async fn asked(
        &self,
        local: &dyn LocalSubgraph,
        body: Bytes,
        context: &RequestContext,
    ) -> Result<(Arc<dyn Service>, Request, RequestContext), TransportError> {
        let service = local.service().await.ok_or(TransportError::NotConnected)?;
        let size = Size::Text(body.len());
        let parsed = self
            .run_sized(size, context, move || request_of(&body))
            .await??;
        let mut context = context.clone();
        // The key is for the mutation of the client as a whole, and this may be a part of it.
        context.idempotency_key = None;
        context.freshness.note(None);
        Ok((service, parsed, context))
    }

    /// Calls a service of this process.
    async fn call(
        &self,
        local: &dyn LocalSubgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let (service, parsed, context) = self.asked(local, request.body, context).await?;
        let response = service.respond(parsed, context.clone()).await;
        request.allowance.take(response.body.len())?;
        let size = Size::Text(response.body.len());
        let joined = move || response.body.to_bytes();
        self.run_sized(size, &context, joined).await
    }

    /// Subscribes to a service of this process.
    async fn call_several(
        &self,
        local: &dyn LocalSubgraph,
        subscription: SubgraphSubscription,
        context: &RequestContext,
    ) -> Result<SubgraphEvents, TransportError> {
        let (service, parsed, context) = self.asked(local, subscription.body, context).await?;
        let replies = service.stream(parsed, context).await;
        Ok(events_of_service(replies, subscription.allowances))
    }

    async fn run_sized<T: Send + 'static>(
        &self,
        size: Size,
        context: &RequestContext,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, TransportError> {
        let done = self
            .slots
            .run_sized(size, context.call.deadline, work)
            .await;
        done.map_err(|error| match error {
            SlotError::Deadline => TransportError::Deadline,
            error => TransportError::Connection(Box::new(error)),
        })
    }
}

#[async_trait]
impl SubgraphTransport for Subgraphs {
    async fn send(
        &self,
        subgraph: &SupergraphSubgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        context.call.count_call();
        let peer = self.peers.get(&subgraph.name);
        let counting = self.metrics.begin(&subgraph.name, request.body.len(), peer);
        counting.ask_for(request.representations);
        let answer = match self.local.get(&subgraph.name) {
            Some(local) => {
                let traced = TracedRequest::query(subgraph, &request, context, None);
                let answer = self.call(local.as_ref(), request, traced.context()).await;
                traced.end(&answer, None);
                answer
            }
            None => self.http.send(subgraph, request, context).await,
        };
        counting.end(answer.as_ref().map(Bytes::len));
        answer
    }

    async fn subscribe(
        &self,
        subgraph: &SupergraphSubgraph,
        subscription: SubgraphSubscription,
        context: &RequestContext,
    ) -> Result<SubgraphEvents, TransportError> {
        context.call.count_call();
        let peer = self.peers.get(&subgraph.name);
        let bytes = subscription.body.len();
        let counting = self.metrics.begin(&subgraph.name, bytes, peer);
        let begun = match self.local.get(&subgraph.name) {
            Some(local) => {
                let traced = TracedRequest::subscription(subgraph, &subscription, context, None);
                let begun = self
                    .call_several(local.as_ref(), subscription, traced.context())
                    .await;
                traced.end(&begun, None);
                begun
            }
            None => self.http.subscribe(subgraph, subscription, context).await,
        };
        counting.end(begun.as_ref().map(|_| 0));
        let (metrics, name) = (Arc::clone(&self.metrics), subgraph.name.clone());
        let counted = begun?.inspect(move |event| {
            if let Ok(event) = event {
                metrics.event(&name, event.body.len());
            }
        });
        Ok(counted.boxed())
    }
}
