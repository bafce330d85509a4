//! The search service in a process: what is bound to it, the runs that build its indexes, its engines,
//! and what it says of them.

mod app;
mod binding;
mod bound;
mod check;
mod engines;
mod error;
mod examples;
mod follow;
mod info;
mod job;
mod kept;
mod look;
mod options;
mod roles;
mod schemas;
mod shared_look;
mod start;
mod state;
mod subgraph;

pub use app::{SearchApp, SearchParts};
pub(crate) use bound::Bound;
pub use engines::{Engines, EnginesError};
pub use error::SearchChangeError;
pub use kept::Storage;
pub(crate) use options::{indexer_options, mapping_options, service_options};
pub use roles::{Shown, not_allowed};
pub use schemas::ObjectServiceSchemas;
pub(crate) use shared_look::SharedLook;
pub use start::FirstSchemaError;
pub(crate) use state::health;
