//! Runs plans: fetches level by level, then writes the answer in the order of the operation.

mod aggregate;
mod chunks;
mod connection;
mod fetch;
mod list;
mod values;
mod write;

use apollo_compiler::response::JsonMap;
use graph_store::value::Numbers;
use graph_store::{CallContext, GraphStore, StoreError};
use graphql_service::{Answer, Limits};
use soml_core::schema::Schema;

use crate::limits::EngineLimits;
use crate::plan::Plan;

/// What an execution works with.
pub(crate) struct Execution<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) plan: &'a Plan,
    pub(crate) store: &'a dyn GraphStore,
    pub(crate) context: &'a CallContext,
    pub(crate) limits: &'a Limits,
    pub(crate) engine_limits: &'a EngineLimits,
    pub(crate) numbers: Numbers,
    /// The printed schema; filled when the plan asks for it.
    pub(crate) service: Option<&'a ServiceSdl>,
    /// The introspection part of the answer.
    pub(crate) introspection: JsonMap,
}

/// The printed schema of a service.
pub(crate) struct ServiceSdl {
    /// For federation; `None` when the service takes part in none.
    pub(crate) sdl: Option<String>,
    /// With all directives.
    pub(crate) full_sdl: String,
}

impl Execution<'_> {
    /// Fetches and writes.
    ///
    /// # Errors
    /// When the store fails or nobody waits any more: then there is no data at all.
    pub(crate) async fn run(&self) -> Result<Answer, StoreError> {
        let fetched = fetch::fetch(self).await?;
        write::write(self, &fetched)
    }
}
