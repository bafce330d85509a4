//! A subgraph whose subscriptions a test drives by hand, as server-sent events and over WebSockets.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::broadcast::{self, Receiver, Sender};

use super::subgraph::served;
use crate::processes::PATIENCE;

/// The schema: events have planets, of which another subgraph knows more.
pub(crate) const CLOCK: &str = r#"
    type Query { now: Int }
    type Mutation { wind: Int }
    type Subscription { ticked(every: Int): Tick }
    type Tick { at: Int planet: Planet }
    extend type Planet @key(fields: "id") { id: ID! @external }"#;

/// What happens at the subgraph.
#[derive(Clone, Debug)]
pub(crate) enum Happens {
    /// An event with this response.
    Event(Value),
    /// There are no more events.
    Completes,
    /// What is written is no event, and no message.
    Babbles,
    /// The connection breaks.
    Breaks,
    /// The subscription fails, where the protocol can say so.
    Fails,
}

#[derive(Clone)]
struct Shared {
    sdl: Arc<Mutex<String>>,
    happens: Sender<Happens>,
    /// The subscriptions that were asked for, with what came along.
    asked: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
    /// How many are open.
    open: Arc<AtomicUsize>,
}

/// A subscription that is counted.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A running subgraph, which ends when this is dropped.
pub(crate) struct Clock {
    shared: Shared,
    address: SocketAddr,
    _runtime: Runtime,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let shared = Shared {
            sdl: Arc::new(Mutex::new(CLOCK.to_owned())),
            happens: broadcast::channel(10_000).0,
            asked: Arc::default(),
            open: Arc::default(),
        };
        let route = axum::routing::get(sockets).post(answer);
        let routes = Router::new().route("/graphql", route);
        let (runtime, address) = served(routes.with_state(shared.clone()));
        Clock {
            shared,
            address,
            _runtime: runtime,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/graphql", self.address)
    }

    pub(crate) fn set_sdl(&self, sdl: &str) {
        sdl.clone_into(&mut self.shared.sdl.lock().unwrap());
    }

    pub(crate) fn open(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Waits until so many subscriptions are open.
    pub(crate) fn wait_for(&self, open: usize) {
        let begun = Instant::now();
        while self.open() != open {
            assert!(begun.elapsed() < PATIENCE, "{} are open", self.open());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns what came with the subscriptions that were asked for since this was called last.
    pub(crate) fn asked(&self) -> Vec<(HeaderMap, Value)> {
        std::mem::take(&mut self.shared.asked.lock().unwrap())
    }

    /// Has something happen in all subscriptions that are open.
    pub(crate) fn happens(&self, what: Happens) {
        // Nobody need be there.
        let _ = self.shared.happens.send(what);
    }

    /// Has an event about a planet.
    pub(crate) fn ticks(&self, at: u64, planet: &str) {
        let planet = json!({"__typename": "Planet", "id": planet});
        let tick = json!({"at": at, "planet": planet});
        self.happens(Happens::Event(json!({"data": {"ticked": tick}})));
    }
}

async fn answer(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let query = body["query"].as_str().unwrap().to_owned();
    if headers["accept"] == "text/event-stream" {
        return events(shared, headers, body);
    }
    let data = match &*query {
        query if query.contains("_service") => {
            json!({"_service": {"sdl": *shared.sdl.lock().unwrap()}})
        }
        query if query.contains("wind") => json!({"wind": 7}),
        "{ __typename }" => json!({"__typename": "Query"}),
        _ => json!({"now": 1}),
    };
    Json(json!({ "data": data })).into_response()
}

/// Notes a subscription before it is open.
fn begun(shared: &Shared, headers: HeaderMap, body: Value) -> (Receiver<Happens>, Open) {
    let happens = shared.happens.subscribe();
    shared.asked.lock().unwrap().push((headers, body));
    shared.open.fetch_add(1, Ordering::SeqCst);
    (happens, Open(Arc::clone(&shared.open)))
}

fn events(shared: Shared, headers: HeaderMap, body: Value) -> Response {
    let begun = begun(&shared, headers, body);
    let events = stream::unfold(Some(begun), |begun| async move {
        let (mut happens, open) = begun?;
        let complete = "event: complete\ndata:\n\n".to_owned();
        let (text, goes_on) = match happens.recv().await.ok()? {
            Happens::Event(event) => (format!("event: next\ndata: {event}\n\n"), true),
            Happens::Completes => (complete, false),
            Happens::Babbles => ("event: babble\ndata: x\n\n".to_owned(), true),
            Happens::Fails => {
                let errors = json!({"errors": [{"message": "out of order"}]});
                (format!("event: next\ndata: {errors}\n\n{complete}"), false)
            }
            Happens::Breaks => return None,
        };
        let next = goes_on.then_some((happens, open));
        Some((Ok::<_, Infallible>(text), next))
    });
    let headers = [("content-type", "text/event-stream")];
    (headers, Body::from_stream(events)).into_response()
}

async fn sockets(
    State(shared): State<Shared>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let upgrade = upgrade.protocols(["graphql-transport-ws"]);
    upgrade.on_upgrade(|socket| async move {
        // Ends when the other side does.
        let _ = converse(shared, headers, socket).await;
    })
}

async fn converse(shared: Shared, headers: HeaderMap, mut socket: WebSocket) -> Option<()> {
    let init = heard(&mut socket).await?;
    assert_eq!(init["type"], "connection_init");
    say(&mut socket, json!({"type": "connection_ack"})).await?;
    let subscribe = heard(&mut socket).await?;
    let id = subscribe["id"].clone();
    let (mut happens, _open) = begun(&shared, headers, subscribe["payload"].clone());
    loop {
        let what = tokio::select! {
            what = happens.recv() => what.ok()?,
            // The other side only completes.
            _ = socket.recv() => return None,
        };
        let message = match what {
            Happens::Event(event) => json!({"type": "next", "id": id, "payload": event}),
            Happens::Completes => json!({"type": "complete", "id": id}),
            Happens::Babbles => json!({"type": "babble", "id": id}),
            Happens::Fails => {
                let errors = json!([{"message": "out of order"}]);
                json!({"type": "error", "id": id, "payload": errors})
            }
            Happens::Breaks => return None,
        };
        say(&mut socket, message).await?;
    }
}

async fn heard(socket: &mut WebSocket) -> Option<Value> {
    loop {
        match socket.next().await?.ok()? {
            Message::Text(text) => return serde_json::from_str(&text).ok(),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}

async fn say(socket: &mut WebSocket, message: Value) -> Option<()> {
    let text = message.to_string();
    socket.send(Message::Text(text.into())).await.ok()
}
