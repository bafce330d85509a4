//! Requests for which nobody waits, and the probe.

use std::time::Instant;

use graph_store::CallContext;
use graph_store::StoreError;

use crate::stores::{Subject, runtime, selection, things};

over_every_store! {
    nothing_is_asked_after_the_deadline,
    nothing_is_asked_after_cancellation,
    a_probe_finds_the_store,
}

fn nothing_is_asked_after_the_deadline(subject: &Subject) {
    let mut context = CallContext::new();
    context.deadline = Some(Instant::now());
    let things = selection(things());
    let selected = subject.store.select(&things, &context);
    let selected = runtime().block_on(selected);
    assert!(
        matches!(selected, Err(StoreError::Deadline)),
        "{selected:?}"
    );
}

fn nothing_is_asked_after_cancellation(subject: &Subject) {
    let context = CallContext::default();
    context.cancellation.cancel();
    let things = selection(things());
    let selected = subject.store.select(&things, &context);
    let selected = runtime().block_on(selected);
    assert!(
        matches!(selected, Err(StoreError::Cancelled)),
        "{selected:?}"
    );
}

fn a_probe_finds_the_store(subject: &Subject) {
    let info = runtime().block_on(subject.store.probe(&subject.context));
    assert!(!info.expect("the store answers").provider.is_empty());
}
