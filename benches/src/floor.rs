//! The least that an answer can cost: straight loops over the image that write the same bytes.
//!
//! The answer has [`OBJECTS`] objects of six scalars: short and long texts, a number, a date and a
//! truth value.

use std::sync::Arc;

use graph_store::image::{Image, ImageStore};
use graph_store::query::TermView;
use graph_store::{Statements, StoreError};
use graphql_service::{Request, RequestContext, Response};
use object_engine::ObjectService;
use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, NamedNodeRef, Term};
use oxrdfio::RdfFormat;

use crate::embedded::{self, EmbeddedError};
use crate::generator::words::WORDS;
use crate::random::Random;

/// Number of objects.
pub const OBJECTS: usize = 10_000;
/// Number of scalars of each object.
pub const SCALARS: usize = FIELDS.len();

const FIELDS: [&str; 6] = ["title", "shelf", "note", "pages", "acquired", "lent"];
const NAMESPACE: &str = "http://library.example/";
const CLASS: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("http://library.example/vocabulary/Book");
const SCHEMA: &str = "
id: /soml/floor
specialPrefixes: {vocab_iri: 'http://library.example/vocabulary/', vocab_prefix: lib}
objects:
  Book:
    props:
      title: {}
      shelf: {}
      note: {}
      pages: {range: int}
      acquired: {range: date}
      lent: {range: boolean}
";

/// The data, and the service over them.
pub struct Floor {
    image: Arc<Image>,
    service: ObjectService,
    request: Request,
    properties: [NamedNode; SCALARS],
}

impl Floor {
    /// Makes the data and the service.
    ///
    /// # Errors
    /// When there is no image of the data.
    pub fn new() -> Result<Self, EmbeddedError> {
        let image = Arc::new(embedded::image_of(RdfFormat::Turtle, data().as_bytes())?);
        let store = Arc::new(ImageStore::new(Arc::clone(&image)));
        let property = |field| NamedNode::new_unchecked(format!("{NAMESPACE}vocabulary/{field}"));
        Ok(Floor {
            image,
            service: embedded::service(SCHEMA, store)?,
            request: Request::new(format!("{{ book {{ {} }} }}", FIELDS.join(" "))),
            properties: FIELDS.map(property),
        })
    }

    /// Answers through the service.
    pub async fn service(&self) -> Response {
        let request = self.request.clone();
        self.service
            .execute(request, RequestContext::default())
            .await
    }

    /// Answers by one look through all columns per object.
    ///
    /// # Errors
    /// When the image cannot be read.
    pub fn by_object(&self) -> Result<Vec<u8>, StoreError> {
        let read = |subject, values: &mut [Option<Term>; SCALARS]| {
            let Some(subject) = self.image.term(subject).into_iri() else {
                return Ok(());
            };
            self.image.about(&subject, &mut |property, value| {
                let mut fields = self.properties.iter();
                if let Some(field) = fields.position(|known| *known == property) {
                    values[field] = Some(value);
                }
            })
        };
        self.answer(read, |value| match value {
            Term::Literal(literal) => Some(literal.value()),
            _ => None,
        })
    }

    /// Answers by one look-up per value.
    ///
    /// # Errors
    /// When the image cannot be read.
    pub fn by_value(&self) -> Result<Vec<u8>, StoreError> {
        let columns = self.properties.iter();
        let columns: Vec<_> = columns
            .map(|property| self.image.columns(property.as_ref()))
            .collect();
        self.answer(
            |subject, values| {
                for (value, columns) in values.iter_mut().zip(&columns) {
                    let first = columns.and_then(|columns| columns.objects(subject).first());
                    *value = first.map(|&first| self.image.term(first));
                }
                Ok(())
            },
            |value| match value {
                TermView::Literal(literal) => Some(literal.value()),
                _ => None,
            },
        )
    }

    fn answer<V>(
        &self,
        read: impl Fn(u32, &mut [Option<V>; SCALARS]) -> Result<(), StoreError>,
        text: impl Fn(&V) -> Option<&str>,
    ) -> Result<Vec<u8>, StoreError> {
        let mut out = Vec::with_capacity(1 << 12);
        out.extend_from_slice(b"{\"data\":{\"book\":[");
        let class = self.image.number(CLASS.into());
        let books = self.image.columns(rdf::TYPE).zip(class);
        let books = books.map_or(&[][..], |(types, class)| types.subjects(class));
        for (position, &book) in books.iter().enumerate() {
            let mut values = [const { None }; SCALARS];
            read(book, &mut values)?;
            out.extend_from_slice(if position > 0 { b",{" } else { b"{" });
            for (field, value) in values.iter().enumerate() {
                if field > 0 {
                    out.push(b',');
                }
                out.push(b'"');
                out.extend_from_slice(FIELDS[field].as_bytes());
                out.extend_from_slice(b"\":");
                write_value(&mut out, field, value.as_ref().and_then(&text));
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}}");
        Ok(out)
    }
}

/// Writes a value; the data have numbers and truth values in canonical form.
fn write_value(out: &mut Vec<u8>, field: usize, value: Option<&str>) {
    match value {
        Some(text) if matches!(FIELDS[field], "pages" | "lent") => {
            out.extend_from_slice(text.as_bytes());
        }
        Some(text) => {
            serde_json::to_writer(out, text).expect("writing to memory does not fail");
        }
        None => out.extend_from_slice(b"null"),
    }
}

fn data() -> String {
    let mut random = Random::new(42, &[]);
    let mut out = format!("@base <{NAMESPACE}> . @prefix v: <{NAMESPACE}vocabulary/> .\n");
    for number in 0..OBJECTS {
        let mut words = |count: usize| {
            let words: Vec<&str> = (0..count).map(|_| *random.choose(&WORDS)).collect();
            words.join(" ")
        };
        let (title, note) = (words(4), words(12));
        let (shelf, day) = (random.below(1_000), random.between(10, 28));
        out.push_str(&format!(
            "<book/{number}> a v:Book ; v:title \"{title}\" ; v:shelf \"S{shelf}\" ; \
             v:note \"{note} \\\"{day}\\\"\" ; v:pages {} ; v:lent {} ; v:acquired \
             \"2024-05-{day}\"^^<http://www.w3.org/2001/XMLSchema#date> .\n",
            random.between(20, 2_000),
            random.below(2) == 0,
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn loops_and_service_write_the_same_bytes() {
        let floor = Floor::new().unwrap();
        let service = floor.service().await.body.to_bytes();
        assert!(floor.by_object().unwrap() == service);
        assert!(floor.by_value().unwrap() == service);
        let answer: serde_json::Value = serde_json::from_slice(&service).unwrap();
        let books = answer["data"]["book"].as_array().unwrap();
        assert_eq!(books.len(), OBJECTS);
        for book in books {
            let book = book.as_object().unwrap();
            assert_eq!(book.len(), SCALARS);
            assert!(book.values().all(|value| !value.is_null()));
        }
    }
}
