//! Listing all quads of a store, for copies of its data in a syntax of RDF.

use std::ops::ControlFlow;

use async_trait::async_trait;
use call_context::CallContext;
use oxrdf::Quad;
#[cfg(any(feature = "image", feature = "remote"))]
use oxrdf::{NamedOrBlankNode, Term};

use crate::error::StoreError;

/// A store that lists all its quads, in bounded memory however many there are.
///
/// The quads are those that someone has put into the store, with their terms as the store keeps them. What
/// the store writes for itself, such as change records, is not among them.
///
/// Futures of the listing stay on their thread. A [local](crate::GraphStore::local) store works on it, so call
/// it where that keeps no one waiting.
#[async_trait(?Send)]
pub trait ExportStore: Send + Sync {
    /// Passes all quads to `sink`, each once, in no particular order, until it has enough. A blank node has one label in all
    /// of them.
    ///
    /// An embedded store lists its quads as they were when it was called, whatever is committed meanwhile. A server
    /// is asked one query, and decides itself what that sees of others that write.
    ///
    /// # Errors
    /// When the store fails, the deadline passes or the call is cancelled. The quads so far are not all then.
    async fn export(
        &self,
        sink: &mut dyn QuadSink,
        context: &CallContext,
    ) -> Result<(), StoreError>;
}

/// Takes the quads of an [`ExportStore`].
#[async_trait(?Send)]
pub trait QuadSink {
    /// Takes the next quads, and returns whether more are wanted. The store reads no further meanwhile.
    async fn take(&mut self, quads: Vec<Quad>) -> ControlFlow<()>;
}

/// Quads that are passed on together: few enough to be a small part of the memory, whatever their terms are.
#[cfg(any(feature = "image", feature = "remote"))]
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) quads: Vec<Quad>,
    /// Bytes of their terms, about.
    bytes: usize,
}

#[cfg(any(feature = "image", feature = "remote"))]
impl Batch {
    const QUADS: usize = 1_024;
    const BYTES: usize = 1 << 20;

    pub(crate) fn push(&mut self, quad: Quad) {
        let object = match &quad.object {
            Term::Literal(literal) => literal.value().len(),
            Term::NamedNode(node) => node.as_str().len(),
            _ => 0,
        };
        let subject = match &quad.subject {
            NamedOrBlankNode::NamedNode(node) => node.as_str().len(),
            NamedOrBlankNode::BlankNode(_) => 0,
        };
        self.bytes += subject + object;
        self.quads.push(quad);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.quads.len() >= Self::QUADS || self.bytes >= Self::BYTES
    }
}

/// Passes quads of an embedded store to a sink.
#[cfg(feature = "image")]
pub(crate) async fn pass(
    mut quads: impl Iterator<Item = Result<Quad, StoreError>>,
    sink: &mut dyn QuadSink,
    context: &CallContext,
) -> Result<(), StoreError> {
    context.count_call();
    loop {
        context.check()?;
        let mut batch = Batch::default();
        while !batch.is_full() {
            match quads.next() {
                Some(quad) => batch.push(quad?),
                None => break,
            }
        }
        if batch.quads.is_empty() || sink.take(batch.quads).await.is_break() {
            return Ok(());
        }
    }
}
