//! The search service over HTTP, with the embedded engine and with OpenSearch.

mod binding;
mod callers;
mod command;
mod data_away;
mod data_sequences;
mod demo;
mod engine_away;
mod fake_cluster;
mod federation;
mod health;
mod index_age;
mod index_health;
mod kept;
mod refusals;
mod routes;
mod settings;
mod stoppable;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use graph_store::image::ImageStore;
use graph_store::query::{Hydrated, HydrationRequest, Objects, Selection};
use graph_store::write::{ChangeKind, ChangedObjects, NewRecord, QuadChange};
use graph_store::{CallContext, GraphStore, LocalStore, StoreError, StoreInfo, WriteStore};
use oxrdf::vocab::rdf;
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};
use schema_registry::{Expected, InMemorySchemaStore, SchemaStore};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::Engine;
use search_service::{Engines, SearchApp, SearchParts, Storage};
use serde_json::{Value, json};
use servers::config::Settings;

use crate::images;
use crate::processes::PATIENCE;
use crate::service::{Answer, Service};

const YAML: (&str, &str) = ("content-type", "text/yaml");

/// Runs each behaviour on the embedded engine, and on an OpenSearch server where one is named.
macro_rules! on_both_engines {
    ($($name:ident)*) => {
        mod embedded {
            $(#[test]
            fn $name() {
                super::$name(&$crate::search::World::embedded());
            })*
        }

        mod opensearch {
            $(#[test]
            #[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
            fn $name() {
                super::$name(&$crate::search::World::opensearch());
            })*
        }
    };
}
use on_both_engines;

/// What a test is about: planets, under a name that no other test uses on a shared server.
struct World {
    object: String,
    settings: Settings,
}

impl World {
    fn embedded() -> World {
        static WORLDS: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), WORLDS.fetch_add(1, Ordering::Relaxed));
        let mut settings = Settings {
            name: format!("world-{process}-{number}"),
            health_cache: Duration::ZERO,
            ..Settings::default()
        };
        settings.search.retry.delay.0 = Duration::from_millis(20);
        // What a test waits for is tried until it is there.
        settings.search.retry.max_retries = u32::MAX;
        World {
            object: format!("Planet{process}x{number}"),
            settings,
        }
    }

    fn opensearch() -> World {
        let mut world = World::embedded();
        let address = std::env::var("OPENSEARCH_URL").expect("OPENSEARCH_URL names the server");
        world.settings.search.host = address.parse().unwrap();
        world
    }

    /// The schema; the properties decide the fingerprint of the index.
    fn soml(&self, props: &str) -> String {
        let object = &self.object;
        format!(
            "id: /soml/sky\nspecialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: v}}\nobjects:\n  \
             {object}: {{type: v:Planet, search: yes, props: {{{props}}}}}\n"
        )
    }

    fn root(&self) -> String {
        format!("p{}_search", &self.object[1..])
    }

    fn field(&self) -> String {
        format!("p{}", &self.object[1..])
    }

    fn parts(&self, store: Arc<dyn GraphStore>) -> SearchParts {
        let storage = Storage::Memory;
        let engines = Engines::open(&self.settings.engine_options(), &storage).unwrap();
        self.parts_over(store, engines)
    }

    fn parts_over(&self, store: Arc<dyn GraphStore>, engines: Engines) -> SearchParts {
        SearchParts {
            host: self.settings.host(),
            options: self.settings.search_options(),
            schemas: Arc::new(InMemorySchemaStore::default()),
            data: Some(store),
            engines,
            storage: Storage::Memory,
        }
    }

    /// Serves 20 planets.
    fn serve(&self) -> Sky {
        self.serve_parts(self.parts(planets(20)))
    }

    fn serve_parts(&self, parts: SearchParts) -> Sky {
        let soml = self.soml("title: {}, size: {range: int}");
        self.serve_with(parts, Some(&soml))
    }

    /// Serves with a schema, or without one.
    fn serve_with(&self, parts: SearchParts, soml: Option<&str>) -> Sky {
        let schemas = Arc::clone(&parts.schemas);
        let (service, app) = Service::search(parts, soml);
        Sky {
            service,
            app,
            schemas,
            root: self.root(),
            field: self.field(),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let Ok(base) = std::env::var("OPENSEARCH_URL") else {
            return;
        };
        if self.settings.search.is_embedded() {
            return;
        }
        let pattern = format!("svc-{}-*", self.object.to_lowercase());
        let names = ureq::get(format!("{base}/_cat/indices/{pattern}?h=index")).call();
        let names = names.unwrap().body_mut().read_to_string().unwrap();
        for name in names.lines() {
            let deleted = ureq::delete(format!("{base}/{}", name.trim())).call();
            assert!(deleted.is_ok() || std::thread::panicking(), "{name}");
        }
    }
}

/// A running search service.
struct Sky {
    service: Service,
    app: Arc<SearchApp>,
    schemas: Arc<dyn SchemaStore>,
    root: String,
    field: String,
}

impl Sky {
    /// Stores another version of a schema.
    fn store(&self, id: &str, text: &str) {
        let stored = async {
            match self.schemas.get(id).await.unwrap() {
                Some(_) => {
                    let expected = Expected::default();
                    self.schemas
                        .replace(id, text.into(), &expected)
                        .await
                        .unwrap()
                }
                None => self.schemas.create(id, text.into()).await.unwrap(),
            }
        };
        drop(block_on(stored));
    }

    fn bind(&self, id: &str) -> Answer {
        self.service
            .send("PUT", &format!("/soml/{id}/search"), &[], b"")
    }

    fn unbind(&self, id: &str) -> Answer {
        self.service
            .send("DELETE", &format!("/soml/{id}/search"), &[], b"")
    }

    fn info(&self) -> Value {
        let answer = self.service.get("/soml/info");
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// Searches everything; the answer as a whole.
    fn search(&self) -> Value {
        let root = &self.root;
        let query = format!("{{ {root} {{ total {{ value }} hits {{ id }} }} }}");
        self.service.post(&json!({ "query": query })).json()
    }

    fn total(&self) -> Value {
        self.search()["data"][&self.root]["total"]["value"].clone()
    }

    /// Waits until something holds.
    fn wait(&self, what: &str, holds: impl Fn(&Sky) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < PATIENCE, "{what}: {:#}", self.info());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until a health check is passed. Indexes are searched a moment before their run has ended.
    fn wait_until_ok(&self, id: &str) {
        self.wait("the check is passed", |sky| sky.check(id)["status"] == "OK");
    }

    fn check(&self, id: &str) -> Value {
        let record = self.service.get("/__health").json();
        let checks = record["healthChecks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["id"] == id);
        found.unwrap_or_else(|| panic!("{record:#}")).clone()
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(future)
}

/// A store with some planets.
fn planets(number: usize) -> Arc<dyn GraphStore> {
    let mut turtle = "@prefix v: <http://e/> .\n".to_owned();
    for at in 0..number {
        turtle += &format!("v:p{at} a v:Planet ; v:title \"Planet {at}\" ; v:size {at} .\n");
    }
    store(&turtle)
}

fn store(turtle: &str) -> Arc<dyn GraphStore> {
    image(turtle)
}

/// A store that knows which data it has.
fn image(turtle: &str) -> Arc<ImageStore> {
    Arc::new(images::from_turtle(turtle))
}

/// A store whose data others may change unseen.
fn unknowing(turtle: &str) -> Arc<dyn GraphStore> {
    Arc::new(Unknowing(images::from_turtle(turtle)))
}

/// A store that does not know which data it has.
struct Unknowing(ImageStore);

#[async_trait]
impl GraphStore for Unknowing {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.0.select(selection, context).await
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.0.hydrate(request, context).await
    }

    async fn probe(&self, context: &CallContext) -> Result<StoreInfo, StoreError> {
        self.0.probe(context).await
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        self.0.local()
    }

    fn writer(&self) -> Option<&dyn WriteStore> {
        None
    }
}

/// Adds a planet, as a mutation does.
fn add_planet(store: &dyn GraphStore, name: &str) {
    add_planet_at(store, name, SystemTime::now());
}

/// Adds a planet, as a mutation does by a clock that says a time.
fn add_planet_at(store: &dyn GraphStore, name: &str, time: SystemTime) {
    let created = ChangedObjects {
        kind: ChangeKind::Created,
        object_type: "Planet".to_owned(),
        objects: vec![NamedNode::new_unchecked(format!("http://e/{name}"))],
    };
    change(store, name, time, vec![created]);
}

/// Adds a planet without saying so, as others may do.
fn change_unseen(store: &dyn GraphStore, name: &str) {
    change(store, name, SystemTime::now(), Vec::new());
}

fn change(store: &dyn GraphStore, name: &str, time: SystemTime, changes: Vec<ChangedObjects>) {
    let node = |name: &str| NamedNode::new_unchecked(format!("http://e/{name}"));
    let quad = |predicate: NamedNode, object: Term| {
        Quad::new(node(name), predicate, object, GraphName::DefaultGraph)
    };
    let change = QuadChange {
        removed: Vec::new(),
        added: vec![
            quad(rdf::TYPE.into_owned(), node("Planet").into()),
            quad(node("title"), Literal::from(name).into()),
        ],
    };
    commit(store, name, time, change, changes);
}

/// Commits a change, whose record says what is given.
fn commit(
    store: &dyn GraphStore,
    request: &str,
    time: SystemTime,
    change: QuadChange,
    changes: Vec<ChangedObjects>,
) {
    let said = NewRecord {
        request: request.to_owned(),
        idempotency_key: None,
        digest: String::new(),
        time,
        changes,
    };
    block_on(async {
        let context = CallContext::new();
        let writer = store.writer().unwrap();
        let mut transaction = writer.begin(&context).await.unwrap();
        transaction.apply(change, &context).await.unwrap();
        transaction.commit(said, &context).await.unwrap();
    });
}

fn embedded() -> Engine {
    Arc::new(EmbeddedEngine::in_memory().unwrap())
}
