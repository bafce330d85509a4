//! Quads as a transaction sees them: those of a store, without what it has removed and with what it
//! has added.

use std::collections::HashSet;

use oxrdf::{GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, QuadRef};

use super::pending::{Pending, QuadSet};
use super::source::{Pattern, QuadSource};
use crate::error::StoreError;

/// A source of quads and the change that lies over it.
pub(crate) struct Overlay<'p, S> {
    under: S,
    pending: &'p Pending,
    is_named_under: bool,
}

impl<'p, S: QuadSource> Overlay<'p, S> {
    pub(crate) fn new(under: S, pending: &'p Pending) -> Self {
        let is_named_under = under.may_have_named_graphs();
        Overlay {
            under,
            pending,
            is_named_under,
        }
    }

    /// Returns whether a link exists in some graph and is not removed there.
    fn remains(
        &self,
        subject: &NamedNode,
        property: &NamedNode,
        object: &NamedNode,
    ) -> Result<bool, StoreError> {
        let removed = &self.pending.removed;
        if !self.is_named_under {
            let graph = GraphNameRef::DefaultGraph;
            let property = property.as_ref();
            return Ok(
                !removed.contains(QuadRef::new(subject, property, object, graph))
                    && self.under.contains(subject, property, object, graph)?,
            );
        }
        let pattern = Pattern {
            subject: Some(subject),
            ..leading(property, object)
        };
        for quad in self.under.quads(pattern, None) {
            let quad = quad.map_err(S::failed)?;
            if !removed.contains(quad.as_ref()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the subjects whose link the change takes away altogether, and those that it links.
    fn changed(
        &self,
        property: &NamedNode,
        object: &NamedNode,
    ) -> Result<(HashSet<NamedNode>, HashSet<NamedNode>), StoreError> {
        let pattern = leading(property, object);
        let starts = |set: &QuadSet| -> HashSet<NamedNode> {
            let quads = set.matching(pattern, None).into_iter();
            let subjects = quads.filter_map(|quad| match &quad.subject {
                NamedOrBlankNode::NamedNode(start) => Some(start.clone()),
                _ => None,
            });
            subjects.collect()
        };
        let mut gone = HashSet::new();
        for start in starts(&self.pending.removed) {
            if !self.remains(&start, property, object)? {
                gone.insert(start);
            }
        }
        let mut new = HashSet::new();
        for start in starts(&self.pending.added) {
            if gone.contains(&start) {
                // Removed from one graph and added to another: it stays.
                gone.remove(&start);
            } else if !self.remains(&start, property, object)? {
                new.insert(start);
            }
        }
        Ok((gone, new))
    }
}

/// Returns the pattern of links to an object.
fn leading<'l>(property: &'l NamedNode, object: &'l NamedNode) -> Pattern<'l> {
    Pattern {
        predicate: Some(property.as_ref()),
        object: Some(object.into()),
        ..Pattern::default()
    }
}

impl<'p, S: QuadSource> QuadSource for Overlay<'p, S> {
    type Error = S::Error;
    type Quads = OverlayQuads<'p, S::Quads>;

    fn quads(&self, pattern: Pattern<'_>, graph: Option<GraphNameRef<'_>>) -> Self::Quads {
        OverlayQuads {
            under: Some(self.under.quads(pattern, graph)),
            removed: &self.pending.removed,
            added: self.pending.added.matching(pattern, graph).into_iter(),
        }
    }

    fn failed(error: S::Error) -> StoreError {
        S::failed(error)
    }

    fn may_have_named_graphs(&self) -> bool {
        self.is_named_under || self.pending.added.has_named_graphs
    }

    fn contains(
        &self,
        subject: &NamedNode,
        predicate: NamedNodeRef<'_>,
        object: &NamedNode,
        graph: GraphNameRef<'_>,
    ) -> Result<bool, StoreError> {
        let quad = QuadRef::new(subject, predicate, object, graph);
        if self.pending.added.contains(quad) {
            return Ok(true);
        }
        Ok(!self.pending.removed.contains(quad)
            && self.under.contains(subject, predicate, object, graph)?)
    }

    fn links_to<'l>(
        &'l self,
        object: &NamedNode,
        property: &NamedNode,
    ) -> Option<impl Iterator<Item = NamedNode> + use<'l, 'p, S>> {
        let under = self.under.links_to(object, property)?;
        // What fails here fails again in the scan that takes the place of the index.
        let (gone, new) = self.changed(property, object).ok()?;
        let under = under.filter(move |start| gone.is_empty() || !gone.contains(start));
        Some(under.chain(new))
    }
}

/// The quads of a store that are not removed, and then those that are added.
pub(crate) struct OverlayQuads<'p, Q> {
    under: Option<Q>,
    removed: &'p QuadSet,
    added: std::vec::IntoIter<&'p Quad>,
}

impl<E, Q: Iterator<Item = Result<Quad, E>>> Iterator for OverlayQuads<'_, Q> {
    type Item = Result<Quad, E>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(under) = &mut self.under {
            for quad in under {
                match &quad {
                    Ok(known) if self.removed.contains(known.as_ref()) => {}
                    _ => return Some(quad),
                }
            }
            self.under = None;
        }
        self.added.next().cloned().map(Ok)
    }
}
