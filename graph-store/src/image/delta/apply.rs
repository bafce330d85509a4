//! Applies what a transaction changes.

use std::sync::Arc;

use oxrdf::{GraphNameRef, Quad, Term, TermRef};

use crate::image::error::ImageError;
use crate::image::graphs::DEFAULT;
use crate::image::snapshot::Snapshot;
use crate::write::QuadChange;

/// Numbers are 32 bits; these are left for terms that only a request has.
const LAST_TERM: u32 = u32::MAX - (1 << 24);

/// The numbers of property, subject, object and graph.
type Numbered = [u32; 4];

impl Snapshot {
    /// Returns the data after a change. Quads to remove that do not exist, and quads to add that do, change
    /// nothing.
    ///
    /// # Errors
    /// When there are no numbers left for new terms.
    pub(in crate::image) fn changed(&self, change: &QuadChange) -> Result<Snapshot, ImageError> {
        let mut snapshot = self.clone();
        for quad in &change.removed {
            // A quad with a term that nothing has does not exist.
            if let Some(quad) = snapshot.numbers(quad) {
                snapshot.move_triple(quad, false);
            }
        }
        for quad in &change.added {
            let quad = snapshot.new_numbers(quad)?;
            snapshot.move_triple(quad, true);
        }
        Ok(snapshot)
    }

    /// Returns the numbers of a quad, if all of its terms have some.
    pub(in crate::image) fn numbers(&self, quad: &Quad) -> Option<Numbered> {
        let (subject, graph) = nodes(quad);
        Some([
            self.find(quad.predicate.as_ref().into())?,
            self.find(subject)?,
            self.find(Term::as_ref(&quad.object))?,
            graph.map_or(Some(DEFAULT), |graph| self.find(graph))?,
        ])
    }

    fn new_numbers(&mut self, quad: &Quad) -> Result<Numbered, ImageError> {
        let (subject, graph) = nodes(quad);
        Ok([
            self.number(quad.predicate.as_ref().into())?,
            self.number(subject)?,
            self.number(Term::as_ref(&quad.object))?,
            graph.map_or(Ok(DEFAULT), |graph| self.number(graph))?,
        ])
    }

    /// Returns the number of a term, which it gets unless it has one.
    fn number(&mut self, term: TermRef<'_>) -> Result<u32, ImageError> {
        let of_image = self.image.terms.find(&self.image.bytes, term);
        let number = of_image.or_else(|| self.delta.terms.insert(term, LAST_TERM));
        number.ok_or(ImageError::TooLarge {
            what: "terms",
            limit: u64::from(LAST_TERM),
        })
    }

    /// Adds a triple to a graph, or removes it from there.
    fn move_triple(&mut self, [property, subject, object, graph]: Numbered, is_added: bool) {
        let known = self.handle(Some(property));
        let before: Vec<u32> = self.graphs_of(known, subject, object).to_vec();
        let of_image = self.graphs_in_image(known, subject, object).to_vec();
        let mut after = before.clone();
        match (before.binary_search(&graph), is_added) {
            (Err(place), true) => after.insert(place, graph),
            (Ok(place), false) => drop(after.remove(place)),
            _ => return,
        }
        let delta = &mut self.delta;
        let list = (after != of_image).then(|| delta.graphs.insert(&after));
        let changes = delta.properties.entry(property).or_default();
        Arc::make_mut(changes).set(subject, object, list);
        delta.size += 1;
        delta.quads += if is_added { 1 } else { -1 };
        delta.triples += i64::from(!after.is_empty()) - i64::from(!before.is_empty());
        delta.has_named_graphs |= is_added && graph != DEFAULT;
    }
}

/// Returns the terms of subject and graph; the default graph is no term.
fn nodes(quad: &Quad) -> (TermRef<'_>, Option<TermRef<'_>>) {
    let graph = match quad.graph_name.as_ref() {
        GraphNameRef::DefaultGraph => None,
        GraphNameRef::NamedNode(graph) => Some(graph.into()),
        GraphNameRef::BlankNode(graph) => Some(graph.into()),
    };
    (quad.subject.as_ref().into(), graph)
}
