//! Runs plans: fetches level by level, then writes the answer in the order of the operation.

mod aggregate;
mod ahead;
mod chunks;
mod connection;
mod fetch;
mod link;
mod list;
mod nodes;
mod repeated;
mod values;
mod write;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use fetch::Fetched;
use graph_store::value::Numbers;
use graph_store::{CallContext, GraphStore, StoreError};
use graphql_service::writer::AnswerWriter;
use graphql_service::{Answer, Documents, Limits, MemoryAccount, Prepared};
use soml_core::schema::Schema;
pub(crate) use write::write_list;

use crate::limits::EngineLimits;
use crate::plan::Plan;

/// The input of an execution.
#[derive(Clone, Copy)]
pub(crate) struct Execution<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) plan: &'a Arc<Plan>,
    pub(crate) store: &'a dyn GraphStore,
    pub(crate) context: &'a CallContext,
    pub(crate) limits: &'a Limits,
    pub(crate) engine_limits: &'a EngineLimits,
    pub(crate) numbers: Numbers,
    /// The printed schema, if the plan needs it.
    pub(crate) service: Option<&'a ServiceSdl>,
    /// What answers introspection: the documents of a schema, and the one of the request.
    pub(crate) documents: &'a Documents,
    pub(crate) prepared: &'a Prepared,
    /// Counts the answer.
    pub(crate) memory: &'a Arc<MemoryAccount>,
    /// How long the thread may be blocked until there is memory for it.
    pub(crate) patience: Duration,
    /// Whether long levels may be read in chunks while the answer is written; else the store is asked for
    /// nothing after it was fetched from.
    pub(crate) in_chunks: bool,
}

/// The printed schema of a service.
pub(crate) struct ServiceSdl {
    /// For federation; `None` if the service is not a subgraph.
    pub(crate) sdl: Option<String>,
    /// With all directives.
    pub(crate) full_sdl: String,
}

impl Execution<'_> {
    /// Fetches what the plan needs from the store.
    ///
    /// # Errors
    /// When the store fails or nobody waits any more: then there is no data at all.
    pub(crate) async fn fetch(&self) -> Result<Fetched, StoreError> {
        fetch::fetch(self).await
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// When a chunk of values cannot be read, there is no memory, or nobody waits any more: then
    /// there is no data at all.
    pub(crate) fn write(&self, fetched: &Fetched) -> Result<Answer, StoreError> {
        write::write(self, fetched)
    }

    /// Returns the writer of an empty answer with the bounds of the request, with room for some bytes.
    pub(crate) fn writer<'w>(&self, expected: usize) -> AnswerWriter<'w> {
        AnswerWriter::expecting(expected.min(self.limits.response_bytes))
            .with_limit(self.limits.response_bytes)
            .with_memory(Arc::clone(self.memory), self.patience)
    }
}
