//! Runs plans: fetches level by level, then writes the answer in the order of the operation.
//!
//! # From a request to its answer
//!
//! 1. `graphql_service::Documents` parses and validates the document, once per distinct text (bounded cache), after
//!    `complexity` has counted depth, fields and aliases. It chooses the operation and coerces variables.
//!    `introspection` estimates the size of what is asked of the schema before that is answered.
//! 2. `object_engine::plan` collects fields per concrete type and makes levels. Fields that select the same things
//!    of the same type share a level, on whatever path they are reached, so a plan is never larger than the text of
//!    its operation. Planning is pure, and a plan can be printed (`explain`). Requests of one document whose
//!    senders have the same rights share a plan (`plan/parameters`, a bounded cache). Planning notes where it reads
//!    variables: what they decide of root fields and of lists of objects is filled in for each request, and a plan
//!    for which they were read elsewhere (`@skip`, languages, lists of scalars, aggregates) is not kept.
//! 3. `object_engine::call` makes the `graph_store::CallContext` of the request: deadline, cancellation, trace,
//!    meter.
//! 4. `GraphStore::select` returns the objects of each root field: distinct IRIs, filtered, ordered, paged. For a
//!    connection, `select_window` returns those between two positions, with the sort keys of each: one pass over
//!    the candidates that keeps no more than the page (`store/window.rs`).
//! 5. `GraphStore::hydrate` returns the values of all objects of a level in columns. Values that are objects become
//!    the nodes of the next level, each once however often it is reached. A store with `GraphStore::trees` reads
//!    several levels at once: `plan/level_tree` says which (never so that it would look at much more than level by
//!    level), `execute/prefetch` keeps their values until their turn. Which objects are reached is still found
//!    out level by level, so it makes no difference that values of others were read.
//! 6. An aggregate is a level whose objects are not shown: `execute/aggregate` counts, compares and adds its
//!    columns as canonical values (`value/canonical.rs`), exactly, and makes no string per value. A long level that
//!    leads to no other and is written in order is read in chunks while the answer is written (`execute/chunks`)
//!    where the store is local, so its values are never all in memory.
//! 7. `object_engine::execute` writes the answer in the order of the operation through
//!    `graphql_service::writer::AnswerWriter`, which keeps paths, errors and nulls: a null in a non-null field
//!    propagates to the nearest nullable parent. An object that several ways lead to is written once and copied
//!    from there, unless something was said about it, since that names the path (`execute/repeated.rs`).
//! 8. `graphql_service::Reply` puts the envelope around it, as bytes or for the executor of async-graphql.

mod aggregate;
mod chunks;
mod connection;
mod fetch;
mod link;
mod list;
mod nodes;
mod prefetch;
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
    /// When the store fails or no one waits any more: then there is no data at all.
    pub(crate) async fn fetch(&self) -> Result<Fetched, StoreError> {
        fetch::fetch(self).await
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// When a chunk of values cannot be read, there is no memory, or no one waits any more: then
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
