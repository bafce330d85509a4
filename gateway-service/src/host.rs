//! The gateway as what pages and probes are about.

use std::sync::Arc;

use async_trait::async_trait;
use federation::Ending;
use graphql_service::{Caller, ErrorCode, Service, SlotError, Slots};
use service_runtime::{
    Advice, Example, HealthRecord, Host, HostState, PrintedSdl, Serve, ServiceRouter, Shown,
};
use tokio::task::JoinSet;

use super::app::GatewayApp;
use super::code;
use super::composite::Composite;
use super::explain::Explaining;
use super::health::{health, obstacle};
use super::server;
use super::trouble::all_advice;

#[async_trait]
impl Host for GatewayApp {
    fn state(&self) -> &HostState {
        &self.host
    }

    fn needs_tokens(&self) -> bool {
        self.requires_tokens || self.options.expects_tokens
    }

    fn shown(&self) -> Option<Arc<dyn Shown>> {
        self.composite()
            .map(|composite| composite as Arc<dyn Shown>)
    }

    fn service(&self) -> Option<Arc<dyn Service>> {
        let gateway = Arc::clone(&self.composite()?.gateway);
        Some(if self.host.options.explain {
            Arc::new(Explaining(gateway))
        } else {
            gateway
        })
    }

    async fn advice(&self) -> Vec<Advice> {
        all_advice(self).await
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        health(self, cached).await
    }

    async fn obstacle(&self) -> Option<(ErrorCode, String)> {
        let message = obstacle(self).await?;
        let code = if self.is_composed() {
            federation::code::DOWNSTREAM_SERVICE_ERROR
        } else {
            code::GATEWAY_STARTING
        };
        Some((code, message))
    }
}

#[async_trait]
impl Serve for GatewayApp {
    fn routes(self: &Arc<Self>) -> ServiceRouter {
        server::serve(Arc::clone(self))
    }

    /// Looks at the subgraphs, and follows their schemas.
    fn begin(self: &Arc<Self>, tasks: &mut JoinSet<()>) {
        tasks.spawn(Arc::clone(self).watch());
        tasks.spawn(Arc::clone(self).poll());
    }

    fn drain(&self) {
        self.host.drain();
        self.ending().cancel();
        if let Some(composite) = self.composite() {
            composite.gateway.end_subscriptions(Ending::Shutdown);
        }
    }
}

#[async_trait]
impl Shown for Composite {
    fn id(&self) -> &str {
        "composite"
    }

    fn label(&self) -> Option<&str> {
        Some(&self.label)
    }

    fn examples(&self) -> &[Example] {
        &self.examples
    }

    fn may_explain(&self) -> bool {
        true
    }

    async fn sdl(
        &self,
        slots: &Arc<Slots>,
        _: Option<Arc<Caller>>,
    ) -> Result<PrintedSdl, SlotError> {
        Composite::sdl(self, slots).await
    }
}
