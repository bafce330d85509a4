#![doc = include_str!("../README.md")]

mod check;
#[cfg(feature = "contract")]
pub mod contract;
mod folder;
mod lease;
mod memory;
mod migrate;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "rdf4j")]
mod rdf4j;
mod report;
mod state;
mod store;

pub use check::{
    Checked, SchemaIdError, UsableSchema, check, check_id, check_with, path_name, schema_iri,
    served_api,
};
pub use folder::FolderSchemaStore;
pub use lease::{HeldLease, Lease};
pub use memory::InMemorySchemaStore;
pub use migrate::{
    Fate, Migration, MigrationError, MigrationOptions, MigrationReport, MigrationSide, Moved,
    Skipped,
};
#[cfg(feature = "mongodb")]
pub use mongodb::{
    MongoOptionsError, MongoReadConcern, MongoSchemaOptions, MongoSchemaStore, MongoWriteConcern,
};
#[cfg(feature = "rdf4j")]
pub use rdf4j::{
    Rdf4jOptionsError, Rdf4jSchemaOptions, Rdf4jSchemaStore, SCHEMAS_GRAPH, SCHEMAS_VOCABULARY,
};
pub use report::{json, json_ld};
pub use store::{
    ApplicationBinding, Binding, BindingState, Expected, LeaseRecord, MigrationPhase,
    MigrationRecord, Revisions, SchemaEntry, SchemaStore, SchemaStoreError, ServiceKind,
    StoredSchema, put, within,
};
