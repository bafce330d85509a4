#![doc = include_str!("../README.md")]

mod check;
mod folder;
mod memory;
mod report;
mod state;
mod store;

pub use check::{
    Checked, SchemaIdError, UsableSchema, check, check_id, check_with, path_name, schema_iri,
    served_api,
};
pub use folder::FolderSchemaStore;
pub use memory::InMemorySchemaStore;
pub use report::{json, json_ld};
pub use store::{
    Binding, Expected, Revisions, SchemaEntry, SchemaStore, SchemaStoreError, StoredSchema, put,
};
