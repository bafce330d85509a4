//! Equal queries in flight, as the properties of the gateway have it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use axum::routing::post as on_post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::process::{Gateway, Reply};
use super::subgraph::{PLANETS, served};
use crate::processes::PATIENCE;

const QUERY: &str = "{ planets { title } }";

/// A subgraph that says when it is asked, and answers when it is told to.
pub(super) struct Held {
    _runtime: Runtime,
    address: SocketAddr,
    asked: Receiver<()>,
    answers: Arc<Semaphore>,
}

impl Held {
    pub(super) fn new() -> Self {
        let (say, asked) = channel();
        let answers = Arc::new(Semaphore::new(0));
        let may_answer = Arc::clone(&answers);
        let answer = move |Json(request): Json<Value>| {
            let (say, may_answer) = (say.clone(), Arc::clone(&may_answer));
            async move {
                let query = request["query"].as_str().unwrap();
                let data = if query.contains("_service") {
                    json!({ "_service": { "sdl": PLANETS } })
                } else if query.contains("planets") {
                    // A test that has seen enough may be over.
                    let _ = say.send(());
                    may_answer.acquire().await.unwrap().forget();
                    json!({ "planets": [{ "title": "Tatooine" }] })
                } else {
                    json!({ "__typename": "Query" })
                };
                Json(json!({ "data": data }))
            }
        };
        let (_runtime, address) = served(Router::new().route("/graphql", on_post(answer)));
        Held {
            _runtime,
            address,
            asked,
            answers,
        }
    }

    pub(super) fn gateway(&self, variables: &[(&str, &str)]) -> Gateway {
        let always = [
            ("METRICS_ENABLED", "true"),
            ("LOGGING_LEVEL", "debug"),
            ("GRAPHQL_EXPLAIN_ENABLED", "true"),
        ];
        let all = [&always[..], variables].concat();
        Gateway::over(&[&format!("http://{}/graphql", self.address)], &all)
    }

    /// Waits until it is asked once more.
    fn is_asked(&self) {
        self.asked.recv_timeout(PATIENCE).unwrap();
    }

    /// Checks that it was not asked any more.
    fn was_not_asked(&self) {
        assert!(self.asked.try_recv().is_err());
    }

    /// Lets it answer as many requests.
    fn answer(&self, times: usize) {
        self.answers.add_permits(times);
    }
}

fn post(gateway: &Gateway, id: &str, more: &[(&str, &str)]) -> Reply {
    let headers = [&[("X-Request-ID", id)], more].concat();
    gateway.post(QUERY, &headers)
}

/// Returns the answers to a query and to an equal one that has joined it, as the log says.
pub(super) fn joined(
    held: &Held,
    gateway: &Gateway,
    said: &str,
    more: &[(&str, &str)],
) -> [Reply; 2] {
    thread::scope(|scope| {
        let first = scope.spawn(|| post(gateway, "the-first", &[]));
        held.is_asked();
        let second = scope.spawn(|| post(gateway, "the-second", more));
        gateway.wait_for_log(said, 1);
        held.answer(1);
        [first, second].map(|reply| reply.join().unwrap())
    })
}

fn counts(gateway: &Gateway, line: &str) {
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
}

#[test]
fn equal_queries_to_a_subgraph_are_sent_once() {
    let held = Held::new();
    let gateway = held.gateway(&[("GRAPHQL_SERVICE_0_NAME", "planets")]);
    let [first, second] = joined(&held, &gateway, "joined a request in flight", &[]);
    assert_eq!(first.text, second.text);
    assert_eq!(second.json()["data"]["planets"][0]["title"], "Tatooine");
    held.was_not_asked();
    counts(
        &gateway,
        "graphql_subgraph_joined_requests_total{service_name=\"federation-gateway\",graphql_subgraph_name=\"planets\"} 1",
    );
}

#[test]
fn the_plan_of_a_request_says_which_one_it_has_joined() {
    let held = Held::new();
    let gateway = held.gateway(&[]);
    let asked = json!({ "query": QUERY, "extensions": { "explain": true } }).to_string();
    let json = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
    ];
    let explained = thread::scope(|scope| {
        let first = scope.spawn(|| post(&gateway, "the-first", &[]));
        held.is_asked();
        let explained = scope.spawn(|| gateway.send("POST", "/graphql", &json, &asked));
        gateway.wait_for_log("joined a request in flight", 1);
        held.answer(1);
        first.join().unwrap();
        explained.join().unwrap()
    });
    let explain = explained.json()["extensions"]["explain"].clone();
    let expected = r#"0: joined an equal request in flight, sent for "the-first""#;
    assert_eq!(explain["notes"], json!([expected]), "{explain}");
}

#[test]
fn equal_queries_of_clients_are_executed_once_where_that_is_on() {
    let held = Held::new();
    let gateway = held.gateway(&[
        ("GATEWAY_SHARING_CLIENTREQUESTS", "true"),
        ("GATEWAY_SHARING_SUBGRAPHREQUESTS", "false"),
    ]);
    // The document is known from then on.
    held.answer(1);
    post(&gateway, "before", &[]);
    held.is_asked();
    // Each gets the media type that it accepts, and a cookie that is not forwarded makes no difference.
    let other = [("Cookie", "c=1"), ("Accept-Encoding", "gzip")];
    let [first, second] = joined(&held, &gateway, "joined a query in flight", &other);
    assert_eq!(first.json(), second.json());
    assert_eq!(second.header("x-request-id"), "the-second");
    held.was_not_asked();
    counts(
        &gateway,
        "graphql_joined_operations_total{service_name=\"federation-gateway\"} 1",
    );
    counts(
        &gateway,
        "graphql_operation_duration_seconds_count{service_name=\"federation-gateway\",\
         graphql_operation_type=\"query\",graphql_outcome=\"executed\"} 3",
    );
    let (_, log) = gateway.stop();
    let mut lines = log.lines().filter(|line| line.contains(" answered "));
    let of_joiner = |line: &&str| line.contains("joined=\"the-first\"");
    let line = lines.find(of_joiner);
    assert!(
        line.is_some_and(|line| line.contains("the-second")),
        "{log}"
    );
}

#[test]
fn callers_with_different_tokens_do_not_share() {
    let held = Held::new();
    let gateway = held.gateway(&[("GATEWAY_SHARING_CLIENTREQUESTS", "true")]);
    held.answer(1);
    post(&gateway, "before", &[]);
    held.is_asked();
    thread::scope(|scope| {
        for token in ["Bearer a", "Bearer b"] {
            let token = [("Authorization", token)];
            let gateway = &gateway;
            scope.spawn(move || post(gateway, "the-same", &token));
        }
        held.is_asked();
        held.is_asked();
        held.answer(2);
    });
}

#[test]
fn requests_are_shared_as_configured() {
    let held = Held::new();
    let gateway = held.gateway(&[("GATEWAY_SHARING_SUBGRAPHREQUESTS", "false")]);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| post(&gateway, "the-same", &[]));
        }
        held.is_asked();
        held.is_asked();
        held.answer(2);
    });
}
