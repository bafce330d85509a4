//! All statements of the embedded store, for checks of data.

use std::collections::HashSet;

use oxrdf::{NamedNode, Term};

use super::OxigraphStore;
use super::source::failed;
use crate::error::StoreError;
use crate::statements::{Statement, Statements};

impl Statements for OxigraphStore {
    fn about(
        &self,
        subject: &NamedNode,
        each: &mut dyn FnMut(NamedNode, Term),
    ) -> Result<(), StoreError> {
        let store = self.inner();
        let may_repeat = store.named_graphs().next().is_some();
        let mut seen = HashSet::new();
        for quad in store.quads_for_pattern(Some(subject.into()), None, None, None) {
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
        let store = self.inner();
        let may_repeat = store.named_graphs().next().is_some();
        let quads = store.quads_for_pattern(None, Some(property.as_ref()), None, None);
        Box::new(quads.filter_map(move |quad| {
            let quad = match quad.map_err(failed) {
                Ok(quad) => quad,
                Err(error) => return Some(Err(error)),
            };
            if may_repeat {
                // A triple in several graphs counts in the first one only; checking that takes no
                // memory.
                let (subject, predicate) = (quad.subject.as_ref(), quad.predicate.as_ref());
                let object = Some(quad.object.as_ref());
                let mut same =
                    store.quads_for_pattern(Some(subject), Some(predicate), object, None);
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
