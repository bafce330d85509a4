//! What a transaction refuses, and how much it reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use call_context::{CallContext, CallError, Meter, ResultMemory};
use futures::executor::block_on;
use oxrdf::{GraphName, NamedNode, Quad};

use super::super::{ImageBuilder, ImageStore};
use crate::error::StoreError;
use crate::store::WriteStore;
use crate::write::{QuadChange, QuadPattern, change_graph};

fn node(number: u32) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{number}"))
}

fn property() -> NamedNode {
    NamedNode::new_unchecked("http://v/partOf")
}

/// Returns a store of so many links to one object.
fn linked(links: u32) -> ImageStore {
    let mut builder = ImageBuilder::new();
    for number in 1..=links {
        let link = Quad::new(node(number), property(), node(0), GraphName::DefaultGraph);
        builder.add(link.as_ref()).expect("room for a quad");
    }
    ImageStore::new(builder.build().expect("an image"))
}

#[test]
fn nobody_else_writes_the_change_graph() {
    let store = linked(0);
    let context = CallContext::new();
    let mut transaction = block_on(store.begin(&context)).expect("a transaction");
    let change = QuadChange {
        removed: Vec::new(),
        added: vec![change_graph::forgotten(7)],
    };
    let refused = block_on(transaction.apply(change, &context));
    assert!(
        matches!(refused, Err(StoreError::Unsupported(_))),
        "{refused:?}"
    );
}

/// Room for so many bytes.
#[derive(Debug)]
struct Room(AtomicUsize);

impl ResultMemory for Room {
    fn hold(&self, bytes: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed).checked_sub(bytes);
        left.inspect(|&left| self.0.store(left, Ordering::Relaxed))
            .is_some()
    }

    fn held(&self) -> usize {
        0
    }

    fn release_to(&self, _bytes: usize) {}
}

#[test]
fn reading_quads_is_bounded_as_all_reading_is() {
    let store = linked(1_000);
    let context = CallContext::new();
    let mut transaction = block_on(store.begin(&context)).expect("a transaction");
    let links = [QuadPattern::Links {
        predicate: property(),
        object: node(0),
    }];
    let room = |bytes| CallContext::new().with_memory(Arc::new(Room(AtomicUsize::new(bytes))));
    let full = block_on(transaction.quads(&links, &room(20_000)));
    assert!(
        matches!(full, Err(StoreError::Call(CallError::OutOfMemory))),
        "{full:?}"
    );
    let fits = block_on(transaction.quads(&links, &room(1_000_000)));
    assert_eq!(fits.expect("quads").len(), 1_000);
    let metered = CallContext::new().with_meter(Arc::new(Meter::new(500)));
    let long = block_on(transaction.quads(&links, &metered));
    assert!(
        matches!(long, Err(StoreError::Call(CallError::Metered))),
        "{long:?}"
    );
}
