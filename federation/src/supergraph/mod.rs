//! Supergraphs: standard supergraph SDL as dense ids, and the schema that clients see.
//!
//! Nothing here plans or fetches.

mod api;
mod error;
mod features;
mod field_set;
mod interface_objects;
mod join;
mod model;
mod read;
#[cfg(test)]
mod tests;

pub use error::SupergraphError;
pub use field_set::{FieldSet, Selected};
pub use model::{
    Field, FieldId, FieldJoin, Key, LabelId, Override, Subgraph, SubgraphId, Supergraph, Type,
    TypeId, TypeJoin, TypeKind,
};
