//! What the paths that every service has need of it: pages, probes, health and the rights on schemas.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use graphql_service::{Caller, ErrorCode, Service, SlotError, Slots, code as shared};
use object_engine::code as engine;
use schema_registry::SchemaStoreError;
use search_index::code as search;
use service_auth::rights::Manager;

use crate::app::{App, Bound};
use crate::config::Settings;
use crate::example_queries::Example;
use crate::health;
use crate::health_record::{Advice, CHECKS, Check, HealthRecord, SEARCH_CHECKS};
use crate::loading::LoadState;
use crate::resources::Resources;
use crate::sdl::PrintedSdl;
use crate::search::{self as searching, SearchApp};

/// A service of this process.
#[async_trait]
pub(super) trait Host: Send + Sync + 'static {
    fn settings(&self) -> &Settings;
    fn resources(&self) -> &Resources;
    fn needs_tokens(&self) -> bool;
    fn started(&self) -> Instant;
    fn is_draining(&self) -> bool;
    /// Returns how far the data are, while they are being loaded.
    fn loading(&self) -> Option<LoadState>;
    /// Returns the bound schema.
    fn shown(&self) -> Option<Arc<dyn Shown>>;
    /// Returns what answers GraphQL requests.
    fn service(&self) -> Option<Arc<dyn Service>>;
    /// Returns what to do about each check that can fail.
    async fn advice(&self) -> Vec<Advice>;
    async fn health(&self, cached: bool) -> HealthRecord;
    /// Returns why requests cannot be answered now.
    async fn obstacle(&self) -> Option<(ErrorCode, String)>;
    async fn manager(&self, caller: Option<&Caller>) -> Result<Manager, SchemaStoreError>;
}

/// What pages show of a bound schema.
#[async_trait]
pub(super) trait Shown: Send + Sync {
    fn id(&self) -> &str;
    fn label(&self) -> Option<&str>;
    fn examples(&self) -> &[Example];
    /// Tells whether the schema lets clients ask for plans.
    fn may_explain(&self) -> bool;
    async fn sdl(&self, slots: &Arc<Slots>) -> Result<PrintedSdl, SlotError>;
}

fn no_schema() -> (ErrorCode, String) {
    let message = "no schema is bound to the service";
    (shared::SCHEMA_NOT_BOUND, message.to_owned())
}

#[async_trait]
impl Host for App {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn resources(&self) -> &Resources {
        &self.resources
    }

    fn needs_tokens(&self) -> bool {
        self.requires_tokens()
    }

    fn started(&self) -> Instant {
        self.started
    }

    fn is_draining(&self) -> bool {
        App::is_draining(self)
    }

    fn loading(&self) -> Option<LoadState> {
        self.loading.state()
    }

    fn shown(&self) -> Option<Arc<dyn Shown>> {
        self.bound().map(|bound| bound as Arc<dyn Shown>)
    }

    fn service(&self) -> Option<Arc<dyn Service>> {
        let bound = self.bound();
        bound.map(|bound| Arc::clone(&bound.service) as Arc<dyn Service>)
    }

    async fn advice(&self) -> Vec<Advice> {
        CHECKS.iter().map(Check::advice).collect()
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        health::health(self, cached).await
    }

    async fn obstacle(&self) -> Option<(ErrorCode, String)> {
        if self.bound().is_none() {
            return Some(no_schema());
        }
        let record = health::health(self, true).await;
        Some((engine::STORE_UNAVAILABLE, health::obstacle(record)?))
    }

    async fn manager(&self, caller: Option<&Caller>) -> Result<Manager, SchemaStoreError> {
        App::manager(self, caller).await
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

    async fn sdl(&self, slots: &Arc<Slots>) -> Result<PrintedSdl, SlotError> {
        Bound::sdl(self, slots).await
    }
}

#[async_trait]
impl Host for SearchApp {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn resources(&self) -> &Resources {
        &self.resources
    }

    fn needs_tokens(&self) -> bool {
        self.verifier.is_some()
    }

    fn started(&self) -> Instant {
        self.started
    }

    fn is_draining(&self) -> bool {
        SearchApp::is_draining(self)
    }

    fn loading(&self) -> Option<LoadState> {
        self.loading.state()
    }

    fn shown(&self) -> Option<Arc<dyn Shown>> {
        self.bound().map(|bound| bound as Arc<dyn Shown>)
    }

    fn service(&self) -> Option<Arc<dyn Service>> {
        let bound = self.bound();
        bound.map(|bound| Arc::clone(&bound.service) as Arc<dyn Service>)
    }

    async fn advice(&self) -> Vec<Advice> {
        SEARCH_CHECKS.iter().map(Check::advice).collect()
    }

    async fn health(&self, cached: bool) -> HealthRecord {
        searching::health(self, cached).await.record
    }

    async fn obstacle(&self) -> Option<(ErrorCode, String)> {
        if self.bound().is_none() {
            return Some(no_schema());
        }
        if searching::health(self, true).await.engine_answers {
            return None;
        }
        let message = "the search engine does not answer";
        Some((search::ENGINE_UNAVAILABLE, message.to_owned()))
    }

    async fn manager(&self, caller: Option<&Caller>) -> Result<Manager, SchemaStoreError> {
        SearchApp::manager(self, caller).await
    }
}

#[async_trait]
impl Shown for searching::Bound {
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

    async fn sdl(&self, slots: &Arc<Slots>) -> Result<PrintedSdl, SlotError> {
        searching::Bound::sdl(self, slots).await
    }
}
