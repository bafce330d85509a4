//! Searches that take long: others are answered beside them, and they end when nobody waits any more.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use futures::executor::block_on;
use search_index::dsl::{
    Aggregation, AggregationKind, Bool, BucketOrder, Counted, Exists, FieldSort, Fuzziness, Match,
    Missing, Prefix, Query, Search, Sort, TermsAggregation,
};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::{Answer, BulkOperation, Engine, EngineError};
use search_index::graph_store::call_context::{
    CallContext, CallError, LongWork, ResultMemory, Weight,
};
use serde_json::json;

use crate::engine_cases::Fixture;

const THING: &str = "
  Thing: {search: yes, props: {tag: {}, text: {}}}
";

const TEAM: &str = "
  Team:
    search: yes
    props: {people: {range: Person, max: inf, search: {type: {nestingLevel: 1}}}}
  Person: {search: yes, props: {height: {range: double}}}
";

/// How long a test waits for what must happen, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(300);

/// More things than are looked at where a search is asked for, and many words that are alike.
async fn things() -> Fixture {
    things_of(2_500).await
}

async fn things_of(count: usize) -> Fixture {
    let engine: Engine = Arc::new(EmbeddedEngine::in_memory().expect("threads"));
    let things = Fixture::empty(engine, THING).await;
    let words = |at: usize| {
        (at * 8..at * 8 + 8)
            .map(|n| format!("w{n:05}"))
            .collect::<Vec<_>>()
    };
    let data: Vec<_> = (0..count)
        .map(|at| json!({"id": at, "tag": format!("t{at}"), "text": words(at).join(" ")}))
        .collect();
    things.write(&json!(data)).await;
    things
}

fn one_term(at: usize) -> Search {
    Search {
        query: Some(Query::Match(Match::new("tag", format!("t{at}")))),
        ..Search::default()
    }
}

/// A search that takes more steps than one may take among short ones.
fn long() -> Search {
    long_of(10)
}

fn long_of(max_expansions: u32) -> Search {
    let fuzzy = |at: usize| {
        Query::Match(Match {
            fuzziness: Some(Fuzziness::Edits(2)),
            max_expansions: Some(max_expansions),
            ..Match::new("text", format!("w{at:05}"))
        })
    };
    Search {
        query: Some(Query::Bool(Bool {
            should: (0..60).map(|at| fuzzy(at * 97)).collect(),
            ..Bool::default()
        })),
        ..Search::default()
    }
}

async fn search(
    things: &Fixture,
    search: &Search,
    context: &CallContext,
) -> Result<Answer, EngineError> {
    things
        .engine
        .search(things.binding(), search, context)
        .await
}

/// Memory that stops whoever asks for it on a thread for long searches, until it is opened.
#[derive(Debug)]
struct Gate {
    stopped: Mutex<Sender<()>>,
    opened: Arc<Mutex<Receiver<()>>>,
}

impl ResultMemory for Gate {
    fn hold(&self, _: usize) -> bool {
        if thread::current().name() == Some("search-long") {
            let _ = self.stopped.lock().expect("nobody panicked").send(());
            // Fails once the other end is gone.
            let _ = self.opened.lock().expect("nobody panicked").recv();
        }
        true
    }

    fn held(&self) -> usize {
        0
    }

    fn release_to(&self, _: usize) {}
}

/// Returns a gate, what hears of each search that it stops, and what opens it when it is dropped.
fn gate() -> (Arc<Gate>, Receiver<()>, Sender<()>) {
    let (stopped, stops) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    let gate = Gate {
        stopped: Mutex::new(stopped),
        opened: Arc::new(Mutex::new(opened)),
    };
    (Arc::new(gate), stops, open)
}

#[test]
fn searches_of_one_term_are_answered_while_long_ones_run() {
    let things = Arc::new(block_on(things()));
    let (gate, stops, open) = gate();
    // More than there are threads of any kind.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (done, ended) = mpsc::channel();
    let clients: Vec<_> = (0..4 * cores)
        .map(|_| {
            let (things, done) = (Arc::clone(&things), done.clone());
            let context =
                CallContext::new().with_memory(Arc::clone(&gate) as Arc<dyn ResultMemory>);
            thread::spawn(move || {
                let answer = block_on(search(&things, &long(), &context));
                done.send(answer.map(|answer| answer.total))
                    .expect("somebody waits");
            })
        })
        .collect();
    stops.recv_timeout(PATIENCE).expect("a long search runs");
    for at in 0..50 {
        let answer = block_on(search(&things, &one_term(at), &CallContext::new()));
        assert_eq!(answer.expect("an answer").hits.len(), 1);
    }
    assert!(ended.try_recv().is_err(), "no long search has ended");
    drop(open);
    for _ in &clients {
        let total = ended
            .recv_timeout(PATIENCE)
            .expect("it ends")
            .expect("an answer");
        assert!(total.is_some_and(|total| total.value > 0));
    }
    clients
        .into_iter()
        .for_each(|client| client.join().expect("it ends well"));
}

#[test]
fn a_long_search_ends_when_its_request_is_cancelled() {
    let things = Arc::new(block_on(things()));
    let (gate, stops, open) = gate();
    let context = CallContext::new().with_memory(gate);
    let cancellation = context.cancellation.clone();
    let client = thread::spawn({
        let things = Arc::clone(&things);
        move || block_on(search(&things, &long(), &context))
    });
    stops.recv_timeout(PATIENCE).expect("the search runs");
    cancellation.cancel();
    drop(open);
    let ended = client.join().expect("it ends");
    assert!(
        matches!(ended, Err(EngineError::Call(CallError::Cancelled))),
        "{ended:?}"
    );
}

/// Runs long work at once, and writes down how long it is said to be.
#[derive(Debug, Default)]
struct Places(Mutex<Vec<Weight>>);

#[async_trait]
impl LongWork for Places {
    async fn run(&self, weight: Weight, work: Box<dyn FnOnce() + Send>) -> Result<(), CallError> {
        self.0.lock().expect("nobody panicked").push(weight);
        work();
        Ok(())
    }
}

#[test]
fn a_search_that_turns_out_long_begins_again_where_long_ones_run() {
    let things = block_on(things());
    let short = places(&things, &one_term(7));
    assert_eq!(short, [Weight::Medium]);
    assert_eq!(places(&things, &long()), [Weight::Medium, Weight::Long]);
    // What stands for very many terms does not begin among short ones at all.
    assert_eq!(places(&things, &long_of(200)), [Weight::Long]);
}

#[test]
fn many_clauses_about_any_value_turn_out_long() {
    let things = block_on(things());
    let exists = |count: usize| {
        let exists = Query::Exists(Exists {
            field: "tag".to_owned(),
            boost: None,
        });
        Search {
            query: Some(Query::Bool(Bool {
                must: vec![Query::Match(Match::new("tag", "t7"))],
                filter: vec![exists; count],
                ..Bool::default()
            })),
            ..Search::default()
        }
    };
    assert_eq!(places(&things, &exists(10)).len(), 1);
    assert_long(&places(&things, &exists(1_500)));
}

#[test]
fn many_hits_with_many_sort_keys_turn_out_long() {
    let things = block_on(things());
    let sorted = |size, keys| Search {
        size,
        sort: vec![Sort::field("tag.keyword"); keys],
        ..Search::default()
    };
    assert_eq!(places(&things, &sorted(10, 20)).len(), 1);
    assert_long(&places(&things, &sorted(2_400, 20)));
}

#[test]
fn a_page_far_behind_costs_what_is_before_it() {
    let things = block_on(things_of(100));
    let page = |from| Search {
        from,
        ..Search::default()
    };
    assert!(places(&things, &page(0)).is_empty());
    assert_eq!(places(&things, &page(90)).len(), 1);
}

#[test]
fn sort_keys_and_facets_of_many_embedded_objects_turn_out_long() {
    let engine: Engine = Arc::new(EmbeddedEngine::in_memory().expect("threads"));
    let teams = block_on(async {
        let teams = Fixture::empty(engine, TEAM).await;
        let person = |at: usize| json!({"id": format!("p{at}"), "height": "1.5"});
        let data: Vec<_> = (0..20)
            .map(|at| {
                let people: Vec<_> = (at * 500..at * 500 + 500).map(person).collect();
                json!({"id": at, "people": people})
            })
            .collect();
        teams.write(&json!(data)).await;
        teams
    });
    let sorted = |keys| Search {
        sort: vec![
            Sort::Field(FieldSort {
                field: "people.height".to_owned(),
                descending: false,
                mode: None,
                missing: Missing::Last,
                nested: Some("people".to_owned()),
            });
            keys
        ],
        ..Search::default()
    };
    assert_eq!(places(&teams, &sorted(1)).len(), 1);
    assert_long(&places(&teams, &sorted(400)));
    let facets = |count: usize| {
        let facet = |at: usize| Aggregation {
            name: format!("people {at}"),
            kind: AggregationKind::Nested {
                path: "people".to_owned(),
            },
            aggregations: Vec::new(),
        };
        Search {
            aggregations: (0..count).map(facet).collect(),
            ..Search::default()
        }
    };
    assert_eq!(places(&teams, &facets(1)).len(), 1);
    assert_long(&places(&teams, &facets(400)));
}

/// Checks that a search began among short ones, and again among long ones.
fn assert_long(places: &[Weight]) {
    assert_eq!(places, [Weight::Medium, Weight::Long]);
}

/// Returns where a search runs, by how long it is said to be; nowhere if it ends at once.
fn places(things: &Fixture, search_for: &Search) -> Vec<Weight> {
    let places = Arc::new(Places::default());
    let context = CallContext::new().with_long_work(Arc::clone(&places) as Arc<dyn LongWork>);
    let answer = block_on(search(things, search_for, &context));
    assert!(!answer.expect("an answer").hits.is_empty());
    places.0.lock().expect("nobody panicked").clone()
}

/// A small memory.
#[derive(Debug, Default)]
struct Small(Mutex<usize>);

impl ResultMemory for Small {
    fn hold(&self, bytes: usize) -> bool {
        let mut held = self.0.lock().expect("nobody panicked");
        *held += bytes;
        *held < 50_000
    }

    fn held(&self) -> usize {
        *self.0.lock().expect("nobody panicked")
    }

    fn release_to(&self, bytes: usize) {
        *self.0.lock().expect("nobody panicked") = bytes;
    }
}

#[test]
fn memory_of_similar_terms_is_counted_and_used_again() {
    let things = block_on(things());
    let fuzzy = |max_expansions| Search {
        size: 0,
        query: Some(Query::Match(Match {
            fuzziness: Some(Fuzziness::Edits(2)),
            max_expansions: Some(max_expansions),
            ..Match::new("text", "w00100")
        })),
        ..Search::default()
    };
    for (max_expansions, fits) in [(5, true), (500, false)] {
        let context = CallContext::new().with_memory(Arc::new(Small::default()));
        let answer = block_on(search(&things, &fuzzy(max_expansions), &context));
        match answer {
            Ok(_) => assert!(fits),
            Err(EngineError::Call(CallError::OutOfMemory)) => assert!(!fits),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn memory_of_the_values_of_a_segment_is_used_again() {
    let things = block_on(things());
    let tags = |at: usize| Aggregation {
        name: format!("tags {at}"),
        kind: AggregationKind::Terms(TermsAggregation {
            field: "tag.keyword".to_owned(),
            size: 5,
            min_doc_count: 1,
            order: BucketOrder::CountDescending,
            missing: None,
            counts: Counted::Documents,
        }),
        aggregations: Vec::new(),
    };
    // Each facet counts 111 values, of about 7 KB for the segment and as much for the index.
    let facets = |count: usize| Search {
        size: 0,
        query: Some(Query::Prefix(Prefix {
            field: "tag.keyword".to_owned(),
            value: "t24".to_owned(),
            case_insensitive: false,
            boost: None,
        })),
        aggregations: (0..count).map(tags).collect(),
        ..Search::default()
    };
    for (count, fits) in [(4, true), (8, false)] {
        let context = CallContext::new().with_memory(Arc::new(Small::default()));
        let answer = block_on(search(&things, &facets(count), &context));
        match answer {
            Ok(answer) => assert!(fits && answer.aggregations.len() == count),
            Err(EngineError::Call(CallError::OutOfMemory)) => assert!(!fits),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[test]
fn a_short_text_on_a_small_index_may_still_be_long() {
    let engine: Engine = Arc::new(EmbeddedEngine::in_memory().expect("threads"));
    let words: Vec<_> = (0..60_000).map(|at| format!("w{at:05}")).collect();
    block_on(async {
        // One document with many words, too long for a whole value.
        let things = Fixture::empty(engine, THING).await;
        let document = things
            .objects
            .document(&json!({"id": 1, "text": words.join(" ")}));
        let document = [BulkOperation::Index(document)];
        let written = things
            .engine
            .bulk(things.binding(), &document, 0, &things.context);
        assert_eq!(written.await.expect("written"), []);
        let refreshed = things.engine.refresh(&things.name, &things.context);
        refreshed.await.expect("refreshed");
        let places = Arc::new(Places::default());
        let context = CallContext::new().with_long_work(Arc::clone(&places) as Arc<dyn LongWork>);
        let fuzzy = Search {
            query: Some(Query::Match(Match {
                fuzziness: Some(Fuzziness::Edits(2)),
                max_expansions: Some(10),
                ..Match::new("text", "w00001 w23456 w34567")
            })),
            ..Search::default()
        };
        let found = search(&things, &fuzzy, &context).await;
        assert_eq!(found.expect("an answer").hits.len(), 1);
        assert!(!places.0.lock().expect("nobody panicked").is_empty());
    });
}
