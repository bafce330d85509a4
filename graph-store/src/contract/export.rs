//! Listing all quads, of stores that can do that.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::Duration;

use async_trait::async_trait;
use call_context::{CallContext, CallError};
use futures::executor::block_on;
use oxrdf::{BlankNode, Literal, NamedOrBlankNode, Quad, Term};

use super::data::quads;
use super::subject::Subject;
use crate::error::StoreError;
use crate::store::{GraphStore, QuadSink};

/// Quads of a listing, until there are enough.
#[derive(Default)]
struct Listed {
    quads: Vec<Quad>,
    enough: Option<usize>,
    batches: usize,
}

#[async_trait(?Send)]
impl QuadSink for Listed {
    async fn take(&mut self, quads: Vec<Quad>) -> ControlFlow<()> {
        self.batches += 1;
        self.quads.extend(quads);
        match self.enough {
            Some(enough) if self.quads.len() >= enough => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Lists quads of a store; `None` if it cannot.
fn list(
    store: &dyn GraphStore,
    listed: &mut Listed,
    context: &CallContext,
) -> Option<Result<(), StoreError>> {
    let exporter = store.exporter()?;
    Some(block_on(exporter.export(listed, context)))
}

/// Returns all quads of a store, in the form in which they are compared: stores may rename blank nodes, and
/// change the lexical form of numbers. `None` if the store cannot list them.
pub(super) fn listed(subject: &Subject) -> Option<HashSet<Quad>> {
    let mut listed = Listed::default();
    let done = list(subject.store.as_ref(), &mut listed, &CallContext::new())?;
    done.unwrap_or_else(|error| panic!("no listing: {error:?}"));
    let count = listed.quads.len();
    let labels: HashSet<_> = listed.quads.iter().flat_map(labels).collect();
    assert_eq!(labels.len(), 1, "a blank node has one label: {labels:?}");
    let quads: HashSet<_> = listed.quads.into_iter().map(comparable).collect();
    assert_eq!(quads.len(), count, "each quad comes once");
    Some(quads)
}

fn labels(quad: &Quad) -> Vec<BlankNode> {
    let mut labels = Vec::new();
    if let NamedOrBlankNode::BlankNode(node) = &quad.subject {
        labels.push(node.clone());
    }
    if let Term::BlankNode(node) = &quad.object {
        labels.push(node.clone());
    }
    labels
}

pub(super) fn comparable(mut quad: Quad) -> Quad {
    let blank = || BlankNode::new_unchecked("x");
    if quad.subject.is_blank_node() {
        quad.subject = blank().into();
    }
    match &quad.object {
        Term::BlankNode(_) => quad.object = blank().into(),
        Term::Literal(literal) if literal.value() == "03" => quad.object = Literal::from(3).into(),
        _ => {}
    }
    quad
}

pub(super) fn every_quad_is_listed_once(subject: &Subject) {
    let Some(listed) = listed(subject) else {
        return;
    };
    let expected: HashSet<_> = quads().into_iter().map(comparable).collect();
    assert_eq!(listed, expected);
}

pub(super) fn a_listing_ends_when_its_reader_has_enough(subject: &Subject) {
    let mut listed = Listed {
        enough: Some(1),
        ..Listed::default()
    };
    let store = subject.store.as_ref();
    if let Some(done) = list(store, &mut listed, &CallContext::new()) {
        done.unwrap_or_else(|error| panic!("no listing: {error:?}"));
        assert_eq!(listed.batches, 1);
    }
}

pub(super) fn nothing_is_listed_after_the_deadline(subject: &Subject) {
    let context = CallContext::new().with_timeout(Duration::ZERO);
    let mut listed = Listed::default();
    if let Some(done) = list(subject.store.as_ref(), &mut listed, &context) {
        assert!(
            matches!(done, Err(StoreError::Call(CallError::Deadline))),
            "{done:?}"
        );
        assert!(listed.quads.is_empty());
    }
}
