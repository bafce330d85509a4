//! Cancelled and expired requests, and the probe.

use std::time::Instant;

use call_context::{CallContext, CallError};
use futures::executor::block_on;

use super::subject::{Subject, selection, things};
use crate::error::StoreError;

pub(super) fn nothing_is_asked_after_the_deadline(subject: &Subject) {
    let mut context = CallContext::new();
    context.deadline = Some(Instant::now());
    let things = selection(things());
    let selected = subject.store.select(&things, &context);
    let selected = block_on(selected);
    assert!(
        matches!(selected, Err(StoreError::Call(CallError::Deadline))),
        "{selected:?}"
    );
}

pub(super) fn nothing_is_asked_after_cancellation(subject: &Subject) {
    let context = CallContext::default();
    context.cancellation.cancel();
    let things = selection(things());
    let selected = subject.store.select(&things, &context);
    let selected = block_on(selected);
    assert!(
        matches!(selected, Err(StoreError::Call(CallError::Cancelled))),
        "{selected:?}"
    );
}

pub(super) fn a_probe_finds_the_store(subject: &Subject) {
    let info = block_on(subject.store.probe(&subject.context));
    assert!(!info.expect("the store answers").provider.is_empty());
}
