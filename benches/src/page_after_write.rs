//! What a page of a connection costs when something was written since the last page: of the type of which an object was
//! created, of another type, and without a write.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use graph_store::image::ImageStore;
use graphql_service::{Request, RequestContext};
use object_engine::ObjectService;
use oxrdfio::RdfFormat;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::embedded::{self, EmbeddedError};
use crate::measure::Samples;
use crate::random::Random;

/// Number of objects on a page.
pub const PAGE: usize = 20;

const SCHEMA: &str = "
id: /soml/page-after-write
specialPrefixes: {vocab_iri: 'http://library.example/vocabulary/', vocab_prefix: lib}
config: {enableConnections: true, enable_mutations: true}
objects:
  Book: {props: {title: {}}}
  Film: {props: {title: {}}}
";

/// What was written before a page of books by title is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing since the last page.
    Nothing,
    /// A book.
    SameType,
    /// A thousand books, one after the other.
    ManyOfType,
    /// A film.
    OtherType,
}

/// Books of [`Before::ManyOfType`].
const MANY: usize = 1_000;

impl Before {
    /// All, in the order of their turns.
    pub const ALL: [Before; 4] = [
        Before::Nothing,
        Before::SameType,
        Before::ManyOfType,
        Before::OtherType,
    ];

    /// Returns how a table calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Before::Nothing => "nothing",
            Before::SameType => "an object of the type",
            Before::ManyOfType => "1,000 objects of the type",
            Before::OtherType => "an object of another type",
        }
    }
}

/// A failure to write or to read a page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageAfterWriteError {
    /// There is no service.
    #[error("there is no service")]
    Service(#[from] EmbeddedError),
    /// The client cannot be started.
    #[error("failed to start a runtime")]
    Runtime(#[source] std::io::Error),
    /// The answer is not the page or the object that was asked for.
    #[error("not what was asked for: {0}")]
    Answer(String),
}

/// A service over books and as many films.
pub struct Library {
    service: ObjectService,
    runtime: Runtime,
    /// Objects that were created so far.
    created: usize,
    /// The title of the book that was created last.
    newest: Option<String>,
}

impl Library {
    /// Makes so many books and as many films.
    ///
    /// # Errors
    /// When the data cannot be loaded.
    pub fn new(objects: usize) -> Result<Self, PageAfterWriteError> {
        let image = embedded::image_of(RdfFormat::Turtle, data(objects).as_bytes())?;
        let store = Arc::new(ImageStore::new(image));
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Library {
            service: embedded::writable_service(SCHEMA, store)?,
            runtime: runtime.map_err(PageAfterWriteError::Runtime)?,
            created: 0,
            newest: None,
        })
    }

    /// Returns the cursor of the book at a position by descending title, counted from 1; `None` for position 0.
    ///
    /// # Errors
    /// When there is none.
    pub fn cursor(&self, position: usize) -> Result<Option<String>, PageAfterWriteError> {
        if position == 0 {
            return Ok(None);
        }
        let query = format!(
            "{{ bookConnection(first: {position}, orderBy: {{title: DESC}}) {{ pageInfo {{ endCursor }} }} }}"
        );
        let answer = parsed(&self.answer(&query, json!({})));
        let cursor = answer["data"]["bookConnection"]["pageInfo"]["endCursor"].as_str();
        let missing = || PageAfterWriteError::Answer(answer.to_string());
        Ok(Some(cursor.ok_or_else(missing)?.to_owned()))
    }

    /// Writes what is to be written, and returns how long the page after it takes.
    ///
    /// # Errors
    /// When nothing is written, or the page is not the one that was asked for: a first page begins with the newest book.
    pub fn turn(
        &mut self,
        before: Before,
        after: Option<&str>,
    ) -> Result<Duration, PageAfterWriteError> {
        match before {
            // What an earlier write has cost the next page is paid for.
            Before::Nothing => drop(self.page(after)),
            Before::SameType => self.create_book()?,
            Before::ManyOfType => (0..MANY).try_for_each(|_| self.create_book())?,
            Before::OtherType => drop(self.create("Film")?),
        }
        let mut samples = Samples::default();
        let page = samples.time(|| self.page(after));
        self.check(after, &parsed(&page))?;
        Ok(samples.total())
    }

    fn check(&self, after: Option<&str>, page: &Value) -> Result<(), PageAfterWriteError> {
        let edges = page["data"]["bookConnection"]["edges"].as_array();
        let edges = edges.map_or(&[][..], Vec::as_slice);
        let first = edges
            .first()
            .and_then(|edge| edge["node"]["title"].as_str());
        let is_newest = after.is_some() || self.newest.is_none() || first == self.newest.as_deref();
        if edges.len() == PAGE && is_newest {
            Ok(())
        } else {
            Err(PageAfterWriteError::Answer(page.to_string()))
        }
    }

    fn create_book(&mut self) -> Result<(), PageAfterWriteError> {
        self.newest = Some(self.create("Book")?);
        Ok(())
    }

    /// Creates an object before all others of its type by descending title; returns the title.
    fn create(&mut self, ty: &str) -> Result<String, PageAfterWriteError> {
        self.created += 1;
        let title = format!("~{:09}", self.created);
        let id = format!("http://library.example/new/{}", self.created);
        let query = format!(
            "mutation ($id: ID!, $title: String!) {{ create_{ty}(objects: [{{id: $id, title: $title}}]) \
             {{ affected_count {{ count }} }} }}"
        );
        let answer = parsed(&self.answer(&query, json!({"id": id, "title": title})));
        let written = &answer["data"][format!("create_{ty}")]["affected_count"][0]["count"];
        if written == 1 && answer.get("errors").is_none() {
            Ok(title)
        } else {
            Err(PageAfterWriteError::Answer(answer.to_string()))
        }
    }

    fn page(&self, after: Option<&str>) -> Bytes {
        let query = format!(
            "query ($after: String) {{ bookConnection(first: {PAGE}, after: $after, orderBy: {{title: DESC}}) \
             {{ edges {{ node {{ id title }} }} }} }}"
        );
        self.answer(&query, json!({"after": after}))
    }

    fn answer(&self, query: &str, variables: Value) -> Bytes {
        let request = json!({"query": query, "variables": variables});
        let request: Request = serde_json::from_value(request).expect("a request");
        let answer = self.service.execute(request, RequestContext::default());
        self.runtime.block_on(answer).body.to_bytes()
    }
}

fn parsed(answer: &[u8]) -> Value {
    serde_json::from_slice(answer).expect("an answer is JSON")
}

fn data(objects: usize) -> String {
    let mut random = Random::new(42, &[]);
    let mut out = String::from("@base <http://library.example/> . @prefix v: <vocabulary/> .\n");
    for number in 0..objects {
        for ty in ["Book", "Film"] {
            let title = random.below(1_000_000);
            out.push_str(&format!(
                "<{ty}/{number}> a v:{ty} ; v:title \"{title:06}\" .\n"
            ));
        }
    }
    out
}
