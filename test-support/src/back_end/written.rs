//! Data that reach a store by transactions in which quads come and go.

use std::collections::HashSet;
use std::time::SystemTime;

use futures::executor::block_on;
use graph_store::write::{NewRecord, QuadChange};
use graph_store::{CallContext, GraphStore};
use oxrdf::Quad;

/// Puts half of the quads and others in their place, and writes until exactly the quads are there; something
/// is done in between.
pub fn load(
    store: &dyn GraphStore,
    quads: &[Quad],
    put: impl FnOnce(&[Quad]),
    between: impl FnOnce(),
) {
    let every = |of: usize, rest: usize| -> Vec<Quad> {
        let numbered = quads.iter().enumerate();
        let chosen = numbered.filter(|(number, _)| number % of == rest);
        chosen.map(|(_, quad)| quad.clone()).collect()
    };
    let others = others(quads);
    let mut first = every(2, 0);
    first.extend(others.iter().cloned());
    put(&first);
    let (some, rest) = others.split_at(others.len() / 2);
    write(store, every(3, 0), every(3, 1));
    write(store, some.to_vec(), every(3, 0));
    between();
    write(store, every(3, 2), some.to_vec());
    write(store, [some, rest].concat(), quads.to_vec());
}

/// Returns quads that are not among others, made of their parts.
fn others(quads: &[Quad]) -> Vec<Quad> {
    let known: HashSet<&Quad> = quads.iter().collect();
    let mixed = quads.iter().enumerate().map(|(number, quad)| {
        let next = &quads[(number + 1) % quads.len()];
        Quad {
            object: next.object.clone(),
            ..quad.clone()
        }
    });
    mixed.filter(|quad| !known.contains(quad)).collect()
}

/// Removes quads and adds others, in one transaction.
pub fn write(store: &dyn GraphStore, removed: Vec<Quad>, added: Vec<Quad>) {
    let context = CallContext::new();
    let writer = store.writer().expect("the store can be written to");
    let record = NewRecord {
        request: String::new(),
        idempotency_key: None,
        digest: String::new(),
        time: SystemTime::UNIX_EPOCH,
        changes: Vec::new(),
    };
    let written = block_on(async {
        let mut transaction = writer.begin(&context).await?;
        let change = QuadChange { removed, added };
        transaction.apply(change, &context).await?;
        transaction.commit(record, &context).await
    });
    written.expect("the store is written to");
}
