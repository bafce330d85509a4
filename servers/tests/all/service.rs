//! A service that runs in this process on a free port, and a plain client for it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use graph_store::GraphStore;
use object_service::App;
use rdf_load::{Finding, LoadObserver, LoadOptions, load_embedded};
use schema_registry::{Expected, InMemorySchemaStore};
use search_service::{SearchApp, SearchParts};
use serde_json::Value;
use servers::config::Settings;
use servers::demo::STAR_WARS;
use servers::store::in_memory;
use servers::wiring::object_service;
use service_auth::Verifier;
use service_auth::identity::Provider;
use service_runtime::Server;
use tokio::sync::oneshot;

use crate::processes::PATIENCE;

/// A running service; it stops when this is dropped.
pub(crate) struct Service {
    pub(crate) base: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Quiet;

impl LoadObserver for Quiet {
    fn finding(&mut self, finding: &Finding) {
        panic!("the demo data is clean: {finding}");
    }

    fn progress(&mut self, _bytes: u64, _statements: u64) {}
}

impl Service {
    /// Starts the Star Wars demo.
    pub(crate) fn demo() -> Service {
        Service::demo_with(Settings::default())
    }

    /// Starts the Star Wars demo under other settings.
    pub(crate) fn demo_with(settings: Settings) -> Service {
        let store = in_memory().unwrap();
        let (name, data) = (STAR_WARS.data_name, STAR_WARS.data.as_bytes());
        let options = LoadOptions::default();
        load_embedded(store.as_ref(), name, data, &options, &mut Quiet).unwrap();
        Service::run(settings, store, Some((STAR_WARS.schema, STAR_WARS.query)))
    }

    /// Starts a service without schema and data.
    pub(crate) fn empty() -> Service {
        Service::empty_with(Settings::default())
    }

    /// Starts a service without schema and data under other settings.
    pub(crate) fn empty_with(settings: Settings) -> Service {
        Service::run(settings, in_memory().unwrap(), None)
    }

    /// Starts the Star Wars schema over another store.
    pub(crate) fn over(settings: Settings, store: Arc<dyn GraphStore>) -> Service {
        Service::run(settings, store, Some((STAR_WARS.schema, STAR_WARS.query)))
    }

    /// Starts the Star Wars schema without data, and lets users log in.
    pub(crate) fn with_provider(settings: Settings, provider: Arc<Provider>) -> Service {
        let store = in_memory().unwrap();
        let schema = Some((STAR_WARS.schema, STAR_WARS.query));
        Service::prepared(settings, store, schema, |app| app.with_provider(provider))
    }

    /// Starts the Star Wars schema without data, for callers whose tokens a verifier accepts.
    pub(crate) fn with_verifier(verifier: Verifier) -> Service {
        let store = in_memory().unwrap();
        let (settings, schema) = (Settings::default(), (STAR_WARS.schema, STAR_WARS.query));
        Service::prepared(settings, store, Some(schema), |app| {
            app.with_verifier(verifier)
        })
    }

    fn run(
        settings: Settings,
        store: Arc<dyn GraphStore>,
        schema: Option<(&str, &str)>,
    ) -> Service {
        Service::prepared(settings, store, schema, |app| app)
    }

    fn prepared(
        mut settings: Settings,
        store: Arc<dyn GraphStore>,
        schema: Option<(&str, &str)>,
        prepare: impl FnOnce(App) -> App,
    ) -> Service {
        settings.port = 0;
        settings.shutdown_timeout = Duration::from_secs(2);
        let schemas = Arc::new(InMemorySchemaStore::default());
        let app = Arc::new(prepare(object_service(&settings, store, schemas)));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let server = runtime.block_on(async {
            if let Some((text, query)) = schema {
                let (stored, _) = app.store_schema(text).await.unwrap();
                app.bind(&stored.id, &Expected::default(), Some(query))
                    .await
                    .unwrap();
            }
            Server::listen(app).await.unwrap()
        });
        let base = format!("http://{}", server.address());
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            runtime.block_on(server.run(async {
                let _ = stopped.await;
            }));
        });
        Service {
            base,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Starts a search service with a schema, and waits until its indexes are there if they can be.
    pub(crate) fn search(
        mut parts: SearchParts,
        schema: Option<&str>,
    ) -> (Service, Arc<SearchApp>) {
        let host = &mut parts.host.options;
        host.address.set_port(0);
        host.listener.shutdown_timeout = Duration::from_secs(2);
        let app = Arc::new(SearchApp::new(parts));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let server = runtime.block_on(async {
            match schema {
                Some(text) => {
                    let id = app.add_schema(text).await.unwrap();
                    app.start_with(&id, None).await.unwrap();
                }
                None => drop(app.start_with_kept().await.unwrap()),
            }
            app.settled(PATIENCE).await;
            service_runtime::Server::listen(Arc::clone(&app))
                .await
                .unwrap()
        });
        let base = format!("http://{}", server.address());
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            runtime.block_on(server.run(async {
                let _ = stopped.await;
            }));
        });
        let service = Service {
            base,
            stop: Some(stop),
            thread: Some(thread),
        };
        (service, app)
    }

    /// Stops the service and waits for it.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let until = Instant::now() + PATIENCE;
            while !thread.is_finished() {
                assert!(Instant::now() < until, "the service does not end");
                std::thread::sleep(Duration::from_millis(1));
            }
            thread.join().unwrap();
        }
    }

    /// Sends a request; headers are pairs of name and value.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).unwrap();
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .timeout_global(Some(PATIENCE))
            .accept("")
            .build()
            .into();
        let mut response = agent.run(request).unwrap();
        let headers = response.headers().clone();
        let status = response.status().as_u16();
        let body = response
            .body_mut()
            .with_config()
            .limit(64 << 20)
            .read_to_vec()
            .unwrap();
        Answer {
            status,
            headers,
            body,
        }
    }

    /// Sends bytes as they are over a connection of its own, and reads until the service closes it.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let port = self.base.rsplit(':').next().unwrap();
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let (head, body) = bytes.split_at(end.expect("an answer has a head") + 4);
        let head = std::str::from_utf8(head).unwrap();
        let mut lines = head.lines().filter(|line| !line.is_empty());
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            let name: ureq::http::HeaderName = name.parse().unwrap();
            (name, value.parse::<ureq::http::HeaderValue>().unwrap())
        });
        Answer {
            status: status.parse().unwrap(),
            headers: headers.collect(),
            body: body.to_vec(),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    /// Sends a GraphQL request by POST as JSON.
    pub(crate) fn post(&self, body: &Value) -> Answer {
        self.post_text(&body.to_string())
    }

    pub(crate) fn post_text(&self, body: &str) -> Answer {
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json"),
        ];
        self.send("POST", "/graphql", &headers, body.as_bytes())
    }

    /// Runs a document and returns the body of the answer.
    pub(crate) fn query(&self, query: &str) -> String {
        let answer = self.post(&serde_json::json!({ "query": query }));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(self.stop.take())
        } else {
            self.stop()
        }
    }
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// Returns all values of a header, joined.
    pub(crate) fn header(&self, name: &str) -> String {
        let values = self
            .headers
            .get_all(name)
            .iter()
            .map(|value| value.to_str().unwrap());
        values.collect::<Vec<_>>().join(", ")
    }

    /// Returns the code of the first error.
    pub(crate) fn code(&self) -> String {
        let json = self.json();
        let error = &json["errors"][0];
        assert!(
            error["message"].is_string(),
            "every error has a message: {json}"
        );
        error["extensions"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}
