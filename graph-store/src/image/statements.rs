//! All statements of an image, for checks of data.

use oxrdf::{NamedNode, Term};

use super::Image;
use crate::error::StoreError;
use crate::statements::{Statement, Statements};

impl Statements for Image {
    fn about(
        &self,
        subject: &NamedNode,
        each: &mut dyn FnMut(NamedNode, Term),
    ) -> Result<(), StoreError> {
        let Image { bytes, terms, .. } = self;
        let Some(subject) = terms.find(bytes, subject.into()) else {
            return Ok(());
        };
        for property in &self.properties {
            for object in property.forward.values(bytes, subject) {
                each(terms.iri(bytes, property.id), terms.term(bytes, *object));
            }
        }
        Ok(())
    }

    fn of_property<'a>(
        &'a self,
        property: &NamedNode,
    ) -> Box<dyn Iterator<Item = Result<Statement, StoreError>> + 'a> {
        let Image { bytes, terms, .. } = self;
        let id = terms.find(bytes, property.into());
        let Some(property) = id.and_then(|id| self.property(id)) else {
            return Box::new(std::iter::empty());
        };
        let objects = property.forward.all(bytes);
        let entries = property.forward.entries(bytes);
        Box::new(entries.flat_map(move |(subject, range)| {
            range.map(move |at| {
                let subject = terms.subject(bytes, subject);
                Ok((subject, terms.term(bytes, objects[at])))
            })
        }))
    }
}
