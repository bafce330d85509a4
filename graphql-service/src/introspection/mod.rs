//! Introspection: how much of the schema a document asks for, and what it is answered.

mod cost;
mod selection;
mod write;

pub(crate) use cost::IntrospectionCost;
pub(crate) use selection::Asked;
pub(crate) use write::write_root;
