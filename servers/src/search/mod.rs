//! The search service in a process: what is bound to it, the runs that build its indexes, its engines,
//! and what it says of them.
//!
//! # The way of a schema to searches
//!
//! 1. `servers::search` checks the document: diagnostics of `soml-core`, then findings of `search_index::mapping`
//!    with the analyzers that the engine has. `SearchApp::bind` holds one lock only while it decides which run is
//!    the current one.
//! 2. A `Job` runs the indexer in the background. Until the first index of an object is complete its root field
//!    says how far it is; over a schema that answers, the new one waits (`Bound`) until all its indexes do, and
//!    then takes its place in one `ArcSwap`. A request keeps the snapshot that it began with, and addresses
//!    physical indexes.
//! 3. With `indexer.ignoreMalformed: false` nothing of this happens before `Indexer::run_checked` has seen every
//!    value.
//! 4. Another bind, an unbind and the end of the process cancel the run. What it has built is deleted, now or by
//!    the next run.
//! 5. What is bound is kept by the `SchemaStore` before it is served: by the `FolderSchemaStore` of the data,
//!    beside the binding of the object service, or by one of the search service's own around schemas from elsewhere
//!    (`search/kept.rs`).
//! 6. There is one clock of retries, that of the indexer (`search_index::indexer`): a call that the engine or the
//!    store leaves undone is repeated where it failed, so a long run loses nothing. `Progress::setback` says so
//!    meanwhile. Only while there is nothing to run yet, `servers::search::start` repeats the bind of the start.
//! 7. `GraphStore::version` says which data a store has. The indexer reads it before anything else and keeps it
//!    with each index, with what the index lacks (`Mark::built`: the mapping's `_meta`, or the catalog of the
//!    embedded engine). `indexer/plan` keeps an index only if it is of these data.
//! 8. Health and `/soml/info` remember nothing of this: `servers::search::looking` asks the engine for each index of
//!    the bound schema. All who ask at the same time share a look-up (`shared_look`).
//!
//! The paths that every service has (`host/served.rs`) are generic over the service, so all have the same pages,
//! probes and rights. `search.enabled: auto` starts the search service of the all-in-one by what the first schema
//! says, or what was bound before, and not always: a second port is a surprise to whoever searches nothing.
//! `search/roles.rs` decides whether a schema may be searched while searches obey no roles; `cli/searching.rs` asks
//! before the service starts, and `SearchApp` whenever a schema is bound.

mod app;
mod binding;
mod bound;
mod check;
pub mod code;
mod engines;
mod error;
mod examples;
mod follow;
mod host;
mod info;
mod job;
mod kept;
mod look;
mod looking;
mod options;
mod roles;
mod routes;
mod run;
mod schemas;
mod server;
mod start;
mod state;
mod subgraph;

pub use app::{SearchApp, SearchParts};
pub use engines::{EngineOptions, Engines, EnginesError};
pub use error::SearchChangeError;
pub use kept::Storage;
pub use options::{RetryOptions, SearchOptions, Severities, Severity};
pub use roles::{Shown, not_allowed};
pub use schemas::{ObjectServiceSchemas, ServiceAddress};
pub use server::{Server, router};
pub use start::FirstSchemaError;
pub(crate) use state::health;
