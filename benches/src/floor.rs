//! The least that an answer can cost: straight loops over the quads that write the same bytes.
//!
//! The answer has [`OBJECTS`] objects of six scalars: short and long texts, a number, a date and a
//! truth value, so that the store keeps some in its index and some in its dictionary.

use std::sync::Arc;

use graph_store::oxigraph::OxigraphStore;
use graphql_service::{Request, RequestContext, Response};
use object_engine::ObjectService;
use oxigraph::io::RdfFormat;
use oxigraph::store::{StorageError, Store};
use oxrdf::vocab::rdf;
use oxrdf::{GraphNameRef, NamedNode, NamedNodeRef, NamedOrBlankNode, NamedOrBlankNodeRef, Term};

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
    store: Store,
    service: ObjectService,
    request: Request,
    properties: [NamedNode; SCALARS],
}

impl Floor {
    /// Makes the data and the service.
    ///
    /// # Errors
    /// When the store fails.
    pub fn new() -> Result<Self, EmbeddedError> {
        let store = Store::new()?;
        let mut loader = store.bulk_loader();
        loader.load_from_slice(RdfFormat::Turtle, data().as_bytes())?;
        loader.commit()?;
        let graph_store = Arc::new(OxigraphStore::new(store.clone()));
        let property = |field| NamedNode::new_unchecked(format!("{NAMESPACE}vocabulary/{field}"));
        Ok(Floor {
            store,
            service: embedded::service(SCHEMA, graph_store)?,
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

    /// Answers by one scan of the index per object.
    ///
    /// # Errors
    /// When the store fails.
    pub fn by_object(&self) -> Result<Vec<u8>, StorageError> {
        self.answer(|subject, values| {
            let subject = Some(NamedOrBlankNodeRef::from(subject));
            let graph = Some(GraphNameRef::DefaultGraph);
            for quad in self.store.quads_for_pattern(subject, None, None, graph) {
                let quad = quad?;
                let mut fields = self.properties.iter();
                if let Some(field) = fields.position(|property| *property == quad.predicate) {
                    values[field] = Some(quad.object);
                }
            }
            Ok(())
        })
    }

    /// Answers by one look-up per value.
    ///
    /// # Errors
    /// When the store fails.
    pub fn by_value(&self) -> Result<Vec<u8>, StorageError> {
        self.answer(|subject, values| {
            let subject = Some(NamedOrBlankNodeRef::from(subject));
            let graph = Some(GraphNameRef::DefaultGraph);
            for (value, property) in values.iter_mut().zip(&self.properties) {
                let property = Some(property.as_ref());
                let mut quads = self.store.quads_for_pattern(subject, property, None, graph);
                *value = quads.next().transpose()?.map(|quad| quad.object);
            }
            Ok(())
        })
    }

    fn answer(
        &self,
        read: impl Fn(&NamedNode, &mut [Option<Term>; SCALARS]) -> Result<(), StorageError>,
    ) -> Result<Vec<u8>, StorageError> {
        let mut out = Vec::with_capacity(1 << 12);
        out.extend_from_slice(b"{\"data\":{\"book\":[");
        let graph = Some(GraphNameRef::DefaultGraph);
        let class = Some(CLASS.into());
        let books = self
            .store
            .quads_for_pattern(None, Some(rdf::TYPE), class, graph);
        for (position, book) in books.enumerate() {
            let NamedOrBlankNode::NamedNode(subject) = book?.subject else {
                continue;
            };
            let mut values = [const { None }; SCALARS];
            read(&subject, &mut values)?;
            out.extend_from_slice(if position > 0 { b",{" } else { b"{" });
            for (field, value) in values.iter().enumerate() {
                if field > 0 {
                    out.push(b',');
                }
                out.push(b'"');
                out.extend_from_slice(FIELDS[field].as_bytes());
                out.extend_from_slice(b"\":");
                write_value(&mut out, field, value.as_ref());
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}}");
        Ok(out)
    }
}

/// Writes a value; the store keeps numbers and truth values in canonical form.
fn write_value(out: &mut Vec<u8>, field: usize, value: Option<&Term>) {
    match value {
        Some(Term::Literal(literal)) if matches!(FIELDS[field], "pages" | "lent") => {
            out.extend_from_slice(literal.value().as_bytes());
        }
        Some(Term::Literal(literal)) => {
            serde_json::to_writer(out, literal.value()).expect("writing to memory does not fail");
        }
        _ => out.extend_from_slice(b"null"),
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
