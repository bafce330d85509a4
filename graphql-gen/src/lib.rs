//! GraphQL over RDF.

pub mod error;
pub mod limits;
pub mod request;
pub mod typesystem;
