//! Random schemas, data and searches.

mod clauses;
mod data;
mod literals;
mod operands;
mod schema;
mod searches;

pub(crate) use data::data;
pub(crate) use operands::Pool;
pub(crate) use schema::schema;
pub(crate) use searches::Searches;
