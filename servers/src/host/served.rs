//! What the paths that every service has need of it: pages, probes, health and the rights on schemas.

use std::sync::Arc;

use async_trait::async_trait;
use graphql_service::{Caller, ErrorCode, Service, SlotError, Slots, code as shared};
use schema_registry::SchemaStoreError;
use serde::Serialize;
use service_auth::rights::Manager;

use super::health::{Advice, HealthRecord};
use super::sdl::PrintedSdl;
use super::state::HostState;

/// A service of this process.
#[async_trait]
pub(crate) trait Host: Send + Sync + 'static {
    /// Returns what it has whatever it serves.
    fn state(&self) -> &HostState;

    /// Tells whether clients need a token.
    fn needs_tokens(&self) -> bool {
        self.state().verifier.is_some()
    }

    /// Returns the bound schema.
    fn shown(&self) -> Option<Arc<dyn Shown>>;

    /// Returns what answers GraphQL requests.
    fn service(&self) -> Option<Arc<dyn Service>>;

    /// Returns what to do about each check that can fail.
    async fn advice(&self) -> Vec<Advice>;

    /// Returns its health record, from the cache where that is allowed.
    async fn health(&self, cached: bool) -> HealthRecord;

    /// Returns why requests cannot be answered now.
    async fn obstacle(&self) -> Option<(ErrorCode, String)>;

    /// Returns what the sender of a request may manage.
    async fn manager(&self, caller: Option<&Caller>) -> Result<Manager, SchemaStoreError>;
}

/// What pages show of a bound schema.
#[async_trait]
pub(crate) trait Shown: Send + Sync {
    /// Returns its name.
    fn id(&self) -> &str;

    /// Returns what people call it.
    fn label(&self) -> Option<&str>;

    /// Returns sample queries, the one to begin with first.
    fn examples(&self) -> &[Example];

    /// Tells whether the schema lets clients ask for plans.
    fn may_explain(&self) -> bool;

    /// Returns the API in the GraphQL schema definition language.
    async fn sdl(&self, slots: &Arc<Slots>) -> Result<PrintedSdl, SlotError>;
}

/// A sample query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// What it shows, in a few words.
    pub title: &'static str,
    /// The GraphQL document.
    pub query: String,
}

/// Returns why a service without a schema answers no requests.
pub(crate) fn no_schema() -> (ErrorCode, String) {
    let message = "no schema is bound to the service";
    (shared::SCHEMA_NOT_BOUND, message.to_owned())
}
