//! Instances of one application, which share data, an engine and a store of schemas.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use graph_store::{CallContext, GraphStore};
use schema_registry::{Expected, InMemorySchemaStore, SchemaStore, put};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::Engine;
use search_service::{Engines, SearchApp, SearchOptions, SearchParts, Storage};
use serde_json::{Value, json};
use service_runtime::{HostOptions, HostState, Server};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::gate::{Gate, Manner, Schemas};

/// How long a test waits for what is to happen.
const PATIENCE: Duration = Duration::from_secs(90);

/// Planets and moons of each world.
pub(crate) const NUMBER: u64 = 20;

/// Runs each behaviour on the embedded engine, and on an OpenSearch server where one is named.
macro_rules! on_both_engines {
    ($($name:ident)*) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(&$crate::world::World::embedded()).await;
            })*
        }

        #[cfg(feature = "opensearch")]
        mod opensearch {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
            async fn $name() {
                let world = $crate::world::World::opensearch();
                super::$name(&world).await;
                world.clean().await;
            })*
        }
    };
}
pub(crate) use on_both_engines;

/// What instances share.
pub(crate) struct World {
    name: String,
    planet: String,
    moon: String,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<InMemorySchemaStore>,
    data: Arc<dyn GraphStore>,
}

impl World {
    pub(crate) fn embedded() -> World {
        World::over(Arc::new(EmbeddedEngine::in_memory().unwrap()), &name())
    }

    #[cfg(feature = "opensearch")]
    pub(crate) fn opensearch() -> World {
        use search_index::opensearch::{OpenSearch, OpenSearchOptions};

        let name = name();
        let address = std::env::var("OPENSEARCH_URL").expect("OPENSEARCH_URL names the server");
        let options = OpenSearchOptions::new(address.parse().unwrap(), name.clone());
        World::over(Arc::new(OpenSearch::new(options).unwrap()), &name)
    }

    fn over(engine: Engine, name: &str) -> World {
        let mut turtle = "@prefix v: <http://e/> .\n".to_owned();
        for at in 0..NUMBER {
            turtle += &format!("v:p{at} a v:Planet ; v:title \"Planet {at}\" .\n");
            turtle += &format!("v:m{at} a v:Moon ; v:title \"Moon {at}\" .\n");
        }
        World {
            planet: format!("planet{name}"),
            moon: format!("moon{name}"),
            name: name.to_owned(),
            engine,
            store: Arc::new(InMemorySchemaStore::shared()),
            data: Arc::new(test_support::images::from_turtle(turtle)),
        }
    }

    /// Returns a schema of planets and moons; the property decides the fingerprints of the indexes.
    pub(crate) fn soml(&self, id: &str, property: &str) -> String {
        let (planet, moon) = (&self.planet, &self.moon);
        let object = |name: &str, class: &str| {
            format!(
                "  {name}: {{type: v:{class}, search: yes, props: {{title: {{}}, {property}: {{}}}}}}\n"
            )
        };
        format!(
            "id: /soml/{id}\nspecialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: v}}\nobjects:\n{}{}",
            object(planet, "Planet"),
            object(moon, "Moon")
        )
    }

    /// Stores a schema, or another version of it.
    pub(crate) async fn store(&self, id: &str, property: &str) {
        let text = self.soml(id, property);
        put(&*self.store, id, text.into()).await.unwrap();
    }

    /// Stores a document in place of a schema.
    pub(crate) async fn replace(&self, id: &str, text: &str) {
        let any = Expected::default();
        self.store.replace(id, text.into(), &any).await.unwrap();
    }

    /// Waits until the lease on building is given back, which nobody can do without the store.
    pub(crate) async fn until_nobody_builds(&self) {
        let name = format!("search-indexes/{}", self.name);
        eventually("the lease is given back", async || {
            let lease = self.store.lease(&name).await.unwrap();
            lease.is_some_and(|lease| lease.holder.is_empty())
        })
        .await;
    }

    pub(crate) fn options(&self) -> SearchOptions {
        let mut options = SearchOptions {
            shares_indexes: true,
            follow_interval: Duration::from_millis(20),
            lease_time: Duration::from_secs(3_600),
            drop_delay: Duration::from_secs(3_600),
            ..SearchOptions::default()
        };
        options.retry.delay = Duration::from_millis(20);
        options.health_check_time = Duration::from_secs(30);
        options
    }

    /// Starts an instance that builds indexes.
    pub(crate) async fn start(&self, instance: &str) -> Instance {
        self.start_with(instance, |_| ()).await
    }

    /// Starts an instance that is set up in another way.
    pub(crate) async fn start_with(
        &self,
        instance: &str,
        set: impl FnOnce(&mut Setup),
    ) -> Instance {
        let mut setup = Setup {
            options: self.options(),
            builds: true,
            manner: Manner::Right,
            first: None,
        };
        instance.clone_into(&mut setup.options.instance);
        set(&mut setup);
        let (gate, schemas) = (
            Gate::new(&self.engine),
            Schemas::new(&self.store, setup.manner),
        );
        let mut host = HostState::default();
        host.options = HostOptions {
            name: self.name.clone(),
            health_cache: Duration::ZERO,
            ..HostOptions::default()
        };
        let app = Arc::new(SearchApp::new(SearchParts {
            host,
            options: setup.options,
            schemas: schemas.clone(),
            data: setup.builds.then(|| Arc::clone(&self.data)),
            engines: Engines::of(gate.clone()),
            storage: Storage::Memory,
        }));
        let runtime = { Builder::new_multi_thread() }
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (listening, listens) = oneshot::channel();
        let served = Arc::clone(&app);
        let serving = runtime.spawn(async move {
            match setup.first {
                Some(id) => served.start_with(id, None).await.unwrap(),
                None => drop(served.start_with_kept().await.unwrap()),
            }
            let server = Server::listen(served).await.unwrap();
            listening.send(server.address()).unwrap();
            let stopped = async move { drop(stopped.await) };
            server.run(stopped).await;
        });
        Instance {
            name: instance.to_owned(),
            base: format!("http://{}", listens.await.unwrap()),
            roots: [self.planet.clone(), self.moon.clone()],
            client: { outbound::client(outbound::tls::config(false, None).unwrap()) }
                .build()
                .unwrap(),
            gate,
            schemas,
            runtime: Some(runtime),
            serving: Some((stop, serving)),
            app,
        }
    }

    /// Returns the indexes of this world that an engine has, with those that aliases lead to marked.
    pub(crate) async fn indexes(&self) -> Vec<(String, bool)> {
        let states = self.engine.indexes(&CallContext::new()).await.unwrap();
        let ours = states.iter().filter(|state| {
            let name = state.name.as_str();
            name.contains(&self.planet) || name.contains(&self.moon)
        });
        ours.map(|state| (state.name.to_string(), !state.aliases.is_empty()))
            .collect()
    }

    /// Deletes the indexes of this world.
    #[cfg(feature = "opensearch")]
    pub(crate) async fn clean(&self) {
        // A server that many tests keep busy may answer late.
        eventually("the engine lists its indexes", async || {
            self.engine.indexes(&CallContext::new()).await.is_ok()
        })
        .await;
        for (name, _) in self.indexes().await {
            let name = search_index::engine::PhysicalName::from_engine(name);
            let deleted = self.engine.delete(&name, &CallContext::new()).await;
            deleted.unwrap();
        }
    }
}

/// A name that no other world has, also on a shared server.
fn name() -> String {
    static WORLDS: AtomicU32 = AtomicU32::new(0);
    let number = WORLDS.fetch_add(1, Ordering::Relaxed);
    format!("{}x{number}", std::process::id())
}

/// How an instance is set up.
pub(crate) struct Setup {
    pub(crate) options: SearchOptions,
    pub(crate) builds: bool,
    pub(crate) manner: Manner,
    /// The name of the schema that it is started with.
    pub(crate) first: Option<&'static str>,
}

/// An instance of a search service, with threads of its own.
pub(crate) struct Instance {
    pub(crate) name: String,
    base: String,
    roots: [String; 2],
    client: reqwest::Client,
    pub(crate) gate: Arc<Gate>,
    pub(crate) schemas: Arc<Schemas>,
    pub(crate) app: Arc<SearchApp>,
    runtime: Option<Runtime>,
    serving: Option<(oneshot::Sender<()>, tokio::task::JoinHandle<()>)>,
}

impl Instance {
    pub(crate) async fn send(&self, method: &str, path: &str) -> (u16, Value) {
        let method = method.parse().unwrap();
        let request = self.client.request(method, format!("{}{path}", self.base));
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    pub(crate) async fn bind(&self, id: &str) {
        let (status, answer) = self.send("PUT", &format!("/soml/{id}/search")).await;
        assert_eq!(status, 200, "{answer:#}");
    }

    pub(crate) async fn unbind(&self, id: &str) {
        let (status, answer) = self.send("DELETE", &format!("/soml/{id}/search")).await;
        assert_eq!(status, 204, "{answer:#}");
    }

    pub(crate) async fn info(&self) -> Value {
        self.send("GET", "/soml/info").await.1
    }

    pub(crate) async fn check(&self, id: &str) -> Value {
        let (_, record) = self.send("GET", "/__health").await;
        let checks = record["healthChecks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["id"] == id);
        found.unwrap().clone()
    }

    pub(crate) async fn gtg(&self) -> (u16, String) {
        let (status, answer) = self.send("GET", "/__gtg").await;
        (status, code(&answer))
    }

    /// Runs a query.
    pub(crate) async fn query(&self, query: &str) -> Value {
        let request = self.client.post(format!("{}/graphql", self.base));
        let request = request.header("content-type", "application/json");
        let body = json!({ "query": query }).to_string();
        let answer = request.body(body).send().await.unwrap();
        serde_json::from_str(&answer.text().await.unwrap()).unwrap()
    }

    /// Searches everything of both kinds, in one request.
    pub(crate) async fn search(&self) -> Value {
        let [planet, moon] = &self.roots;
        let query = format!(
            "{{ a: {planet}_search {{ total {{ value }} }} b: {moon}_search {{ total {{ value }} }} }}"
        );
        self.query(&query).await
    }

    /// Returns whether all is found, by a schema with a property.
    pub(crate) async fn finds_all(&self, property: &str) -> bool {
        let [planet, _] = &self.roots;
        let query =
            format!("{{ {planet}_search(size: 1) {{ hits {{ {planet} {{ {property} }} }} }} }}");
        let answer = self.query(&query).await;
        answer["errors"].is_null() && is_all(&self.search().await)
    }

    /// Waits until all is found, by a schema with a property.
    pub(crate) async fn until_found(&self, property: &str) {
        let begun = Instant::now();
        while !self.finds_all(property).await {
            if begun.elapsed() > PATIENCE {
                panic!(
                    "{property}: {:#} {:#}",
                    self.search().await,
                    self.info().await
                );
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the schema of an instance, and its indexes, have a state.
    pub(crate) async fn until_state(&self, state: &str) {
        eventually(state, async || self.info().await["state"] == state).await;
    }

    /// Returns the code of the error of a search.
    pub(crate) async fn code(&self) -> String {
        code(&self.search().await)
    }

    /// Ends the instance in order.
    pub(crate) async fn stop(mut self) {
        let (stop, serving) = self.serving.take().unwrap();
        stop.send(()).unwrap();
        serving.await.unwrap();
    }

    /// Ends the instance there and then, as when its process is killed.
    pub(crate) fn kill(self) {
        drop(self);
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns whether a search has found everything.
pub(crate) fn is_all(answer: &Value) -> bool {
    let total = |key: &str| answer["data"][key]["total"]["value"] == NUMBER;
    answer["errors"].is_null() && total("a") && total("b")
}

pub(crate) fn code(answer: &Value) -> String {
    let code = answer["errors"][0]["extensions"]["code"].as_str();
    code.unwrap_or_default().to_owned()
}

/// Waits until something holds.
pub(crate) async fn eventually(what: &str, holds: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
