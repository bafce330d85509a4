//! Introspection: how much of the schema a document asks for, and what it is answered.

mod cost;
mod one_of;
mod selection;
mod write;

pub(crate) use cost::IntrospectionCost;
pub(crate) use one_of::with_one_of;
pub(crate) use selection::Asked;
pub(crate) use write::write_root;
