//! What a page of a connection costs, near its beginning and far from it.

use std::sync::Arc;

use graph_store::image::ImageStore;
use graphql_service::{Request, RequestContext};
use object_engine::ObjectService;
use oxrdfio::RdfFormat;
use serde_json::{Map, Value};
use tokio::runtime::Runtime;

use crate::embedded::{self, EmbeddedError};
use crate::random::Random;

/// Number of objects of the connection.
pub const OBJECTS: usize = 120_000;
/// Number of objects on a page.
pub const PAGE: usize = 20;
/// Positions behind which pages are read.
pub const POSITIONS: [usize; 3] = [10, 1_000, 100_000];
/// What pages are ordered by: the order of the ids, and values of a property.
pub const ORDERS: [(&str, &str); 2] = [("id", ""), ("title", ", orderBy: {title: DESC}")];

const SCHEMA: &str = "
id: /soml/pages
specialPrefixes: {vocab_iri: 'http://library.example/vocabulary/', vocab_prefix: lib}
config: {enableConnections: true}
objects:
  Book: {props: {title: {}}}
";

/// A failure to make or read pages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PagesError {
    /// There is no service.
    #[error("there is no service")]
    Service(#[from] EmbeddedError),
    /// The answer is not the page that was asked for.
    #[error("not the page that was asked for: {0}")]
    Answer(String),
}

/// The service over the data, and where its pages are.
pub struct Pages {
    service: ObjectService,
    runtime: Runtime,
}

impl Pages {
    /// Makes the data and the service.
    ///
    /// # Errors
    /// When the data cannot be loaded.
    pub fn new(runtime: Runtime) -> Result<Self, PagesError> {
        let image = embedded::image_of(RdfFormat::Turtle, data().as_bytes())?;
        let service = embedded::service(SCHEMA, Arc::new(ImageStore::new(image)))?;
        Ok(Pages { service, runtime })
    }

    /// Returns the cursor of the object at a position, counted from 1.
    ///
    /// # Errors
    /// When there is none.
    pub fn cursor(&self, order: &str, position: usize) -> Result<String, PagesError> {
        let query = format!(
            "{{ bookConnection(first: {position}{order}) {{ pageInfo {{ endCursor }} }} }}"
        );
        let answer = parsed(&self.answer(&query, Map::new()));
        let cursor = answer["data"]["bookConnection"]["pageInfo"]["endCursor"].as_str();
        cursor.map_or_else(
            || Err(PagesError::Answer(answer.to_string())),
            |cursor| Ok(cursor.to_owned()),
        )
    }

    /// Reads the page behind a cursor, as JSON text.
    #[must_use]
    pub fn page(&self, order: &str, cursor: &str) -> Vec<u8> {
        let query = format!(
            "query($after: String) {{ bookConnection(first: {PAGE}, after: $after{order}) \
             {{ edges {{ cursor node {{ id title }} }} pageInfo {{ hasNextPage }} }} }}"
        );
        let variables = Map::from_iter([("after".to_owned(), Value::from(cursor))]);
        self.answer(&query, variables)
    }

    fn answer(&self, query: &str, variables: Map<String, Value>) -> Vec<u8> {
        let request = serde_json::json!({"query": query, "variables": variables});
        let request: Request = serde_json::from_value(request).expect("a request");
        let answer = self.service.execute(request, RequestContext::default());
        let body = self.runtime.block_on(answer).body;
        body.to_bytes().to_vec()
    }
}

/// Returns how many objects are on a page.
///
/// # Errors
/// When it is none.
pub fn count(page: &[u8]) -> Result<usize, PagesError> {
    let answer = parsed(page);
    let edges = answer["data"]["bookConnection"]["edges"].as_array();
    edges.map_or_else(
        || Err(PagesError::Answer(answer.to_string())),
        |edges| Ok(edges.len()),
    )
}

fn parsed(answer: &[u8]) -> Value {
    serde_json::from_slice(answer).expect("an answer is JSON")
}

fn data() -> String {
    let mut random = Random::new(42, &[]);
    let mut out = String::from("@base <http://library.example/> . @prefix v: <vocabulary/> .\n");
    for number in 0..OBJECTS {
        let title = random.below(1_000_000);
        out.push_str(&format!(
            "<book/{number}> a v:Book ; v:title \"{title:06}\" .\n"
        ));
    }
    out
}
