//! All statements of the embedded store, for checks of data.

use std::collections::HashSet;

use oxrdf::{NamedNode, Term};

use super::OxigraphStore;
use super::source::failed;
use crate::error::StoreError;
use crate::pattern::{DecodedQuads, Pattern};
use crate::statements::{Statement, Statements};

impl Statements for OxigraphStore {
    fn about(
        &self,
        subject: &NamedNode,
        each: &mut dyn FnMut(NamedNode, Term),
    ) -> Result<(), StoreError> {
        let source = self.shared.source();
        let may_repeat = source.may_have_named_graphs();
        let mut seen = HashSet::new();
        let pattern = Pattern {
            subject: Some(subject.as_ref()),
            ..Pattern::default()
        };
        for quad in source.quads(pattern, None) {
            let quad = quad.map_err(failed)?;
            if may_repeat && !seen.insert((quad.predicate.clone(), quad.object.clone())) {
                continue;
            }
            each(quad.predicate, quad.object);
        }
        Ok(())
    }

    fn of_property<'a>(
        &'a self,
        property: &NamedNode,
    ) -> Box<dyn Iterator<Item = Result<Statement, StoreError>> + 'a> {
        let source = self.shared.source();
        let may_repeat = source.may_have_named_graphs();
        let pattern = Pattern {
            predicate: Some(property.as_ref()),
            ..Pattern::default()
        };
        let quads = source.quads(pattern, None);
        Box::new(quads.filter_map(move |quad| {
            let quad = match quad.map_err(failed) {
                Ok(quad) => quad,
                Err(error) => return Some(Err(error)),
            };
            if may_repeat {
                // A triple in several graphs counts in the first one only; checking that takes no
                // memory.
                let (subject, predicate) = (quad.subject.as_ref(), quad.predicate.as_ref());
                let mut same = source.same_triple(subject, predicate, quad.object.as_ref());
                match same.next()?.map_err(failed) {
                    Ok(first) if first.graph_name != quad.graph_name => return None,
                    Ok(_) => {}
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(Ok((quad.subject, quad.object)))
        }))
    }
}
