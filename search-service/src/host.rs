//! The search service as what pages, probes and rights on schemas are about.

use std::sync::Arc;

use async_trait::async_trait;
use graphql_service::{Caller, ErrorCode, Service, SlotError, Slots};
use schema_registry::SchemaStore;
use search_index::code;
use service_runtime::checks::SEARCH_CHECKS;
use service_runtime::schemas::ManagesSchemas;
use service_runtime::{
    Advice, Check, Example, HealthRecord, Host, HostState, PrintedSdl, Serve, ServiceRouter, Shown,
    no_schema,
};

use tokio::task::JoinSet;

use super::app::SearchApp;
use super::bound::Bound;
use super::data_follower::follow_data;
use super::refresh::refresh_regularly;
use super::server;
use super::shared_binding::follow_binding;
use super::state::health;

#[async_trait]
impl Host for SearchApp {
    fn state(&self) -> &HostState {
        &self.host
    }

    fn shown(&self) -> Option<Arc<dyn Shown>> {
        self.bound().map(|bound| bound as Arc<dyn Shown>)
    }

    fn service(&self) -> Option<Arc<dyn Service>> {
        let bound = self.bound();
        bound.map(|bound| Arc::clone(&bound.service) as Arc<dyn Service>)
    }

    /// Searches are a subgraph beside the form that clients of the search service see.
    async fn subgraph(&self) -> Option<Arc<dyn Service>> {
        let subgraph = self.as_subgraph().await?;
        Some(subgraph)
    }

    async fn advice(&self) -> Vec<Advice> {
        SEARCH_CHECKS.iter().map(Check::advice).collect()
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        health(self, cached).await.record
    }

    async fn obstacle(&self) -> Option<(ErrorCode, String)> {
        let is_bound = self.bound().is_some();
        if !is_bound && !self.schemas.is_shared() {
            return Some(no_schema());
        }
        let found = health(self, true).await;
        if let Some(message) = found.schemas {
            return Some((service_runtime::code::SCHEMA_STORE_UNAVAILABLE, message));
        }
        if !is_bound {
            return Some(no_schema());
        }
        if found.engine_answers {
            return None;
        }
        let message = "the search engine does not answer";
        Some((code::ENGINE_UNAVAILABLE, message.to_owned()))
    }
}

impl ManagesSchemas for SearchApp {
    fn schemas(&self) -> &Arc<dyn SchemaStore> {
        &self.schemas
    }
}

#[async_trait]
impl Serve for SearchApp {
    fn routes(self: &Arc<Self>) -> ServiceRouter {
        server::serve(Arc::clone(self))
    }

    fn begin(self: &Arc<Self>, tasks: &mut JoinSet<()>) {
        if self.schemas.is_shared() {
            tasks.spawn(follow_binding(Arc::clone(self)));
        }
        if self.builds_indexes() {
            tasks.spawn(follow_data(Arc::clone(self)));
            if let Some(interval) = self.options.reconcile_interval {
                tasks.spawn(refresh_regularly(Arc::clone(self), interval));
            }
        }
    }

    fn drain(&self) {
        self.host.drain();
        self.starting.cancel();
        self.follower.token.cancel();
        if let Some(job) = self.job.load_full() {
            job.cancel();
        }
    }

    /// Waits until a run that was cancelled has cleaned up.
    async fn ended(&self) {
        if let Some(job) = self.job.load_full() {
            job.ended().await;
        }
        // The positions that indexes have come to are noted.
        let mut runs = self.follower.runs.subscribe();
        // The sender is there as long as the service.
        let _ = runs.wait_for(|runs| !runs).await;
    }
}

#[async_trait]
impl Shown for Bound {
    fn id(&self) -> &str {
        &self.id
    }

    fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    fn examples(&self) -> &[Example] {
        &self.examples
    }

    fn may_explain(&self) -> bool {
        false
    }

    async fn sdl(
        &self,
        slots: &Arc<Slots>,
        _: Option<Arc<Caller>>,
    ) -> Result<PrintedSdl, SlotError> {
        Bound::sdl(self, slots).await
    }
}
