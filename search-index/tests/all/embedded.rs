//! The embedded engine: all behaviours of engines, and what only it promises.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::executor::block_on;
use search_index::dsl::{Match, Nested, Query, Search};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::{
    Binding, Built, BulkOperation, DataPosition, Engine, EngineError, HealthLevel, PhysicalName,
    Switch,
};
use search_index::graph_store::call_context::{
    CallContext, CallError, LongWork, ResultMemory, Weight,
};
use search_index::mapping::Owner;
use serde_json::{Value, json};

use crate::engine_cases::{self, Fixture, Objects};

fn in_memory() -> Engine {
    Arc::new(EmbeddedEngine::in_memory().expect("threads"))
}

fn in_folder(path: &Path) -> Engine {
    Arc::new(EmbeddedEngine::open(path).expect("the folder is free"))
}

#[test]
fn every_behaviour_of_engines_holds_in_memory() {
    block_on(engine_cases::run(in_memory));
}

#[test]
fn every_behaviour_of_engines_holds_in_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = in_folder(folder.path());
    block_on(engine_cases::run(move || Arc::clone(&engine)));
}

#[test]
fn zero_is_the_least_of_several_unsigned_integers() {
    let order = block_on(engine_cases::order_with_zero(in_memory()));
    assert_eq!(order, ["b", "c", "d", "a"]);
}

const PLANET: &str = "
  Planet: {search: yes, props: {title: {}, people: {range: Person, max: inf}}}
  Person: {search: yes, props: {alias: {}}}
";

/// A planet of one person for each of its two numbers, and of one more.
fn planet(id: usize, version: usize) -> Value {
    let alias = |name: String| json!({"id": format!("{id}-{name}"), "alias": name});
    json!({"id": id, "title": format!("planet v{version}"),
           "people": [alias(format!("p{id}")), alias(format!("v{version}")), alias("all".to_owned())]})
}

fn person(alias: &str) -> Query {
    Query::Nested(Nested {
        path: "people".to_owned(),
        query: Box::new(Query::Match(Match::new("people.alias", alias))),
        score_mode: None,
    })
}

async fn count(planets: &Fixture, query: Query) -> u64 {
    let search = Search {
        query: Some(query),
        size: 0,
        ..Search::default()
    };
    let total = planets.search(&search).await.total;
    total.expect("it is counted").value
}

#[test]
fn blocks_survive_merges_and_deletions() {
    block_on(async {
        let planets = Fixture::empty(in_memory(), PLANET).await;
        let last = 30;
        // Each refresh makes a segment, and eight small ones are merged. Every document is replaced a few
        // times on the way.
        for version in 0..last {
            let ids = (0..20).filter(|id| (id + version) % 3 == 0 || version == 0);
            let data: Vec<_> = ids.map(|id| planet(id, version)).collect();
            planets.write(&json!(data)).await;
        }
        assert_eq!(count(&planets, person("all")).await, 20);
        for id in 0..20_usize {
            // The last version in which it was written.
            let version = (0..last)
                .rev()
                .find(|version| (id + version) % 3 == 0)
                .expect("one");
            let own = format!("p{id}");
            planets.expect(person(&own), &id.to_string()).await;
            let both = Query::Bool(search_index::dsl::Bool {
                must: vec![person(&own), person(&format!("v{version}"))],
                ..Default::default()
            });
            planets.expect(both, &id.to_string()).await;
        }
        let written: u64 = {
            let mut all = 0;
            for version in 0..last {
                all += count(&planets, person(&format!("v{version}"))).await;
            }
            all
        };
        assert_eq!(written, 20);
        planets.end().await;
    });
}

#[test]
fn a_folder_keeps_indexes_aliases_and_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    block_on(async {
        let objects = Objects::new(PLANET);
        let name = PhysicalName::new(&objects.definition, 1);
        let binding = Binding {
            definition: &objects.definition,
            name: &name,
        };
        let context = CallContext::new();
        {
            let engine = in_folder(folder.path());
            engine
                .create(binding, &Owner::new("kept"), &context)
                .await
                .expect("created");
            let documents = [
                objects.document(&planet(1, 1)),
                objects.document(&planet(2, 1)),
            ];
            engine
                .bulk(binding, &BulkOperation::all(documents), 0, &context)
                .await
                .expect("written");
            engine.refresh(&name, &context).await.expect("refreshed");
            let switch = Switch {
                alias: objects.definition.alias(),
                to: Some(name.clone()),
                replaces_index: false,
                lease: 0,
            };
            engine.switch(&[switch], &context).await.expect("moved");
            // What is not refreshed is not promised, and the next opening must not trip over it.
            engine
                .bulk(
                    binding,
                    &[BulkOperation::Index(objects.document(&planet(3, 1)))],
                    0,
                    &context,
                )
                .await
                .expect("written");
        }
        let engine = in_folder(folder.path());
        let indexes = engine.indexes(&context).await.expect("indexes");
        assert_eq!(indexes.len(), 1);
        assert_eq!(
            (&indexes[0].name, &indexes[0].aliases),
            (&name, &vec![objects.definition.alias()])
        );
        assert_eq!(
            indexes[0].mark.as_ref().map(|mark| &*mark.application),
            Some("kept")
        );
        assert_eq!(engine.count(&name, &context).await.expect("a number"), 2);
        let search = Search {
            query: Some(person("p2")),
            ..Search::default()
        };
        let answer = engine
            .search(binding, &search, &context)
            .await
            .expect("an answer");
        assert_eq!(answer.hits[0].id, "http://e/2");
        engine
            .bulk(
                binding,
                &[BulkOperation::Index(objects.document(&planet(2, 7)))],
                0,
                &context,
            )
            .await
            .expect("written");
        engine.refresh(&name, &context).await.expect("refreshed");
        assert_eq!(engine.count(&name, &context).await.expect("a number"), 2);
        engine.delete(&name, &context).await.expect("deleted");
        drop(engine);
        let left = std::fs::read_dir(folder.path()).expect("the folder");
        let folders = left.filter(|entry| entry.as_ref().expect("an entry").path().is_dir());
        assert_eq!(folders.count(), 0);
    });
}

#[test]
fn a_folder_belongs_to_one_engine_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = EmbeddedEngine::open(folder.path()).expect("the folder is free");
    assert!(matches!(
        EmbeddedEngine::open(folder.path()),
        Err(EngineError::Failed(_))
    ));
    drop(first);
    assert!(EmbeddedEngine::open(folder.path()).is_ok());
}

#[cfg(unix)]
#[test]
fn a_folder_whose_lock_is_removed_is_still_in_use_and_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("indexes");
    let _first = EmbeddedEngine::open(&place).expect("the folder is free");
    std::fs::remove_file(place.join("lock")).expect("the lock is there");
    assert!(matches!(
        EmbeddedEngine::open(&place),
        Err(EngineError::Failed(_))
    ));
    let mode = std::fs::metadata(&place)
        .expect("a folder")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn an_index_that_cannot_be_read_is_reported_and_can_be_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    block_on(async {
        let name = {
            let planets = Fixture::empty(in_folder(folder.path()), PLANET).await;
            planets.name.clone()
        };
        let index = std::fs::read_dir(folder.path()).expect("the folder");
        let mut index = index
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.is_dir());
        let index = index.next().expect("the index is in a folder");
        std::fs::write(index.join("meta.json"), "{").expect("written");
        let engine = in_folder(folder.path());
        let context = CallContext::new();
        let of = [name.clone()];
        let health = engine.health(&of, &context).await.expect("it answers");
        assert_eq!(health.indexes[&name].level, HealthLevel::Bad);
        assert!(matches!(
            engine.count(&name, &context).await,
            Err(EngineError::Failed(_))
        ));
        engine.delete(&name, &context).await.expect("deleted");
        let health = engine.health(&of, &context).await.expect("it answers");
        assert!(health.indexes.is_empty(), "{health:?}");
    });
}

#[test]
fn an_index_whose_files_are_gone_is_reported_while_it_is_still_searched() {
    let folder = tempfile::tempdir().expect("a folder");
    block_on(async {
        let data = json!([planet(1, 1)]);
        let planets = Fixture::new(in_folder(folder.path()), PLANET, data).await;
        let (engine, context) = (&planets.engine, CallContext::new());
        let of = [planets.name.clone()];
        let health = engine.health(&of, &context).await.expect("it answers");
        assert_eq!(health.indexes[&of[0]].level, HealthLevel::Good);
        for entry in std::fs::read_dir(folder.path()).expect("the folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).expect("removed");
            }
        }
        let health = engine.health(&of, &context).await.expect("it answers");
        let health = &health.indexes[&of[0]];
        assert_eq!(health.level, HealthLevel::Bad);
        let message = health.message.as_ref().expect("a message");
        let place = folder.path().display().to_string();
        assert!(
            message.contains("gone") && !message.contains(&place),
            "{message}"
        );
    });
}

#[test]
fn what_is_noted_of_an_index_is_there_when_it_is_opened_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let built = Built {
        documents: 1,
        malformed: 2,
        rejected: 3,
        refusals: Vec::new(),
        data: Some(DataPosition {
            origin: "x".to_owned(),
            sequence: 4,
            request: Some("r".to_owned()),
        }),
    };
    let note_of = |engine: Engine| async move {
        let states = engine.indexes(&CallContext::new()).await.expect("indexes");
        states[0].mark.clone().expect("a mark").built
    };
    block_on(async {
        {
            let planets = Fixture::empty(in_folder(folder.path()), PLANET).await;
            assert_eq!(note_of(planets.engine.clone()).await, None);
            let (engine, context) = (&planets.engine, CallContext::new());
            let noted = engine.note_built(&planets.name, &built, &context).await;
            noted.expect("noted");
            assert_eq!(note_of(planets.engine.clone()).await.as_ref(), Some(&built));
        }
        assert_eq!(
            note_of(in_folder(folder.path())).await.as_ref(),
            Some(&built)
        );
    });
}

#[test]
fn analyzers_that_are_not_there_are_named_when_an_index_is_created() {
    let objects = Objects::new(
        "  Planet: {search: {index: yes, analysis: {analyzer: swedish}}, props: {title: {}}}\n",
    );
    let name = PhysicalName::new(&objects.definition, 1);
    let binding = Binding {
        definition: &objects.definition,
        name: &name,
    };
    let created = block_on(in_memory().create(binding, &Owner::new("a"), &CallContext::new()));
    match created {
        Err(EngineError::Unsupported(message)) => {
            assert!(message.contains("`swedish`"), "{message}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_index_of_another_definition_is_not_searched() {
    block_on(async {
        let planets = Fixture::new(in_memory(), PLANET, json!([planet(1, 1)])).await;
        let other = Objects::new("  Planet: {search: yes, props: {alias: {}}}\n");
        let binding = Binding {
            definition: &other.definition,
            name: &planets.name,
        };
        let answer = planets
            .engine
            .search(binding, &Search::default(), &planets.context)
            .await;
        assert!(matches!(answer, Err(EngineError::Failed(_))), "{answer:?}");
    });
}

#[test]
fn more_indexes_are_written_than_have_writers() {
    block_on(async {
        let engine = in_memory();
        let mut all = Vec::new();
        for at in 0..7 {
            let planets = Fixture::empty(Arc::clone(&engine), PLANET).await;
            let document = planets.objects.document(&planet(at, 1));
            let written = planets
                .engine
                .bulk(
                    planets.binding(),
                    &[BulkOperation::Index(document)],
                    0,
                    &planets.context,
                )
                .await;
            assert_eq!(written.expect("written"), []);
            all.push(planets);
        }
        for (at, planets) in all.iter().enumerate() {
            planets
                .engine
                .refresh(&planets.name, &planets.context)
                .await
                .expect("refreshed");
            planets
                .expect(Query::MatchAll { boost: None }, &at.to_string())
                .await;
        }
    });
}

/// Runs long work at once, and counts it.
#[derive(Debug, Default)]
struct Counted(AtomicUsize);

#[async_trait]
impl LongWork for Counted {
    async fn run(&self, _: Weight, work: Box<dyn FnOnce() + Send>) -> Result<(), CallError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        work();
        Ok(())
    }
}

#[test]
fn long_searches_run_where_the_context_says() {
    block_on(async {
        let planets = Fixture::empty(in_memory(), PLANET).await;
        let data: Vec<_> = (0..700).map(|id| planet(id, 1)).collect();
        planets.write(&json!(data)).await;
        let counted = Arc::new(Counted::default());
        let context = CallContext::new().with_long_work(Arc::clone(&counted) as Arc<dyn LongWork>);
        let search = Search::default();
        let answer = planets
            .engine
            .search(planets.binding(), &search, &context)
            .await;
        assert_eq!(answer.expect("an answer").hits.len(), 10);
        assert_eq!(counted.0.load(Ordering::Relaxed), 1);
        // Without such a place the engine has threads of its own.
        assert_eq!(count(&planets, person("p7")).await, 1);
    });
}

/// A small memory.
#[derive(Debug, Default)]
struct Small(Mutex<usize>);

impl ResultMemory for Small {
    fn hold(&self, bytes: usize) -> bool {
        let mut held = self.0.lock().expect("nobody panicked");
        *held += bytes;
        *held < 4_000
    }

    fn held(&self) -> usize {
        *self.0.lock().expect("nobody panicked")
    }

    fn release_to(&self, bytes: usize) {
        *self.0.lock().expect("nobody panicked") = bytes;
    }
}

#[test]
fn a_search_that_needs_too_much_memory_is_refused() {
    block_on(async {
        let planets = Fixture::empty(in_memory(), PLANET).await;
        let data: Vec<_> = (0..100).map(|id| planet(id, 1)).collect();
        planets.write(&json!(data)).await;
        let search = |size| Search {
            size,
            source: vec!["title".to_owned()],
            ..Search::default()
        };
        for (size, fits) in [(1, true), (100, false)] {
            let context = CallContext::new().with_memory(Arc::new(Small::default()));
            let answer = planets
                .engine
                .search(planets.binding(), &search(size), &context)
                .await;
            assert_eq!(answer.is_ok(), fits, "{answer:?}");
            if let Err(error) = answer {
                assert!(
                    matches!(error, EngineError::Call(CallError::OutOfMemory)),
                    "{error:?}"
                );
            }
        }
    });
}

#[test]
fn documents_that_do_not_fit_are_returned_and_the_others_are_written() {
    block_on(async {
        let planets = Fixture::empty(in_memory(), PLANET).await;
        let other = Objects::new("  Planet: {search: yes, props: {moons: {range: int}}}\n");
        let documents = [
            planets.objects.document(&planet(1, 1)),
            other.document(&json!({"id": 2, "moons": 3})),
            planets.objects.document(&planet(3, 1)),
        ];
        let rejected = planets
            .engine
            .bulk(
                planets.binding(),
                &BulkOperation::all(documents),
                0,
                &planets.context,
            )
            .await;
        let rejected = rejected.expect("the others are written");
        assert_eq!(rejected.len(), 1);
        assert_eq!((rejected[0].position, rejected[0].status), (1, 400));
        assert!(rejected[0].reason.contains("`moons`") && !rejected[0].is_transient());
        planets
            .engine
            .refresh(&planets.name, &planets.context)
            .await
            .expect("refreshed");
        planets.expect(Query::MatchAll { boost: None }, "1 3").await;
    });
}

#[test]
fn searches_see_an_index_as_of_one_refresh_while_it_is_written() {
    let planets = Arc::new(block_on(Fixture::empty(in_memory(), PLANET)));
    let all = |version| json!((0..50).map(|id| planet(id, version)).collect::<Vec<_>>());
    block_on(planets.write(&all(0)));
    let is_done = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (planets, is_done) = (Arc::clone(&planets), Arc::clone(&is_done));
        move || {
            let mut searches = 0;
            while !is_done.load(Ordering::Relaxed) || searches == 0 {
                assert_eq!(block_on(count(&planets, person("all"))), 50);
                searches += 1;
            }
        }
    });
    for version in 1..15 {
        block_on(planets.write(&all(version)));
    }
    is_done.store(true, Ordering::Relaxed);
    reader.join().expect("each search saw every planet once");
}
