//! Stores within a process.

use std::sync::{Arc, Mutex};

use schema_registry::contract::{self, Subject};
use schema_registry::{FolderSchemaStore, InMemorySchemaStore};
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_memory_has_the_behaviours_of_all() {
    contract::run(async || Subject::of(Arc::new(InMemorySchemaStore::default()))).await;
    contract::run(async || Subject::of(Arc::new(InMemorySchemaStore::shared()))).await;
    contract::run(async || {
        let store = InMemorySchemaStore::shared();
        Subject {
            one: Arc::new(store.of_application("shop")),
            two: Arc::new(store.of_application("shop")),
            other: Some(Arc::new(store.of_application("museum"))),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_a_folder_has_the_behaviours_of_all() {
    let folders = Mutex::new(Vec::new());
    contract::run(async || {
        let folder = TempDir::new().expect("a folder");
        let store = FolderSchemaStore::open(folder.path()).expect("it is opened");
        folders.lock().expect("nobody panics").push(folder);
        Subject::of(Arc::new(store))
    })
    .await;
}
