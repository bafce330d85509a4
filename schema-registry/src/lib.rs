#![doc = include_str!("../README.md")]

mod folder;
mod memory;
mod state;
mod store;

pub use folder::FolderSchemaStore;
pub use memory::InMemorySchemaStore;
pub use store::{
    Binding, Expected, Revisions, SchemaEntry, SchemaStore, SchemaStoreError, StoredSchema, put,
};
