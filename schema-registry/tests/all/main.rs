//! Behaviours of all stores of schemas.

mod local;
mod migration;
#[cfg(feature = "mongodb")]
mod mongodb_fake;
#[cfg(feature = "mongodb")]
mod mongodb_server;
#[cfg(feature = "mongodb")]
mod mongodb_wire;
#[cfg(feature = "rdf4j")]
mod rdf4j_cluster;
#[cfg(feature = "rdf4j")]
mod rdf4j_creation;
#[cfg(feature = "rdf4j")]
mod rdf4j_endpoint;
#[cfg(feature = "rdf4j")]
mod rdf4j_faults;
#[cfg(feature = "rdf4j")]
mod rdf4j_server;
