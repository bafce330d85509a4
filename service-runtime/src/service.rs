//! A service of a process, as what is around its routes sees it.

use std::sync::Arc;

use async_trait::async_trait;
use graphql_service::{Caller, ErrorCode, Service, SlotError, Slots, code as shared};
use serde::Serialize;

use super::health::{Advice, HealthRecord};
use super::sdl::PrintedSdl;
use super::state::HostState;

/// A service of this process.
#[async_trait]
pub trait Host: Send + Sync + 'static {
    /// Returns what it has whatever it serves.
    fn state(&self) -> &HostState;

    /// Returns whether clients need a token.
    fn needs_tokens(&self) -> bool {
        self.state().verifier.is_some()
    }

    /// Returns the bound schema.
    fn shown(&self) -> Option<Arc<dyn Shown>>;

    /// Returns what answers GraphQL requests.
    fn service(&self) -> Option<Arc<dyn Service>>;

    /// Returns what answers requests as a subgraph of a gateway in this process.
    async fn subgraph(&self) -> Option<Arc<dyn Service>> {
        self.service()
    }

    /// Returns what to do about each check that can fail.
    async fn advice(&self) -> Vec<Advice>;

    /// Returns its health record, from the cache where that is allowed.
    async fn health(&self, cached: bool) -> HealthRecord;

    /// Returns why requests cannot be answered now.
    async fn obstacle(&self) -> Option<(ErrorCode, String)>;
}

/// What pages show of a bound schema.
#[async_trait]
pub trait Shown: Send + Sync {
    /// Returns its name.
    fn id(&self) -> &str;

    /// Returns what people call it.
    fn label(&self) -> Option<&str>;

    /// Returns sample queries, the one to begin with first.
    fn examples(&self) -> &[Example];

    /// Returns whether the schema lets clients ask for plans.
    fn may_explain(&self) -> bool;

    /// Returns the API in the GraphQL schema definition language, for whoever asks for it.
    async fn sdl(
        &self,
        slots: &Arc<Slots>,
        caller: Option<Arc<Caller>>,
    ) -> Result<PrintedSdl, SlotError>;
}

/// A sample query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Its title.
    pub title: &'static str,
    /// The GraphQL document.
    pub query: String,
}

/// Returns why a service without a schema answers no requests.
#[must_use]
pub fn no_schema() -> (ErrorCode, String) {
    let message = "no schema is bound to the service";
    (shared::SCHEMA_NOT_BOUND, message.to_owned())
}
