#![doc = include_str!("../README.md")]
//!
//! # The way of a schema to searches
//!
//! 1. `check.rs` checks the document: diagnostics of `soml-core`, then findings of `search_index::mapping`
//!    with the analyzers that the engine has. [`SearchApp::bind`] holds one lock only while it decides which run is
//!    the current one.
//! 2. A `Job` runs the indexer in the background. Until the first index of an object is complete its root field
//!    says how far it is; over a schema that answers, the new one waits (`Bound`) until all its indexes do, and
//!    then takes its place in one `ArcSwap`. A request keeps the snapshot that it began with, and addresses
//!    physical indexes.
//! 3. With [`SearchOptions::ignore_malformed`] off nothing of this happens before `Indexer::check` has seen every
//!    value.
//! 4. Another bind, an unbind and the end of the process cancel the run. What it has built is deleted, now or by
//!    the next run.
//! 5. What is bound is kept by the `SchemaStore` before it is served: by the `FolderSchemaStore` of the data,
//!    beside the binding of the object service, or by one of the search service's own around schemas from elsewhere
//!    (`storage.rs`).
//! 6. There is one clock of retries, that of the indexer (`search_index::indexer`): a call that the engine or the
//!    store leaves undone is repeated where it failed, so a long run loses nothing. `Progress::setback` says so
//!    meanwhile. Only while there is nothing to run yet, `start.rs` repeats the bind of the start.
//! 7. `GraphStore::version` says which data a store has. The indexer reads it before anything else and keeps it
//!    with each index, with what the index lacks (`Mark::built`: the mapping's `_meta`, or the catalog of the
//!    embedded engine). `indexer/plan` keeps an index only if it is of these data.
//! 8. Health and `/soml/info` remember nothing of this: `observe.rs` asks the engine for each index of
//!    the bound schema. All who ask at the same time share a look-up.
//!
//! `rules.rs` holds searches to the roles of a schema; `roles.rs` decides whether one may be searched where they obey none; [`not_allowed`] lets a program ask
//! before the service starts, and [`SearchApp`] asks whenever a schema is bound.
//!
//! # Several instances
//!
//! Where other instances share the store of schemas ([`SchemaStore::is_shared`](schema_registry::SchemaStore::is_shared)):
//!
//! 1. `shared_binding.rs` asks the store every [`SearchOptions::follow_interval`] what is bound. Another schema or revision
//!    begins a run as a bind does, without being stored. Whether what is stored is what is served or about to be
//!    is decided under the locks under which binds are stored, so a bind of this instance is never undone.
//! 2. Where the engine is shared too ([`SearchOptions::shares_indexes`]), a run needs a lease to build (`turn.rs`). It is
//!    renewed while the run builds, and given back when it has ended. A run that waits searches what others have
//!    built.
//! 3. `follow.rs` follows the aliases of what is served, and a search of an index that is gone looks at them at once
//!    (`search_index::service`).

mod app;
mod binding;
mod bound;
mod check;
pub mod code;
mod data_follower;
mod engines;
mod error;
mod examples;
mod follow;
mod followed;
mod host;
mod info;
mod job;
mod observation;
mod observe;
mod options;
mod reach;
mod refresh;
mod refreshed;
mod roles;
mod routes;
mod rules;
mod run;
mod schemas;
mod server;
mod shared_binding;
mod start;
mod state;
mod storage;
mod subgraph;
mod turn;

pub use app::{SearchApp, SearchParts};
pub use engines::{EngineOptions, Engines, EnginesError};
pub use error::SearchChangeError;
pub use options::{RetryOptions, SearchOptions, Severities, Severity};
pub use roles::{Shown, not_allowed};
pub use rules::Roles;
pub use schemas::{ObjectServiceSchemas, ServiceAddress};
pub use start::FirstSchemaError;
pub use storage::Storage;
