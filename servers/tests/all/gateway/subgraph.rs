//! A subgraph of a few lines: a server on a port of its own, which answers by a function and remembers who asked.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// Serves routes on a port of their own, as long as the runtime is there.
pub(crate) fn served(routes: Router) -> (Runtime, SocketAddr) {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0");
    let listener = runtime.block_on(listener).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, routes).await });
    (runtime, address)
}

/// What a request to a subgraph was.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) headers: HeaderMap,
    pub(crate) query: String,
    pub(crate) variables: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn is_for_schema(&self) -> bool {
        self.query.contains("_service")
    }

    fn is_health_check(&self) -> bool {
        self.query.trim() == "{ __typename }"
    }
}

/// An answer of a subgraph.
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

impl From<Value> for Said {
    fn from(body: Value) -> Self {
        Said {
            status: 200,
            headers: Vec::new(),
            body,
        }
    }
}

type Answer = dyn Fn(&Asked) -> Said + Send + Sync;

/// What a subgraph says, and what it was asked; shared with its server.
#[derive(Clone)]
struct State {
    sdl: Arc<Mutex<String>>,
    /// The bearer token that every request needs.
    token: Option<String>,
    good_to_go: Arc<Mutex<bool>>,
    health: Arc<Mutex<Value>>,
    answer: Arc<Answer>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// A running subgraph, which ends when this is dropped.
pub(crate) struct Subgraph {
    state: State,
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Subgraph {
    /// Starts a subgraph with a schema that answers all other requests by a function.
    pub(crate) fn start(
        sdl: &str,
        answer: impl Fn(&Asked) -> Said + Send + Sync + 'static,
    ) -> Self {
        Subgraph::start_with(sdl, None, answer)
    }

    /// Starts a subgraph that wants a bearer token.
    pub(crate) fn start_with(
        sdl: &str,
        token: Option<&str>,
        answer: impl Fn(&Asked) -> Said + Send + Sync + 'static,
    ) -> Self {
        let state = State {
            sdl: Arc::new(Mutex::new(sdl.to_owned())),
            token: token.map(|token| format!("Bearer {token}")),
            good_to_go: Arc::new(Mutex::new(true)),
            health: Arc::new(Mutex::new(
                json!({"status": "OK", "id": "9500", "healthChecks": []}),
            )),
            answer: Arc::new(answer),
            asked: Arc::default(),
        };
        let mut subgraph = Subgraph {
            state,
            address: ([127, 0, 0, 1], 0).into(),
            stop: None,
            thread: None,
        };
        subgraph.resume();
        subgraph
    }

    /// A subgraph of planets, and one that knows their moons.
    pub(crate) fn planets() -> Self {
        Subgraph::start(PLANETS, planets)
    }

    pub(crate) fn moons() -> Self {
        Subgraph::start(MOONS, moons)
    }

    /// Listens again, on the port that it had.
    pub(crate) fn resume(&mut self) {
        let listener = TcpListener::bind(self.address).unwrap();
        listener.set_nonblocking(true).unwrap();
        self.address = listener.local_addr().unwrap();
        let routes = self.state.clone().routes();
        let (stop, stopped) = oneshot::channel::<()>();
        self.stop = Some(stop);
        self.thread = Some(std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                // Open connections end with the runtime.
                tokio::select! {
                    _ = stopped => {}
                    served = axum::serve(listener, routes) => served.unwrap(),
                }
            });
        }));
    }

    /// Ends the server with all its connections.
    pub(crate) fn pause(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn set_sdl(&self, sdl: &str) {
        sdl.clone_into(&mut self.state.sdl.lock().unwrap());
    }

    pub(crate) fn set_good_to_go(&self, is_good: bool) {
        *self.state.good_to_go.lock().unwrap() = is_good;
    }

    pub(crate) fn set_health(&self, record: Value) {
        *self.state.health.lock().unwrap() = record;
    }

    /// Returns what it was asked since this was called last, without what a gateway asks on its own: for the schema,
    /// and whether it answers.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let mut all = self.state.asked.lock().unwrap();
        let is_of_client = |asked: &mut Asked| !asked.is_for_schema() && !asked.is_health_check();
        all.extract_if(.., is_of_client).collect()
    }

    /// Returns the requests for its schema.
    pub(crate) fn asked_for_schema(&self) -> Vec<Asked> {
        let all = self.state.asked.lock().unwrap();
        let schema = all.iter().filter(|asked| asked.is_for_schema());
        schema.cloned().collect()
    }

    /// Returns the requests that find out whether it answers.
    pub(crate) fn health_checks(&self) -> Vec<Asked> {
        let all = self.state.asked.lock().unwrap();
        let checks = all.iter().filter(|asked| asked.is_health_check());
        checks.cloned().collect()
    }
}

impl Drop for Subgraph {
    fn drop(&mut self) {
        self.pause();
    }
}

impl State {
    fn routes(self) -> Router {
        let (gtg, health) = (Arc::clone(&self.good_to_go), Arc::clone(&self.health));
        Router::new()
            .route(
                "/graphql",
                post(move |headers: HeaderMap, body: Bytes| {
                    let said = self.answer(headers, &body);
                    std::future::ready(response(said))
                }),
            )
            .route(
                "/__gtg",
                get(move || {
                    let said = if *gtg.lock().unwrap() {
                        (200, json!({"gtg": "OK", "message": "OK"}))
                    } else {
                        (503, json!({"gtg": "ERROR", "message": "not yet"}))
                    };
                    let (status, body) = said;
                    let headers = Vec::new();
                    std::future::ready(response(Said {
                        status,
                        headers,
                        body,
                    }))
                }),
            )
            .route(
                "/__health",
                get(move || {
                    let record = health.lock().unwrap().clone();
                    std::future::ready(response(record.into()))
                }),
            )
    }

    fn answer(&self, headers: HeaderMap, body: &[u8]) -> Said {
        let body: Value = serde_json::from_slice(body).unwrap();
        let query = body["query"].as_str().unwrap().to_owned();
        let asked = Asked {
            headers,
            query,
            variables: body["variables"].clone(),
        };
        self.asked.lock().unwrap().push(asked.clone());
        let has_token = self
            .token
            .as_deref()
            .is_none_or(|token| asked.header("authorization") == Some(token));
        if !has_token {
            return Said {
                status: 401,
                headers: Vec::new(),
                body: json!({"errors": [{"message": "a token is needed"}]}),
            };
        }
        if asked.is_for_schema() {
            let sdl = self.sdl.lock().unwrap().clone();
            return json!({"data": {"_service": {"sdl": sdl}}}).into();
        }
        if asked.is_health_check() {
            return json!({"data": {"__typename": "Query"}}).into();
        }
        (self.answer)(&asked)
    }
}

fn response(said: Said) -> axum::response::Response {
    let status = StatusCode::from_u16(said.status).unwrap();
    let mut response = (status, axum::Json(said.body)).into_response();
    for (name, value) in said.headers {
        response.headers_mut().append(name, value.parse().unwrap());
    }
    response
}

pub(crate) const PLANETS: &str = r#"
    type Query { planets: [Planet!] }
    type Mutation { rename(id: ID!, title: String!): Planet }
    type Planet @key(fields: "id") { id: ID! title: String diameter: Int }"#;

pub(crate) fn planets(asked: &Asked) -> Said {
    let planet = |id: &str, title: &str| json!({"__typename": "Planet", "id": id, "title": title, "diameter": 10_465});
    let known = [("1", "Tatooine"), ("2", "Hoth")];
    if asked.query.contains("rename") {
        let planet = planet("1", "Renamed");
        return json!({"data": {"rename": planet}}).into();
    }
    if asked.query.contains("_entities") {
        let wanted = asked.variables["representations"].as_array().unwrap();
        let found = wanted.iter().map(|it| {
            let found = known.iter().find(|(id, _)| it["id"] == **id);
            found.map_or(json!(null), |(id, title)| planet(id, title))
        });
        return json!({"data": {"_entities": found.collect::<Vec<_>>()}}).into();
    }
    let planets = known.map(|(id, title)| planet(id, title));
    json!({"data": {"planets": planets}}).into()
}

pub(crate) const MOONS: &str = r#"
    extend type Query { moonCount: Int }
    extend type Planet @key(fields: "id") {
        id: ID! @external
        diameter: Int @external
        moons: Int
        gravity: Int @requires(fields: "diameter")
    }"#;

pub(crate) fn moons(asked: &Asked) -> Said {
    if asked.query.contains("_entities") {
        let wanted = asked.variables["representations"].as_array().unwrap();
        let found = wanted.iter().map(|it| {
            json!({"__typename": "Planet", "moons": 3,
                "gravity": it["diameter"].as_i64().map(|diameter| diameter / 1_000)})
        });
        return json!({"data": {"_entities": found.collect::<Vec<_>>()}}).into();
    }
    json!({"data": {"moonCount": 6}}).into()
}
