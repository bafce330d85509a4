//! Stores in folders whose disk is slow, full or broken, and whose files were changed; texts that are searched together;
//! and the bounds of transactions.

mod batches;
mod commits;
mod damage;
mod data;
mod disk;
mod entries;
mod locks;
mod orders;
mod texts;
mod transactions;
mod versions;

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use call_context::CallContext;
use futures::executor::block_on;
use oxrdf::{GraphName, Literal, NamedNode, Quad};

use super::log::Disk;
use super::{FolderOptions, ImageBuilder, ImageStore};
use crate::error::StoreError;
use crate::store::WriteStore;
use crate::write::{ChangeRecord, NewRecord, QuadChange, RecordQuery};

fn quad(number: u64) -> Quad {
    let node = |name: String| NamedNode::new_unchecked(name);
    Quad::new(
        node(format!("http://e/{number}")),
        node("http://e/p".to_owned()),
        Literal::from(number),
        GraphName::DefaultGraph,
    )
}

fn record(request: &str) -> NewRecord {
    NewRecord {
        request: request.to_owned(),
        idempotency_key: None,
        digest: String::new(),
        time: SystemTime::UNIX_EPOCH,
        changes: Vec::new(),
    }
}

/// Adds a quad.
fn add(store: &ImageStore, number: u64) -> Result<ChangeRecord, StoreError> {
    let change = QuadChange {
        removed: Vec::new(),
        added: vec![quad(number)],
    };
    commit(store, change, &number.to_string())
}

fn commit(
    store: &ImageStore,
    change: QuadChange,
    request: &str,
) -> Result<ChangeRecord, StoreError> {
    let context = CallContext::new();
    block_on(async {
        let mut transaction = store.begin(&context).await?;
        transaction.apply(change, &context).await?;
        transaction.commit(record(request), &context).await
    })
}

fn records(store: &ImageStore) -> Vec<u64> {
    let query = RecordQuery::After {
        sequence: 0,
        limit: usize::MAX,
    };
    let found = block_on(store.records(&query, &CallContext::new()))
        .expect("records")
        .into_iter();
    found.map(|record| record.sequence).collect()
}

fn create(folder: &Path) -> (ImageStore, Arc<Disk>, FolderOptions) {
    let options = FolderOptions::default();
    let store = ImageStore::create(folder, ImageBuilder::new(), &options);
    let disk = Arc::clone(&options.disk);
    (store.expect("a store in a folder"), disk, options)
}

/// Returns an error with all of its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
