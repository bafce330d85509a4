//! GraphQL over RDF: the object service as a library.
//!
//! A SOML schema becomes a GraphQL API ([`typesystem`]); an operation becomes a plan ([`plan`]),
//! the plan a SPARQL selection ([`sparql`]) and walks over values ([`store`]), and these the bytes
//! of a JSON answer. [`service::ObjectService`] is all of it behind one call.

mod complexity;
pub mod error;
mod execute;
pub mod limits;
pub mod plan;
pub mod request;
pub mod service;
pub mod sparql;
pub mod store;
pub mod typesystem;
pub mod value;
