//! Values that are read while the answer is written: the answer is the one that reading all of them
//! first gives, whatever shows them, and the memory that they take is that of a chunk.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use graph_store::image::ImageStore;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::{CallContext, GraphStore, LocalStore, StoreError, StoreInfo};
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};

use crate::images;

const THINGS: usize = 2_345;
const LOCK: &str = "nobody panics with the lock";
const WRITTEN: &str = "writing to a string";
const SCHEMA: &str = "
id: /soml/chunks
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableConnections: true, enableAggregates: true, enableCollectionCount: true}
objects:
  Thing:
    name: v:label
    props:
      size: {range: int}
      note: {max: inf}
      part: {range: Part, max: inf}
      next: {range: Thing}
  Part: {props: {label: {}, weight: {range: decimal}}}
";

/// What a store was asked for.
#[derive(Default)]
struct Asked {
    /// Numbers of objects of which values were wanted before the answer was begun.
    first: Mutex<Vec<usize>>,
    /// The same while it was written.
    later: Mutex<Vec<usize>>,
    /// Portions to give before failing; 0 for all.
    fails_after: AtomicUsize,
    /// The second chunk waits until the deadline is over.
    stalls: AtomicBool,
}

/// The embedded store, watched.
struct Watched {
    store: Arc<ImageStore>,
    /// Knows no way to give values at once.
    waits: bool,
    asked: Arc<Asked>,
}

#[async_trait]
impl GraphStore for Watched {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.store.select(selection, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.asked
            .first
            .lock()
            .expect(LOCK)
            .push(request.nodes.len());
        self.store.hydrate(request, context).await
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.store.probe(context).await
    }
}

impl LocalStore for Watched {
    fn hydrate_now(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Option<Result<Hydrated, StoreError>> {
        if self.waits {
            return None;
        }
        let mut later = self.asked.later.lock().expect(LOCK);
        if later.len() + 1 == self.asked.fails_after.load(Ordering::SeqCst) {
            return Some(Err(StoreError::Failed("the disk is gone".into())));
        }
        later.push(request.nodes.len());
        if later.len() == 2 && self.asked.stalls.load(Ordering::SeqCst) {
            let deadline = context.deadline.expect("the request has a deadline");
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        }
        self.store.hydrate_now(request, context)
    }
}

/// Returns things in a ring, each with two parts of its own and one that all share; some values do
/// not fit, some are missing, some occur twice.
fn data() -> String {
    let mut text = String::from("@prefix : <http://e/> . @prefix v: <http://v/> .\n");
    for number in 0..THINGS {
        let next = (number + 1) % THINGS;
        let size = match number % 500 {
            499 => "\"large\"".to_owned(),
            _ => number.to_string(),
        };
        write!(
            text,
            ":t{number} a v:Thing ; v:label \"thing {number}\" ; v:size {size} ; v:next :t{next} ;
               v:part :p{number}a, :p{number}b, :all .
             :p{number}a a v:Part ; v:label \"a of {number}\" ; v:weight 1.{number} .
             :p{number}b a v:Part ; v:label \"b of {number}\", \"also {number}\" .\n"
        )
        .expect(WRITTEN);
        if number % 3 == 0 {
            writeln!(text, ":t{number} v:note \"one\", \"two\" .").expect(WRITTEN);
        }
    }
    text + ":all a v:Part ; v:label \"of all\" .\n"
}

fn service(store: &Arc<ImageStore>, waits: bool) -> (ObjectService, Arc<Asked>) {
    let asked = Arc::new(Asked::default());
    let watched = Watched {
        store: Arc::clone(store),
        waits,
        asked: Arc::clone(&asked),
    };
    let service = crate::fixture::service(SCHEMA, Arc::new(watched), ServiceOptions::default());
    (service, asked)
}

fn store() -> Arc<ImageStore> {
    Arc::new(images::from_turtle(data()))
}

#[test]
fn the_answer_is_that_of_values_read_first() {
    let store = store();
    // Each with the chunks that are read while the answer is written.
    let cases: [(&str, &[usize]); 16] = [
        ("{ thing { id size note } }", &[1000, 1000, 345]),
        (
            "{ thing(orderBy: {size: DESC}) { name size } }",
            &[1000, 1000, 345],
        ),
        ("{ thing(limit: 1000) { size } }", &[]),
        ("{ thing(limit: 1001) { size } }", &[1000, 1]),
        ("{ thing { id } }", &[]),
        (
            "{ thing { a: size, size, note(limit: 1), __typename } }",
            &[1000, 1000, 345],
        ),
        // What leads further is read first; what it leads to need not be.
        ("{ thing { size next { name note } } }", &[1000, 1000, 345]),
        (
            "{ thing(limit: 900) { size part(where: {label: {RE: \"^[ab] of\"}}) { label } } }",
            &[1000, 800],
        ),
        (
            "{ thing(limit: 900) { part(where: {label: {RE: \"^[ab] of\"}}, orderBy: {label: DESC}) { id label weight } } }",
            &[1000, 800],
        ),
        // Objects that are shown more than once, or not in order, are read first.
        ("{ thing { part { label } } }", &[]),
        (
            "{ a: thing { size } b: thing { size } }",
            &[1000, 1000, 345, 1000, 1000, 345],
        ),
        (
            "{ a: thing { size } b: thing { size note } }",
            &[1000, 1000, 345, 1000, 1000, 345],
        ),
        (
            "{ thing(limit: 900) { a: part(where: {label: {RE: \"^a of\"}}) { label } b: part(where: {label: {RE: \"^b of\"}}) { label } } }",
            &[],
        ),
        (
            "{ thingConnection(first: 1500) { edges { node { size } } nodes { note } } }",
            &[],
        ),
        (
            "{ thing_aggregate { size { max } } thing { size } }",
            &[1000, 1000, 345],
        ),
        ("{ thing { note_count note_aggregate { count } } }", &[]),
    ];
    for (query, chunks) in cases {
        let (first, asked) = service(&store, true);
        let expected =
            crate::fixture::answer(&first, Request::new(query), RequestContext::default());
        assert!(asked.later.lock().unwrap().is_empty());
        let (later, asked) = service(&store, false);
        let answer = crate::fixture::answer(&later, Request::new(query), RequestContext::default());
        let text = String::from_utf8_lossy(&answer);
        assert!(
            answer == expected,
            "{query}: {}",
            &text[..text.len().min(2_000)]
        );
        assert!(text.contains("\"data\":{"), "{query}: {text:.200}");
        let mut read = asked.later.lock().unwrap().clone();
        // Lists that begin are begun together.
        read.sort_unstable();
        let mut wanted = chunks.to_vec();
        wanted.sort_unstable();
        assert_eq!(read, wanted, "{query}");
    }
}

#[test]
fn a_store_that_fails_while_the_answer_is_written_gives_no_answer() {
    let store = store();
    for fails_after in 1..=3 {
        let (service, asked) = service(&store, false);
        asked.fails_after.store(fails_after, Ordering::SeqCst);
        let request = Request::new("{ thing { id size } }");
        let answer = crate::fixture::answer(&service, request, RequestContext::default());
        let answer = crate::fixture::json(&answer);
        assert_eq!(answer["data"], serde_json::Value::Null, "{fails_after}");
        assert_eq!(
            answer["errors"].as_array().map(Vec::len),
            Some(1),
            "{answer}"
        );
        assert_eq!(answer["errors"][0]["extensions"]["code"], "STORE_FAILED");
        assert!(!answer.to_string().contains("disk"), "{answer}");
    }
}

#[test]
fn a_deadline_that_passes_while_the_answer_is_written_ends_it() {
    let store = store();
    let mut time = Duration::from_millis(500);
    loop {
        let (service, asked) = service(&store, false);
        asked.stalls.store(true, Ordering::SeqCst);
        let context = RequestContext::from(CallContext::new().with_timeout(time));
        let request = Request::new("{ thing { id size note } }");
        let answer = crate::fixture::json(&crate::fixture::answer(&service, request, context));
        let code = &answer["errors"][0]["extensions"]["code"];
        assert_eq!(code, "DEADLINE_EXCEEDED", "{answer}");
        let later = asked.later.lock().unwrap().len();
        if later == 2 {
            break;
        }
        // On a busy machine the time may be over before the second chunk.
        assert!(
            later < 2 && time < Duration::from_secs(60),
            "{later} chunks"
        );
        time *= 2;
    }
}
