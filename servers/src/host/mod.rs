//! What a running service has beside what it serves: options, memory and slots, the progress of a load, health records.

mod callers;
mod checks;
mod health;
mod loading;
mod memory;
mod options;
mod resources;
mod sdl;
mod served;
mod shared_look;
mod state;

pub use callers::{HostNames, Origins};
pub(crate) use checks::{
    COMPOSITION, GATEWAY_CHECKS, INDEXER, INDEXES, MUTATION, OBJECT_CHECKS, QUERY, SCHEMA,
    SCHEMA_CHANGES, SCHEMA_RIGHTS, SEARCH, SEARCH_CHECKS, STORE, SUBGRAPH,
};
pub(crate) use health::{Advice, Check, HealthCache, TROUBLE};
pub use health::{HealthRecord, Status};
pub use loading::{LoadProgress, LoadState};
pub use options::{CallerOptions, HostOptions, ListenerOptions};
pub(crate) use resources::of_low_priority;
pub use resources::{ResourceOptions, Resources};
pub(crate) use sdl::{PrintedSdl, SdlCell};
pub use served::Example;
pub(crate) use served::{Host, Shown, no_schema};
pub(crate) use shared_look::SharedLook;
pub use state::HostState;
