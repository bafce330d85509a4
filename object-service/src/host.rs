//! The object service as what pages, probes and rights on schemas are about.

use std::sync::Arc;

use async_trait::async_trait;
use graphql_service::{Caller, ErrorCode, Service, SlotError, Slots, Weight};
use object_engine::code as engine;
use schema_registry::SchemaStore;
use service_runtime::checks::OBJECT_CHECKS;
use service_runtime::schemas::ManagesSchemas;
use service_runtime::{
    Advice, Check, Example, HealthRecord, Host, HostState, PrintedSdl, Serve, ServiceRouter, Shown,
    code, no_schema,
};
use tokio::task::JoinSet;

use super::app::{App, Bound, Mutations};
use super::change_records::Records;
use super::{follow, health, routes};

#[async_trait]
impl Host for App {
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

    async fn advice(&self) -> Vec<Advice> {
        OBJECT_CHECKS.iter().map(Check::advice).collect()
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        health::health(self, cached).await.record
    }

    async fn obstacle(&self) -> Option<(ErrorCode, String)> {
        let is_bound = self.bound().is_some();
        if !is_bound && !self.schemas.is_shared() {
            return Some(no_schema());
        }
        let found = health::health(self, true).await;
        if let Some(message) = found.schemas {
            return Some((code::SCHEMA_STORE_UNAVAILABLE, message));
        }
        if !is_bound {
            return Some(no_schema());
        }
        Some((engine::STORE_UNAVAILABLE, health::obstacle(found.record)?))
    }
}

impl ManagesSchemas for App {
    fn schemas(&self) -> &Arc<dyn SchemaStore> {
        &self.schemas
    }
}

#[async_trait]
impl Serve for App {
    fn routes(self: &Arc<Self>) -> ServiceRouter {
        routes::routes(Arc::clone(self))
    }

    fn begin(self: &Arc<Self>, tasks: &mut JoinSet<()>) {
        let records = Records::of(&self.store, &self.host.resources.slots);
        let retention = self.options.retention;
        if let Some(retention) = retention.filter(|_| self.options.mutations != Mutations::Never) {
            let loaded = Arc::clone(self);
            let is_ready = move || loaded.host.load_state().is_none();
            tasks.spawn(records.keep_recent(retention, is_ready));
        }
        if self.schemas.is_shared() {
            tasks.spawn(follow::follow(Arc::clone(self)));
        }
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
        Bound::may_explain(self)
    }

    async fn sdl(
        &self,
        slots: &Arc<Slots>,
        caller: Option<Arc<Caller>>,
    ) -> Result<PrintedSdl, SlotError> {
        let printed = Bound::sdl(self, slots).await?;
        let service = Arc::clone(&self.service);
        let made = slots.run(Weight::Background, None, move |_slot| {
            match service.rights_of(caller.as_deref()) {
                Some(rights) => printed.with_comment(&rights),
                None => printed,
            }
        });
        made.await
    }
}
