//! Supergraphs: standard supergraph SDL as dense ids and back, and the schema that clients see.
//!
//! Nothing here plans or fetches.

mod api;
mod authorization;
mod contexts;
mod error;
mod features;
pub(crate) mod field_set;
mod interface_objects;
pub(crate) mod join;
mod model;
mod provided;
mod reach;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use api::SupergraphOptions;
pub use authorization::Requirement;
pub use error::SupergraphError;
pub use field_set::{FieldSet, Selected};
pub use model::{
    ContextArgument, Field, FieldId, FieldJoin, Key, LabelId, Override, RequirementId, Subgraph,
    SubgraphId, Supergraph, Type, TypeId, TypeJoin, TypeKind,
};
pub(crate) use write::{JoinVersion, definitions, feature_link, machinery_links};
